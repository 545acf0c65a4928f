/** Validates values against schemas and describes mistakes in sentences, for requests, options and rules alike. */
import * as v from 'valibot'
import { didYouMean } from './suggest.js'

export type Path = readonly (string | number)[]

/** A mistake: its path, and the rest of a sentence that begins with the path. */
export interface Mistake {
  readonly path: Path
  readonly sentence: string
}

type Schema = v.GenericSchema<unknown, unknown>

export interface CheckOptions {
  /** Stop at the first mistake. */
  readonly firstOnly?: boolean
  /** The name of the whole value in sentences. */
  readonly whole?: string
  /** Whether the value at a path must not be quoted in a sentence. */
  readonly secret?: (path: Path) => boolean
  /** Whether the value is from YAML, where a string that looks like a number needs quotes. */
  readonly isYaml?: boolean
}

/**
 * Validates `value`. Returns it typed, with defaults filled in, or all of its mistakes. A schema's own message is the
 * expectation: `v.number('a number')` becomes "temperature must be a number, not "hot"".
 */
export function check<S extends Schema>(
  schema: S,
  value: unknown,
  { firstOnly = false, whole = 'it', secret = () => false, isYaml = false }: CheckOptions = {},
): { readonly value: v.InferOutput<S> } | { readonly mistakes: readonly Mistake[] } {
  const result = v.safeParse(schema, value, { abortEarly: firstOnly, abortPipeEarly: true })
  if (result.success) return { value: result.output }
  return { mistakes: result.issues.map(issue => mistakeOf(issue, { whole, secret, isYaml })) }
}

function mistakeOf(
  issue: v.BaseIssue<unknown>,
  { whole, secret, isYaml }: Required<Pick<CheckOptions, 'whole' | 'secret' | 'isYaml'>>,
): Mistake {
  const { issue: innermost, path } = deepest(issue, [])
  const advice = isYaml && isUnquoted(innermost) ? ' Put it in quotes.' : ''
  return { path, sentence: `${pathInWords(path) || whole} ${predicate(innermost, secret(path))}${advice}` }
}

/** Whether it must be a string, and would be one in quotes. */
const isUnquoted = ({ type, input }: v.BaseIssue<unknown>) =>
  type === 'string' && ['number', 'bigint', 'boolean'].includes(typeof input)

/** In a union, the alternative that got furthest is probably the intended one. */
function deepest(issue: v.BaseIssue<unknown>, above: Path): { issue: v.BaseIssue<unknown>; path: Path } {
  const path = [...above, ...(issue.path ?? []).map(item => item.key as string | number)]
  const inner = issue.issues?.filter(i => i.path).map(i => deepest(i, path)) ?? []
  return inner.reduce((best, candidate) => (candidate.path.length > best.path.length ? candidate : best), {
    issue,
    path,
  })
}

function predicate({ type, message, input, received }: v.BaseIssue<unknown>, secret: boolean): string {
  // Some messages are whole predicates, such as that of `closed` about an unknown key.
  if (/^(is|has|must) /.test(message)) return message
  if (received === 'undefined') return isMissing(message)
  // Our own checks concern the contents of an object or array, which are not quoted.
  const isInside = type === 'check' && typeof input === 'object'
  return secret || isInside ? `${mustBe(message)}.` : `${mustBe(message, input)}.`
}

/** The rest of a sentence about a wrong value. Leave the value out if it must not be quoted. */
export const mustBe = (expectation: string, ...value: readonly [unknown?]) =>
  value.length === 0 ? `must be ${expectation}` : `must be ${expectation}, not ${valueInWords(value[0])}`

/** The rest of a sentence about a missing value. */
export const isMissing = (expectation: string) => `is missing. It must be ${expectation}.`

/** The expectation of a number, both ends included. `what` names it with its unit. */
export const range = (what: string, least: number, most = Number.POSITIVE_INFINITY) =>
  `${what} from ${least}${most < Number.POSITIVE_INFINITY ? ` to ${most}` : ''}`

export const oneOf = (words: readonly string[]) => `one of ${words.join(', ')}`

export const AN_OBJECT = 'an object'

const LONGEST_SHOWN = 60

/** For example `messages[1].role`; empty for the whole value. */
export function pathInWords(path: Path): string {
  return path.reduce<string>((sum, step) => {
    if (typeof step === 'number') return `${sum}[${step}]`
    const key = step.length > LONGEST_SHOWN ? `${step.slice(0, LONGEST_SHOWN)}…` : step
    if (!/^[\w$-]+$/.test(key)) return `${sum}[${JSON.stringify(key)}]`
    return sum === '' ? key : `${sum}.${key}`
  }, '')
}

/** A value in readable, shortened form. */
export function valueInWords(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array'
  if (typeof value === 'object') return 'an object'
  if (typeof value === 'number' || typeof value === 'bigint') return String(value)
  // A URL may contain a password.
  const text = (JSON.stringify(value) ?? String(value)).replace(/\/\/[^/@\s]*@/, '//…@')
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text
}

/** The message about an unknown key. */
export const NOT_KNOWN = 'is not known here.'

/**
 * An object with exactly these keys. The error for a misspelt key suggests the nearest known one, or contains the
 * `advice` about it.
 */
