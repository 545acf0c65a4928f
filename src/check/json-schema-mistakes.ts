/** Explains in sentences why a value does not fit a JSON Schema. */
import { type CheckOptions, type Mistake, mustBe, oneOfWords, type Path, pathInWords, valueInWords } from './check.js'
import type { SchemaObject } from './json-schema-form.js'
import { didYouMean } from './suggest.js'

/** A keyword that a value does not fit. A keyword with nested schemas is followed by their mismatches. */
export interface SchemaMismatch {
  readonly keyword: string
  readonly location: string
  readonly schema: SchemaObject
  readonly path: Path
  readonly value: unknown
}

/** For these keywords, the nested mismatches explain the mistake. */
const containers = new Set(
  `$ref allOf if dependentSchemas properties patternProperties additionalProperties unevaluatedProperties
  prefixItems items additionalItems unevaluatedItems`.split(/\s+/),
)

/** How sentences name the whole value, and which values they must not quote. */
type Wording = Required<Pick<CheckOptions, 'whole' | 'secret'>>

export function mistakesIn(mismatches: readonly SchemaMismatch[], wording: Wording): readonly Mistake[] {
  const mistakes: Mistake[] = []
  for (let i = 0; i < mismatches.length; ) {
    const mismatch = mismatches[i++] as SchemaMismatch
    const from = i
    if (containers.has(mismatch.keyword)) continue
    while (mismatches[i]?.location.startsWith(`${mismatch.location}/`)) i++
    mistakes.push(...mistakesOf(mismatch, mismatches.slice(from, i), mismatches[from - 2], wording))
  }
  return mistakes.filter(({ sentence }, i) => mistakes.findIndex(other => other.sentence === sentence) === i)
}

function mistakesOf(
  mismatch: SchemaMismatch,
  inside: readonly SchemaMismatch[],
  around: SchemaMismatch | undefined,
  wording: Wording,
): readonly Mistake[] {
  const { keyword, schema, path, value } = mismatch
  const at = (path: Path, predicate: string): Mistake => ({
    path,
    sentence: `${pathInWords(path) || wording.whole} ${predicate}`,
  })
  if (keyword === 'false') return [at(path, `is not known here.${suggestion(path, around?.schema)}`)]
  if (keyword === 'required') return missing(schema.required, value).map(key => at([...path, key], 'is missing.'))
  if (keyword === 'dependentRequired')
    return Object.entries(schema.dependentRequired ?? {})
      .filter(([key]) => has(value, key))
      .flatMap(([key, keys]) =>
        missing(keys, value).map(other => at([...path, other], `is missing, but required if ${key} is present.`)),
      )
  if (keyword === 'anyOf' || keyword === 'oneOf') return mistakesOfForms(mismatch, inside, wording)
  const [predicate, found] = expectations[keyword]?.(schema, value) ?? [`does not fit ${keyword} of its schema`]
  return [at(path, found === undefined || wording.secret(path) ? `${predicate}.` : `${predicate}, not ${found}.`)]
}

const has = (value: unknown, key: string) => typeof value === 'object' && value !== null && Object.hasOwn(value, key)

const missing = (keys: readonly string[] | undefined, value: unknown) => (keys ?? []).filter(key => !has(value, key))

function suggestion(path: Path, { properties = {} }: SchemaObject = {}): string {
  const known = Object.keys(properties)
  return didYouMean(String(path.at(-1)), known) || (known.length > 0 ? ` Known: ${known.join(', ')}.` : '')
}

/** The mismatches of each alternative that did not fit. */
function formsOf(
  { location }: SchemaMismatch,
  inside: readonly SchemaMismatch[],
): readonly (readonly SchemaMismatch[])[] {
  const forms = new Map<string, SchemaMismatch[]>()
  for (const mismatch of inside) {
    const form = mismatch.location.slice(location.length + 1).split('/', 1)[0] ?? ''
    forms.set(form, [...(forms.get(form) ?? []), mismatch])
  }
  return [...forms.values()]
}

