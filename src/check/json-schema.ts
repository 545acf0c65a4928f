/** Validates values against JSON Schemas and describes mistakes in sentences. The only file that imports the validator. */
import { dereference, type OutputUnit, type Schema, validate } from '@cfworker/json-schema'
import { type CheckOptions, type Mistake, mustBe, oneOfWords, type Path, pathInWords, valueInWords } from './check.js'
import {
  type JsonValue,
  type NormalizedSchema,
  normalized,
  type SchemaObject,
  withoutUnsupported,
} from './json-schema-form.js'
import { didYouMean } from './suggest.js'
import { UnfitSchema } from './unfit-schema.js'

/** The schemas of a document by their absolute addresses. */
type SchemaLookup = Readonly<Record<string, NormalizedSchema>>

/** The validator stores the resolved address of a reference in its schema. */
type Dereferenced = SchemaObject & { readonly __absolute_ref__?: string }

/** All schemas inside of `root`. Throws an UnfitSchema if a reference cannot be resolved. */
export function lookupOf(root: NormalizedSchema): SchemaLookup {
  const lookup = dereferenced(root)
  for (const schema of Object.values(lookup))
    if (typeof schema === 'object' && schema.$ref !== undefined) targetIn(lookup, schema)
  return lookup
}

function dereferenced(root: NormalizedSchema): SchemaLookup {
  try {
    // Our form is also one of theirs, but their types are narrower than what they accept.
    return dereference(root as Schema) as SchemaLookup
  } catch (error) {
    if (error instanceof RangeError) throw error
    throw new UnfitSchema('its $id and $ref cannot be read as addresses of one schema each')
  }
}

/** The schema that a `$ref` refers to. Throws an UnfitSchema if there is none. */
export function targetIn(lookup: SchemaLookup, schema: SchemaObject): NormalizedSchema {
  const found = lookup[(schema as Dereferenced).__absolute_ref__ ?? '']
  if (found !== undefined) return found
  throw new UnfitSchema(`it refers to ${JSON.stringify(schema.$ref)}, which is not in the schema`)
}

/** Whether `value` fits a schema of this document. */
export const fitsSchema = (value: JsonValue, schema: NormalizedSchema, lookup: SchemaLookup): boolean =>
  errorsIn(withoutUnsupported(value) as JsonValue, schema, lookup, true).length === 0

const errorsIn = (value: JsonValue, schema: NormalizedSchema, lookup: SchemaLookup, firstOnly: boolean) =>
  validate(value, schema as Schema, '2019-09', lookup as Record<string, Schema>, firstOnly).errors

/**
 * How many references a validation may follow, which takes about a tenth of a second: as many as a body may have values.
 * A schema of a hundred lines whose parts refer to one another can ask for any number.
 */
const MOST_STEPS = 60_000

export class TooManySteps extends Error {
  override readonly name = 'TooManySteps'
}

export interface StepBudget {
  left: number
}

/** The same schemas. Each reference that is followed takes a step of the budget; throws TooManySteps when it is empty. */
export const within = (budget: StepBudget, lookup: SchemaLookup): SchemaLookup =>
  new Proxy(lookup, {
    get(schemas, address: string) {
      if (budget.left-- <= 0) throw new TooManySteps('It takes too many steps.')
      return schemas[address]
    },
  })

/** Schemas are never changed, so each is prepared once. */
const validators = new WeakMap<object, Validator>()

export type Validator = (value: unknown, options?: CheckOptions) => readonly Mistake[]

/**
 * Returns a function that lists the mistakes of a value, and throws TooManySteps if that takes too long. Throws an
 * UnfitSchema for a schema that cannot be used. All patterns of a schema that is the user's own are checked, and those of
 * a client's only if that always ends.
 */
export function validatorOf(schema: unknown, isOwn = false): Validator {
  if (typeof schema !== 'object' || schema === null) return createValidator(schema, isOwn)
  const validator = validators.get(schema) ?? createValidator(schema, isOwn)
  validators.set(schema, validator)
  return validator
}

