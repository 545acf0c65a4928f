/** Validates values against JSON Schemas and describes mistakes in sentences. The only file that imports the validator. */
import { dereference, type OutputUnit, type Schema, validate } from '@cfworker/json-schema'
import type { CheckOptions, Mistake, Path } from './check.js'
import {
  type JsonValue,
  type NormalizedSchema,
  normalized,
  type SchemaObject,
  UnfitSchema,
  withoutUnsupported,
} from './json-schema-form.js'
import { mistakesIn, type SchemaMismatch } from './json-schema-mistakes.js'

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
  run(value, schema, lookup, true).length === 0

const run = (value: JsonValue, schema: NormalizedSchema, lookup: SchemaLookup, firstOnly: boolean) =>
  validate(value, schema as Schema, '2019-09', lookup as Record<string, Schema>, firstOnly).errors

/**
 * How many references a validation may follow, which takes about a tenth of a second: as many as a body may have values.
 * A schema of a hundred lines whose parts refer to one another can ask for any number.
 */
const MOST_STEPS = 60_000

/** Thrown when a validation takes too many steps. */
export class TooManySteps extends Error {
  override readonly name = 'TooManySteps'
}

/** How many references may still be followed. */
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
 * UnfitSchema for a schema that cannot be used.
 */
export function validatorOf(schema: unknown): Validator {
  if (typeof schema !== 'object' || schema === null) return createValidator(schema)
  const validator = validators.get(schema) ?? createValidator(schema)
  validators.set(schema, validator)
  return validator
}

function createValidator(schema: unknown): Validator {
  const root = normalized(withoutUnsupported(schema))
  const lookup = lookupOf(root)
  const schemaAt = (location: string) => schemaIn(lookup, root, location)
  const check: Validator = (value, { firstOnly = false, whole = 'it', secret = () => false } = {}) => {
    const errors = run(value as JsonValue, root, within({ left: MOST_STEPS }, lookup), firstOnly)
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
