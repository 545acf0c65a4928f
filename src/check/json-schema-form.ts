/** Normalizes a JSON Schema of any draft or dialect, so that the rest of this folder can rely on one form. */
import { matchInTime, mayTakeForever } from './endless.js'
import { compiled, isUsable } from './expressions.js'
import { UnfitSchema } from './unfit-schema.js'

export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue }

export const typeNames = ['null', 'boolean', 'integer', 'number', 'string', 'array', 'object'] as const
export type TypeName = (typeof typeNames)[number]

type Schemas = Readonly<Record<string, NormalizedSchema>>

/** The supported keywords. Each has the right type if it is present. */
export interface SchemaObject {
  readonly $ref?: string
  readonly title?: string
  readonly description?: string
  readonly type?: readonly TypeName[]
  readonly const?: JsonValue
  readonly enum?: readonly JsonValue[]
  readonly examples?: readonly JsonValue[]
  readonly default?: JsonValue
  readonly format?: string
  readonly contentEncoding?: string
  readonly pattern?: string
  /** A pattern that is only valid without the flag u. Validators do not know it. */
  readonly loosePattern?: string
  readonly minLength?: number
  readonly maxLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly exclusiveMaximum?: number
  readonly multipleOf?: number
  readonly properties?: Schemas
  readonly patternProperties?: Schemas
  readonly additionalProperties?: NormalizedSchema
  readonly unevaluatedProperties?: NormalizedSchema
  readonly propertyNames?: NormalizedSchema
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly maxProperties?: number
  readonly dependentRequired?: Readonly<Record<string, readonly string[]>>
  readonly dependentSchemas?: Schemas
  readonly items?: NormalizedSchema | readonly NormalizedSchema[]
  readonly prefixItems?: readonly NormalizedSchema[]
  readonly additionalItems?: NormalizedSchema
  readonly unevaluatedItems?: NormalizedSchema
  readonly minItems?: number
  readonly maxItems?: number
  readonly uniqueItems?: boolean
  readonly contains?: NormalizedSchema
  readonly minContains?: number
  readonly maxContains?: number
  readonly allOf?: readonly NormalizedSchema[]
  readonly anyOf?: readonly NormalizedSchema[]
  readonly oneOf?: readonly NormalizedSchema[]
  readonly not?: NormalizedSchema
  readonly if?: NormalizedSchema
  readonly then?: NormalizedSchema
  readonly else?: NormalizedSchema
}

export type NormalizedSchema = boolean | SchemaObject

type Raw = Record<string, unknown>

const isRecord = (value: unknown): value is Raw => typeof value === 'object' && value !== null && !Array.isArray(value)
const isNumber = (value: unknown) => typeof value === 'number'
const isCount = (value: unknown) => Number.isInteger(value) && (value as number) >= 0
const isText = (value: unknown) => typeof value === 'string'
const isFlag = (value: unknown) => typeof value === 'boolean'
const areTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText)
const isSchema = (value: unknown) => isFlag(value) || isRecord(value)
const isNonEmptyArray = (value: unknown) => Array.isArray(value) && value.length > 0

const keysOf = <T>(keys: string, value: T) => keys.split(' ').map((key): [string, T] => [key, value])

/** The required types of keyword values. A keyword with another value is ignored, as if it were unknown. */
const keywordTypes = new Map<string, (value: unknown) => boolean>([
  ...keysOf('minimum maximum exclusiveMinimum exclusiveMaximum', isNumber),
  ...keysOf('minLength maxLength minItems maxItems minProperties maxProperties minContains maxContains', isCount),
  ...keysOf('$id $ref $anchor title description format pattern', isText),
  ...keysOf('enum examples', Array.isArray),
  ...keysOf('properties patternProperties $defs definitions dependentSchemas dependentRequired', isRecord),
  ...keysOf('additionalProperties unevaluatedProperties propertyNames contains additionalItems', isSchema),
  ...keysOf('unevaluatedItems not if then else', isSchema),
  ...keysOf('allOf anyOf oneOf prefixItems', isNonEmptyArray),
  ['items', value => isSchema(value) || isNonEmptyArray(value)],
  ['multipleOf', value => isNumber(value) && (value as number) > 0],
  ['uniqueItems', isFlag],
  ['required', areTexts],
  ['type', areTexts],
])

/** The values of these keywords are data or descriptions, not schemas. */
const dataKeywords = new Set(
  keysOf('default const enum examples required type dependentRequired', 0).map(([key]) => key),
)
const schemaMapKeywords = new Set(
  keysOf('properties patternProperties $defs definitions dependentSchemas', 0).map(([key]) => key),
)

/** Replaces what the validator cannot read: BigInts, and names with half of a surrogate pair. Both occur in JSON. */
export function withoutUnsupported(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value)
  if (Array.isArray(value)) return value.map(withoutUnsupported)
  if (!isRecord(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, inside]) => [name.toWellFormed(), withoutUnsupported(inside)]),
  )
}

/**
 * Returns a normalized copy of the schema. Patterns that may take forever are left out, unless the schema is the user's
 * `own`. Throws an UnfitSchema if a pattern is not a regular expression.
 */