function createValidator(schema: unknown, isOwn: boolean): Validator {
  const root = normalized(withoutUnsupported(schema), isOwn)
  const lookup = lookupOf(root)
  const schemaAt = (location: string) => schemaIn(lookup, root, location)
  const check: Validator = (value, { firstOnly = false, whole = 'it', secret = () => false } = {}) => {
    const errors = errorsIn(value as JsonValue, root, within({ left: MOST_STEPS }, lookup), firstOnly)
    if (errors.length === 0) return []
    const mistakes = mistakesIn(mismatchesOf(errors, value, schemaAt), { whole, secret })
    return firstOnly ? mistakes.slice(0, 1) : mistakes
  }
  return (value, options) => {
    try {
      return check(value, options)
    } catch (error) {
      if (error instanceof TooManySteps) throw error
      // Only values that the validator cannot read are copied; few are.
      return check(withoutUnsupported(value), options)
    }
  }
}

function mismatchesOf(
  errors: readonly OutputUnit[],
  root: unknown,
  schemaAt: (location: string) => NormalizedSchema | undefined,
): readonly SchemaMismatch[] {
  let previousLocation = ''
  return errors.map(({ keyword, keywordLocation, instanceLocation }) => {
    // The validator gives a `false` schema the location of the value.
    const location = keyword === 'false' ? `${previousLocation}/false` : keywordLocation
    previousLocation = location
    const around = schemaAt(location.slice(0, location.lastIndexOf('/')))
    return { keyword, location, schema: typeof around === 'object' ? around : {}, ...valueAt(root, instanceLocation) }
  })
}