export function closed<const E extends v.ObjectEntries>(
  entries: E,
  advice: (key: string) => string | undefined = () => undefined,
): v.StrictObjectSchema<E, string> {
  const strict = v.strictObject(entries, AN_OBJECT)
  const inner: v.GenericSchema = v.object(entries, wordsFor(entries))
  const known = Object.keys(entries)
  // valibot's own strict object stops at the first unknown key. The author of a file wants to see all of them.
  const onlyKnown: v.GenericSchema = v.pipe(
    v.unknown(),
    v.rawCheck(({ dataset: { value: input }, addIssue }) => {
      if (typeof input !== 'object' || input === null) return
      for (const key of Object.keys(input).filter(key => !known.includes(key))) {
        const near = advice(key) ?? (didYouMean(key, known) || ` Known: ${known.join(', ')}.`)
        const path: [v.IssuePathItem] = [{ type: 'unknown', origin: 'key', input, key, value: key }]
        addIssue({ label: 'key', input: key, expected: 'never', path, message: `${NOT_KNOWN}${near}` })
      }
    }),
  )
  const checking = withRun(strict, (dataset, config) => {
    const { issues } = onlyKnown['~run']({ value: dataset.value }, config)
    const result = inner['~run'](dataset, config)
    if (issues) Object.assign(result, { typed: false, issues: [...(result.issues ?? []), ...issues] })
    return result
  })
  return withoutArrays(checking)
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
  return withRun(schema, (dataset, config) =>
    (Array.isArray(dataset.value) ? refusing : schema)['~run'](dataset, config),
  )
}

/** `schema` with another check, but the same description. */
const withRun = <S extends v.GenericSchema>(schema: S, run: v.GenericSchema['~run']): S => ({ ...schema, '~run': run })

/** One of several forms. `choose` picks the form by the value, and only mistakes in that form are reported. */
export const oneForm = <const F extends readonly v.GenericSchema[]>(forms: F, choose: (value: unknown) => number) =>
  withRun(v.union(forms), (dataset, config) =>
    (forms[choose(dataset.value)] as v.GenericSchema)['~run'](dataset, config),
  )

export const text = v.string('a string')

export const filled = v.pipe(text, v.nonEmpty('a string that is not empty'))

export const arrayOf = <const S extends v.GenericSchema>(item: S, of: string) => v.array(item, `an array of ${of}`)

export const only = <const W extends string>(word: W) => v.literal(word, `"${word}"`)

/** May be missing, or null: OpenAI's own clients send null for "not set". */
export const maybe = <const S extends v.GenericSchema>(schema: S) => v.nullish(schema)

export const word = <const W extends readonly [string, ...string[]]>(words: W) => v.picklist(words, oneOf(words))

export const count = v.pipe(v.number('a whole number'), v.integer('a whole number'), v.minValue(0, 'zero or more'))

/** A number in a range, both ends included. `what` names it with its unit. */
export function number(least: number, most: number, what = 'a number') {
  const expected = range(what, least, most)
  return v.pipe(v.number(expected), v.minValue(least, expected), v.maxValue(most, expected))
}

/** A whole number in a range, both ends included. `what` names it with its unit. */
export function integer(least: number, most = Number.POSITIVE_INFINITY, what = 'a whole number') {
  const expected = range(what, least, most)
  return v.pipe(v.number(expected), v.integer(expected), v.minValue(least, expected), v.maxValue(most, expected))
}

/**
 * Checks one key of an object depending on the others. `written` is the same check as a JSON Schema.
 */
export const where = <O extends object>(
  key: keyof O & string,
  expectation: string,
  holds: (object: O) => boolean,
  written?: object,
) =>
  withJsonSchema(
    v.rawCheck<O>(({ dataset, addIssue }) => {
      if (!dataset.typed || holds(dataset.value)) return
      const value = dataset.value[key]
      const path: [v.IssuePathItem] = [{ type: 'unknown', origin: 'value', input: dataset.value, key, value }]
      addIssue({ message: expectation, input: value, received: typeof value, path })
    }),
    written,
  )

/**
 * One of our own checks or schemas with its JSON Schema, which cannot be derived from it (see config/json-schema.ts).
 */
export const withJsonSchema = <const C extends object>(check: C, written: object | undefined): C =>
  written === undefined ? check : { ...check, written }

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

/**
 * The settings in `text`, checked by `schema`, or a sentence about the first mistake. Numbers, `true` and `false` are read as such,
 * quoted text is text, semicolons included, and a name alone is true.
 */
export function settingsIn<S extends v.GenericSchema<unknown, unknown>>(
  text: string,
  schema: S,
): { readonly value: v.InferOutput<S> } | { readonly sentence: string } {
  const settings: Record<string, unknown> = Object.create(null)
  for (const part of text.match(settingPattern) ?? []) {
    const equalsAt = part.indexOf('=')
    const name = (equalsAt < 0 ? part : part.slice(0, equalsAt)).trim()
    if (part.trim() === '') continue
    if (name in settings) return { sentence: `${name} is given twice.` }
    settings[name] = equalsAt < 0 ? true : read(part.slice(equalsAt + 1).trim())
  }
  const checked = check(schema, { ...settings }, { firstOnly: true })
  return 'value' in checked ? checked : { sentence: checked.mistakes[0]?.sentence ?? '' }
}

/** A part between semicolons. Semicolons in quotes do not end it. */
const settingPattern = /(?:=\s*"[^"]*"|[^;])+/g

function read(text: string): unknown {
  if (/^"[^"]*"$/.test(text)) return text.slice(1, -1)
  if (text === 'true' || text === 'false') return text === 'true'
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text
}