function mistakesOfForms(
  mismatch: SchemaMismatch,
  inside: readonly SchemaMismatch[],
  wording: Wording,
): readonly Mistake[] {
  const { path, value } = mismatch
  const forms = formsOf(mismatch, inside)
  const { length: count } = mismatch.schema[mismatch.keyword as 'anyOf' | 'oneOf'] ?? []
  const at = (predicate: string) => [{ path, sentence: `${pathInWords(path) || wording.whole} ${predicate}` }]
  if (forms.length < count) return at(`fits more than one of the ${count} forms that its schema allows.`)
  // The intended form probably has the right constants, such as a `kind`, and its mistakes deepest in the value.
  const depthOf = (form: readonly SchemaMismatch[]) => Math.max(...form.map(one => one.path.length))
  const wrongTags = (form: readonly SchemaMismatch[]) => form.filter(one => isTag(one, path)).length
  const [best = [], ...others] = forms.toSorted((a, b) => wrongTags(a) - wrongTags(b) || depthOf(b) - depthOf(a))
  const isIntended = others.every(form => wrongTags(form) > wrongTags(best))
  if (isIntended || depthOf(best) > path.length) return mistakesIn(best, wording)
  const types = inside.every(({ keyword }) => keyword === 'type')
    ? inside.flatMap(({ schema }) => schema.type ?? [])
    : []
  if (types.length > 0) return at(`${mustBe(typesInWords(types), ...(wording.secret(path) ? [] : [value]))}.`)
  return at(`fits none of the ${count} forms that its schema allows.`)
}

/** Whether a field must have one certain value. OpenAPI 3.0 has no `const`, only an `enum` of one. */
const isTag = ({ keyword, schema, path }: SchemaMismatch, { length }: Path) =>
  path.length > length && (keyword === 'const' || (keyword === 'enum' && schema.enum?.length === 1))

const nouns = {
  null: 'null',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  string: 'a string',
  array: 'an array',
  object: 'an object',
}

const typesInWords = (types: readonly (keyof typeof nouns)[]) =>
  [...new Set(types.map(type => nouns[type] ?? type))].join(' or ')

const size = (value: unknown) => (typeof value === 'string' ? [...value].length : Object.keys(value as object).length)

const counted = (count: number | undefined, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

const listed = (values: readonly unknown[] = []) => values.map(value => JSON.stringify(value))

/** The rest of a sentence about a value, and in words what was found instead. */
type Expectation = readonly [predicate: string, found?: string]

const expected = (expectation: string, value: unknown): Expectation => [mustBe(expectation), valueInWords(value)]

const expectedSize = (bounds: string, value: unknown): Expectation => [`must have ${bounds}`, String(size(value))]

/** By the keyword that the value does not fit. */
const expectations: Readonly<Record<string, (schema: SchemaObject, value: unknown) => Expectation>> = {
  type: ({ type = [] }, value) => expected(typesInWords(type), value),
  const: schema => [mustBe(JSON.stringify(schema.const))],
  enum: (schema, value) => expected(oneOfWords(listed(schema.enum)), value),
  not: () => ['is a value that its schema excludes'],
  minProperties: ({ minProperties }, value) => expectedSize(`at least ${fields(minProperties)}`, value),
  maxProperties: ({ maxProperties }, value) => expectedSize(`at most ${fields(maxProperties)}`, value),
  propertyNames: () => ['has a field with a name that its schema does not allow'],
  minItems: ({ minItems }, value) => expectedSize(`at least ${counted(minItems, 'item')}`, value),
  maxItems: ({ maxItems }, value) => expectedSize(`at most ${counted(maxItems, 'item')}`, value),
  uniqueItems: () => ['must not have two equal items'],
  contains: () => ['has none of the items that its schema asks for'],
  minContains: () => ['has too few of the items that its schema asks for'],
  maxContains: () => ['has too many of the items that its schema limits'],
  minimum: ({ minimum }, value) => expected(`at least ${minimum}`, value),
  maximum: ({ maximum }, value) => expected(`at most ${maximum}`, value),
  exclusiveMinimum: ({ exclusiveMinimum }, value) => expected(`more than ${exclusiveMinimum}`, value),
  exclusiveMaximum: ({ exclusiveMaximum }, value) => expected(`less than ${exclusiveMaximum}`, value),
  multipleOf: ({ multipleOf }, value) => expected(`a multiple of ${multipleOf}`, value),
  minLength: ({ minLength }, value) => expectedSize(`at least ${counted(minLength, 'character')}`, value),
  maxLength: ({ maxLength }, value) => expectedSize(`at most ${counted(maxLength, 'character')}`, value),
  pattern: ({ pattern }, value) => [`must match /${pattern}/`, valueInWords(value)],
  format: ({ format }, value) => expected(`a string of the format ${format}`, value),
}

const fields = (count: number | undefined) => counted(count, 'field')