const stepsOf = (pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    // For a long step without it, decoding would take most of the time.
    .map(step => (step.includes('%') ? decodeURI(step) : step).replaceAll('~1', '/').replaceAll('~0', '~'))

function valueAt(root: unknown, pointer: string): { readonly value: unknown; readonly path: Path } {
  const path: (string | number)[] = []
  let value = root
  for (const step of stepsOf(pointer)) {
    path.push(Array.isArray(value) ? Number(step) : step)
    value = (value as Readonly<Record<string, unknown>> | undefined)?.[step]
  }
  return { value, path }
}

/** Follows the location that the validator reports, through keywords and references. */
function schemaIn(lookup: SchemaLookup, root: NormalizedSchema, location: string): NormalizedSchema | undefined {
  let schema: unknown = root
  for (const step of stepsOf(location)) {
    if (typeof schema !== 'object' || schema === null) return undefined
    schema =
      step === '$ref' ? targetIn(lookup, schema as SchemaObject) : (schema as Readonly<Record<string, unknown>>)[step]
  }
  return schema as NormalizedSchema | undefined
}

/** A keyword that a value does not fit. A keyword with nested schemas is followed by their mismatches. */
interface SchemaMismatch {
  readonly keyword: string
  readonly location: string
  readonly schema: SchemaObject
  readonly path: Path
  readonly value: unknown
}

/** How sentences name the whole value, and which values they must not quote. */
type Wording = Required<Pick<CheckOptions, 'whole' | 'secret'>>

function mistakesIn(mismatches: readonly SchemaMismatch[], wording: Wording): readonly Mistake[] {
  const mistakes: Mistake[] = []
  for (let i = 0; i < mismatches.length; ) {
    const mismatch = mismatches[i++] as SchemaMismatch
    const { keyword, location } = mismatch
    const from = i
    while (mismatches[i]?.location.startsWith(`${location}/`)) i++
    const inside = mismatches.slice(from, i)
    if (keyword === 'anyOf' || keyword === 'oneOf') {
      mistakes.push(...mistakesOfForms(mismatch, inside, wording))
    } else if (inside.length > 0) {
      // The nested mismatches explain the mistake.
      i = from
    } else if (keyword !== 'if') {
      mistakes.push(...mistakesOf(mismatch, mismatches[from - 2]?.schema, wording))
    }
  }
  return mistakes.filter(({ sentence }, i) => mistakes.findIndex(other => other.sentence === sentence) === i)
}

const mistakeAt = (path: Path, predicate: string, { whole }: Wording): Mistake => ({
  path,
  sentence: `${pathInWords(path) || whole} ${predicate}`,
})

function mistakesOf(
  { keyword, schema, path, value }: SchemaMismatch,
  around: SchemaObject | undefined,
  wording: Wording,
): readonly Mistake[] {
  if (keyword === 'false') {
    const known = Object.keys(around?.properties ?? {})
    const near = didYouMean(String(path.at(-1)), known) || (known.length > 0 ? ` Known: ${known.join(', ')}.` : '')
    return [mistakeAt(path, `is not known here.${near}`, wording)]
  }
  if (keyword === 'required') {
    const missing = schema.required?.filter(key => !Object.hasOwn(value as object, key)) ?? []
    return missing.map(key => mistakeAt([...path, key], 'is missing.', wording))
  }
  const [predicate, found] = expectations[keyword]?.(schema, value) ?? [`does not fit ${keyword} of its schema`]
  const isFoundShown = found !== undefined && !wording.secret(path)
  return [mistakeAt(path, isFoundShown ? `${predicate}, not ${found}.` : `${predicate}.`, wording)]
}

/** The mistakes of the intended alternative, which probably has the right constants, such as a `kind`, and mistakes deepest in the value. */
function mistakesOfForms(
  { keyword, location, schema, path, value }: SchemaMismatch,
  inside: readonly SchemaMismatch[],
  wording: Wording,
): readonly Mistake[] {
  const formOf = (mismatch: SchemaMismatch) => mismatch.location.slice(location.length + 1).split('/', 1)[0]
  const forms = [...Map.groupBy(inside, formOf).values()]
  const { length: count } = schema[keyword as 'anyOf' | 'oneOf'] ?? []
  if (forms.length < count)
    return [mistakeAt(path, `fits more than one of the ${count} forms that its schema allows.`, wording)]
  const depthOf = (form: readonly SchemaMismatch[]) => Math.max(...form.map(one => one.path.length))
  const wrongTags = (form: readonly SchemaMismatch[]) => form.filter(one => isTag(one, path)).length
  const [best = [], ...others] = forms.toSorted((a, b) => wrongTags(a) - wrongTags(b) || depthOf(b) - depthOf(a))
  const isIntended = others.every(form => wrongTags(form) > wrongTags(best))
  if (isIntended || depthOf(best) > path.length) return mistakesIn(best, wording)
  if (!inside.every(({ keyword }) => keyword === 'type'))
    return [mistakeAt(path, `fits none of the ${count} forms that its schema allows.`, wording)]
  const types = typesInWords(inside.flatMap(({ schema }) => schema.type ?? []))
  return [mistakeAt(path, `${wording.secret(path) ? mustBe(types) : mustBe(types, value)}.`, wording)]
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

/** The rest of a sentence about a value, and in words what was found instead. */
type Expectation = readonly [predicate: string, found?: string]

const expected = (expectation: string, value: unknown): Expectation => [mustBe(expectation), valueInWords(value)]

const expectedSize = (bounds: string, value: unknown): Expectation => [`must have ${bounds}`, String(size(value))]

/** By the keyword that the value does not fit. */
const expectations: Readonly<Record<string, (schema: SchemaObject, value: unknown) => Expectation>> = {
  type: ({ type = [] }, value) => expected(typesInWords(type), value),
  const: schema => [mustBe(JSON.stringify(schema.const))],
  enum: (schema, value) => expected(oneOfWords((schema.enum ?? []).map(one => JSON.stringify(one))), value),
  not: () => ['is a value that its schema excludes'],
  dependentRequired: () => ['lacks a field that another of its fields requires'],
  minProperties: ({ minProperties }, value) => expectedSize(`at least ${counted(minProperties, 'field')}`, value),
  maxProperties: ({ maxProperties }, value) => expectedSize(`at most ${counted(maxProperties, 'field')}`, value),
  minItems: ({ minItems }, value) => expectedSize(`at least ${counted(minItems, 'item')}`, value),
  maxItems: ({ maxItems }, value) => expectedSize(`at most ${counted(maxItems, 'item')}`, value),
  uniqueItems: () => ['must not have two equal items'],
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
