/** The vocabulary of forms, from which requests, options, rules and operations are described and checked. */
import * as v from 'valibot'
import { AN_OBJECT, isMissing, oneOfWords, range } from './check.js'
import { didYouMean } from './suggest.js'

/** More names than these are no help in a sentence. */
const LONGEST_LIST = 8

export const NOT_KNOWN = 'is not known here.'

/**
 * An object with exactly these keys. The error for a misspelt key suggests the nearest known one, or contains the
 * `advice` about it.
 */
export function closed<const E extends v.ObjectEntries>(
  entries: E,
  advice: (key: string) => string | undefined = () => undefined,
): v.StrictObjectSchema<E, string> {
  const known = Object.keys(entries)
  const knownOnly: v.GenericSchema = v.object(entries, wordsFor(entries))
  // valibot's own strict object stops at the first unknown key. The author of a file wants to see all of them.
  const refusing = (unknown: readonly string[]): v.GenericSchema => {
    const refused = unknown.map(key => {
      const all = known.length > LONGEST_LIST ? '' : ` Known: ${known.join(', ')}.`
      const near = advice(key) ?? (didYouMean(key, known) || all)
      return [key, v.never(`${NOT_KNOWN}${near}`)] as const
    })
    return v.object({ ...entries, ...Object.fromEntries(refused) }, wordsFor(entries))
  }
  return withoutArrays(
    checkedBy(v.strictObject(entries, AN_OBJECT), value => {
      const unknown = typeof value === 'object' && value ? Object.keys(value).filter(key => !known.includes(key)) : []
      return unknown.length === 0 ? knownOnly : refusing(unknown)
    }),
  )
}

/** An object with these keys and any others. */
export const open = <const E extends v.ObjectEntries>(entries: E) =>
  withoutArrays(v.looseObject(entries, wordsFor(entries)))

/** The error for a value that is not an object, and for a missing key: the expectation of the key's own schema. */
const wordsFor = (entries: v.ObjectEntries) => (issue: { readonly expected: string | null }) => {
  if (issue.expected === 'Object') return AN_OBJECT
  const key = issue.expected?.slice(1, -1) ?? ''
  const { message } = (entries[key] ?? {}) as { readonly message?: unknown }
  return typeof message === 'string' ? isMissing(message) : 'is missing.'
}

/** An object with arbitrary keys. */
export const map = <const K extends v.GenericSchema<string, string>, const S extends v.GenericSchema>(
  key: K,
  value: S,
  what: string,
) => withoutArrays(v.record(key, value, what), what)

/** For valibot, an array is also an object. */
function withoutArrays<S extends v.GenericSchema>(schema: S, what = AN_OBJECT): S {
  const refusing: v.GenericSchema = v.never(what)
  return checkedBy(schema, value => (Array.isArray(value) ? refusing : schema))
}

/** `schema` in descriptions, with each value checked by the schema that `choose` returns for it. */
const checkedBy = <S extends v.GenericSchema>(schema: S, choose: (value: unknown) => v.GenericSchema): S => ({
  ...schema,
  ...v.lazy(choose),
  type: schema.type,
  expects: schema.expects,
})

/** `schema`, whose values `read` rewrites before they are checked: names of earlier releases. */
export function readAs<S extends v.GenericSchema>(schema: S, read: (value: unknown) => unknown): S {
  const reading: v.GenericSchema = v.pipe(v.unknown(), v.transform(read), schema)
  return checkedBy(schema, () => reading)
}

/** One of several forms. `choose` picks the form by the value, and only mistakes in that form are reported. */
export const oneForm = <const F extends readonly v.GenericSchema[]>(forms: F, choose: (value: unknown) => number) =>
  checkedBy(v.union(forms), value => forms[choose(value)] as v.GenericSchema)

export const text = v.string('a string')

export const filled = v.pipe(text, v.nonEmpty('a string that is not empty'))

export const arrayOf = <const S extends v.GenericSchema>(item: S, of?: string) =>
  v.array(item, of === undefined ? 'an array' : `an array of ${of}`)

export const only = <const W extends string>(word: W) => v.literal(word, `"${word}"`)

/** May be missing, or null: OpenAI's own clients send null for "not set". */
export const maybe = <const S extends v.GenericSchema>(schema: S) => v.nullish(schema)

export const word = <const W extends readonly [string, ...string[]]>(words: W) => v.picklist(words, oneOfWords(words))

/** A number in a range, both ends included. `what` names it with its unit. */
export function numberBetween(least: number, most: number, what = 'a number') {
  const expected = range(what, least, most)
  return v.pipe(v.number(expected), v.minValue(least, expected), v.maxValue(most, expected))
}

/** A whole number in a range, both ends included. `what` names it with its unit. */
export function integer(least: number, most = Number.POSITIVE_INFINITY, what = 'a whole number') {
  const expected = range(what, least, most)
  return v.pipe(v.number(expected), v.integer(expected), v.minValue(least, expected), v.maxValue(most, expected))
}