export function normalized(schema: unknown, isOwn = false): NormalizedSchema {
  if (!isRecord(schema)) return schema !== false
  const entries = Object.entries(inOneDialect(schema)).flatMap(([key, value]) => {
    if (keywordTypes.get(key)?.(value) === false || value === undefined) return []
    return [[key, normalizedValue(key, value, isOwn)] as const]
  })
  const result = Object.fromEntries(entries)
  return withReadablePattern(isOwn ? result : withoutEndlessNames(result), isOwn)
}

function normalizedValue(key: string, value: unknown, isOwn: boolean): unknown {
  if (dataKeywords.has(key)) return value
  if (Array.isArray(value)) return value.map(one => normalized(one, isOwn))
  if (!isRecord(value)) return value
  if (!schemaMapKeywords.has(key)) return normalized(value, isOwn)
  if (key === 'patternProperties') for (const pattern of Object.keys(value)) requireRegularExpression(pattern)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, normalized(inner, isOwn)]))
}

/** Without the patterns for names that may take forever. Then any other name may be meant by them. */
function withoutEndlessNames({ patternProperties = {}, ...schema }: Raw): Raw {
  const all = Object.entries(patternProperties as Raw)
  const kept = all.filter(([pattern]) => !mayTakeForever(compiled(pattern, 'u')))
  if (kept.length === all.length) return all.length === 0 ? schema : { ...schema, patternProperties }
  const { additionalProperties: _, unevaluatedProperties: _all, ...open } = schema
  return { ...open, patternProperties: Object.fromEntries(kept) }
}

/** Translates older drafts, OpenAPI, and common hand-written forms. */
function inOneDialect({ id: _id, nullable, example, dependencies, $dynamicRef, $recursiveRef, ...rest }: Raw): Raw {
  const schema: Raw = { ...rest, $recursiveAnchor: undefined, $dynamicAnchor: undefined }
  // Names that the validator uses internally.
  for (const key of Object.keys(schema)) if (key.startsWith('__absolute')) schema[key] = undefined
  if (typeof schema.type === 'string') schema.type = [schema.type]
  if (nullable === true && areTexts(schema.type) && !('enum' in schema) && !('const' in schema)) {
    schema.type = [...schema.type, 'null']
  }
  if (example !== undefined && !Array.isArray(schema.examples)) schema.examples = [example]
  schema.$ref ??= $dynamicRef ?? $recursiveRef
  schema.$anchor ??= rest.$dynamicAnchor
  // zod's times have no offset, so they are not of this format (RFC 3339). The pattern says what is meant.
  if (schema.format === 'time' && typeof schema.pattern === 'string' && !takesOffset(schema.pattern)) {
    schema.format = 'local-time'
  }
  // Draft 4: a flag next to the bound.
  if (schema.exclusiveMinimum === true) Object.assign(schema, { exclusiveMinimum: schema.minimum, minimum: undefined })
  if (schema.exclusiveMaximum === true) Object.assign(schema, { exclusiveMaximum: schema.maximum, maximum: undefined })
  return isRecord(dependencies) ? withDependencies(schema, dependencies) : schema
}

/** Draft 7 has one keyword for what later became two. */
function withDependencies(schema: Raw, dependencies: Raw): Raw {
  const entries = Object.entries(dependencies)
  const lists = Object.fromEntries(entries.filter(([, value]) => areTexts(value)))
  const schemas = Object.fromEntries(entries.filter(([, value]) => !Array.isArray(value)))
  const { dependentRequired, dependentSchemas } = schema
  return {
    ...schema,
    dependentRequired: { ...lists, ...(isRecord(dependentRequired) && dependentRequired) },
    dependentSchemas: { ...schemas, ...(isRecord(dependentSchemas) && dependentSchemas) },
  }
}

/**
 * Patterns are parsed with the flag u, as validators do. Many hand-written ones are only valid without it. Those, and
 * those that could hold up the process, only say what values are made.
 */
function withReadablePattern(schema: Raw, isOwn: boolean): SchemaObject {
  const { pattern, ...rest } = schema
  // A pattern that is not checked refuses nothing, so its opposite must not refuse everything.
  if (isRecord(schema.not) && 'loosePattern' in schema.not) return withReadablePattern({ ...schema, not: false }, isOwn)
  if (typeof pattern !== 'string') return schema
  if (isUsable(pattern, 'u') && (isOwn || !mayTakeForever(compiled(pattern, 'u')))) return schema
  if (!isUsable(pattern) && !isUsable(pattern, 'u')) throw invalidPattern(pattern)
  return { ...rest, loosePattern: pattern }
}

const takesOffset = (pattern: string) =>
  !isUsable(pattern, 'u') ||
  ['10:30:00Z', '10:30:00+00:00'].some(time => matchInTime(compiled(pattern, 'u'), time) !== false)

function requireRegularExpression(pattern: string): void {
  if (!isUsable(pattern, 'u')) throw invalidPattern(pattern)
}

const invalidPattern = (pattern: string) =>
  new UnfitSchema(`the pattern ${JSON.stringify(pattern.slice(0, 60))} cannot be used as a regular expression`)