/** Checks one key of an object depending on the others. The JSON Schema of the object does not say so. */
export const where = <O extends object>(key: keyof O & string, expectation: string, holds: (object: O) => boolean) =>
  v.rawCheck<O>(({ dataset, addIssue }) => {
    if (!dataset.typed || holds(dataset.value)) return
    const value = dataset.value[key]
    const path: [v.IssuePathItem] = [{ type: 'unknown', origin: 'value', input: dataset.value, key, value }]
    addIssue({ message: expectation, input: value, received: typeof value, path })
  })

/** A schema of our own with its JSON Schema, which cannot be derived from it (see check/form-schema.ts). */
export const withJsonSchema = <const S extends object>(schema: S, written: object): S => ({ ...schema, written })

/** `schema` with a description for the reference and for editors. */
export const described = <const S extends v.GenericSchema>(schema: S, meaning: string): S =>
  v.pipe(schema, v.description(meaning)) as unknown as S

/** The same for an optional key. */
export const optional = <const S extends v.GenericSchema>(schema: S, meaning: string) =>
  v.optional(described(schema, meaning))

/** The same keys, all of them optional. */
export const optionalEach = <const E extends v.ObjectEntries>(entries: E) =>
  Object.fromEntries(Object.entries(entries).map(([key, schema]) => [key, v.optional(schema as v.GenericSchema)])) as {
    readonly [K in keyof E]: v.OptionalSchema<E[K], undefined>
  }

/** The same keys, each with its default. */
export const withDefaults = <const E extends v.ObjectEntries, const D extends { [K in keyof E]: v.InferInput<E[K]> }>(
  entries: E,
  initial: D,
) =>
  Object.fromEntries(
    Object.entries(entries).map(([key, schema]) => [key, v.optional(schema as v.GenericSchema, initial[key])]),
  ) as { readonly [K in keyof E]: v.OptionalSchema<E[K], D[K]> }

export const number = v.number('a number')
export const wholeNumber = v.pipe(v.number('a whole number'), v.integer('a whole number'))
export const boolean = v.boolean('true or false')
export const anything = v.unknown()
/** ISO 8601. */
export const moment = v.pipe(text, v.isoTimestamp('a moment as ISO 8601'))

export const orNull = <S extends v.GenericSchema>(schema: S) => v.nullable(schema)
/** An optional member. */
export const optionalMember = <S extends v.GenericSchema>(schema: S) => v.exactOptional(schema)

/** An object whose type has no schema. */
export const objectOf = <T extends object>() =>
  withJsonSchema(
    v.custom<T>(value => typeof value === 'object' && value !== null && !Array.isArray(value), 'an object'),
    { type: 'object' },
  )

/** An option with its default and description. */
export const option = <const S extends v.GenericSchema>(schema: S, initial: v.InferInput<S>, meaning: string) =>
  v.optional(described(schema, meaning), initial as never)

/** An option that is masked when it is shown. */
export const secret = <const S extends v.GenericSchema>(schema: S) => v.pipe(schema, v.metadata({ secret: true }))

/** Options under one name. If all of them are commented out, YAML reads null, which counts as nothing set. */
export const group = <const E extends v.ObjectEntries>(entries: E, meaning: string) =>
  v.nullish(v.pipe(closed(entries), v.description(meaning)), {} as never)

export const list = <S extends v.GenericSchema>(item: S, of: string) => v.array(item, `a list of ${of}`)

/** A list of texts, or one text with commas, as people write `ignore: dates, ids`. A regular expression is one item. */
export const listOrText = <const S extends v.GenericSchema>(item: S, of: string) => {
  const items = list(item, of)
  const parts = (written: string) =>
    (written.startsWith('/') ? [written] : written.split(',').map(part => part.trim())) as v.InferInput<S>[]
  return oneForm([v.pipe(filled, v.transform(parts), items), items], value => (typeof value === 'string' ? 0 : 1))
}

export const anAddress = 'an http or https address without a password'

/** Without a password, since the banner shows it, and without a query, which would be added to every request. */
export const httpUrl = v.pipe(
  text,
  v.check(address => /^https?:\/\/[^@?#]*$/i.test(address) && URL.canParse(address), anAddress),
)

/** A credential that is allowed after "Bearer " in a header. */
export const credential = v.pipe(text, v.regex(/^[\x21-\x7e]*$/, 'a key without spaces or line ends'))

export const time = v.pipe(text, v.check(isMoment, 'a time such as 2030-01-31T12:00:00Z'))

/** Whether all values that are set are different. */
export const different = (values: readonly unknown[]) => {
  const set = values.filter(value => value !== undefined)
  return new Set(set).size === set.length
}

export const id = v.pipe(text, v.uuid('a UUID'))
export const metadata = v.record(v.string(), v.unknown(), 'a map')

/** The pattern that Supabase Auth uses, which is HTML's. */
const emailForm =
  /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i

export const LONGEST_EMAIL_BYTES = 255

/** Whether `text` has the form of an email address of any length. */
export const isEmail = (text: string) => emailForm.test(text)

/**
 * Whether `text` is a date, or a date and time with a zone. Days that do not exist in a month are refused, and so are times whose year in
 * UTC has not four digits: times are compared as texts.
 */
export function isMoment(text: string): boolean {
  const [, day] = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(text) ?? []
  if (day === undefined || Number.isNaN(Date.parse(text))) return false
  if (!/^\d/.test(new Date(text).toISOString())) return false
  return new Date(day).toISOString().startsWith(day)
}
