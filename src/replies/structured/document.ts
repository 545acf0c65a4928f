/** A whole schema: resolves references, computes minimum depths, and validates values. */
import { dereference, type Schema as ValidatorSchema, validate } from '@cfworker/json-schema'
import {
  type JsonValue,
  type NormalizedSchema,
  type SchemaObject,
  type TypeName,
  tidied,
  UnfitSchema,
} from './schema.js'

export interface SchemaDocument {
  readonly root: NormalizedSchema
  /** The schema that a `$ref` refers to. */
  target(schema: SchemaObject): NormalizedSchema
  /** The minimum number of levels of a value of this schema; Infinity if no value is finite. */
  height(schema: NormalizedSchema): number
  fits(value: JsonValue, schemas: readonly NormalizedSchema[]): boolean
}

/** The validator stores the resolved address of a reference in its schema. */
type Dereferenced = SchemaObject & { readonly __absolute_ref__?: string }

/** Reads the original schema. Throws an UnfitSchema if it is invalid. */
export function readDocument(sent: unknown): SchemaDocument {
  const root = tidied(sent)
  const lookup = lookupOf(root)
  const nodes = Object.values(lookup).filter(schema => typeof schema === 'object')
  const target = (schema: SchemaObject) => {
    const found = lookup[(schema as Dereferenced).__absolute_ref__ ?? '']
    if (found !== undefined) return found
    throw new UnfitSchema(`it refers to ${JSON.stringify(schema.$ref)}, which is not in the schema`)
  }
  for (const node of nodes) if (node.$ref !== undefined) target(node)
  const heights = heightsOf(nodes, target)
  return {
    root,
    target,
    height: schema => heightIn(heights, schema),
    fits: (value, schemas) =>
      schemas.every(schema => {
        // Our form is also one of theirs, but their types are narrower than what they accept.
        return validate(value, schema as ValidatorSchema, '2019-09', lookup as Record<string, ValidatorSchema>).valid
      }),
  }
}

/** Where and why a value does not fit a schema. Throws an UnfitSchema for an invalid schema. */
export function objectionTo(sent: object, value: unknown): string | undefined {
  const root = tidied(sent)
  const lookup = lookupOf(root) as Record<string, ValidatorSchema>
  const { errors } = validate(value as JsonValue, root as ValidatorSchema, '2019-09', lookup)
  // The errors are ordered from the outside in.
  const last = errors.at(-1)
  if (!last) return undefined
  const place = last.instanceLocation.replace(/^#\/?/, '').replaceAll('/', '.')
  return place === '' ? last.error : `${place}: ${last.error}`
}

function lookupOf(root: NormalizedSchema): Readonly<Record<string, NormalizedSchema>> {
  try {
    return dereference(root as ValidatorSchema) as Record<string, NormalizedSchema>
  } catch (error) {
    if (error instanceof RangeError) throw error
    throw new UnfitSchema('its $id and $ref cannot be read as addresses of one schema each')
  }
}

type Heights = ReadonlyMap<NormalizedSchema, number>

const heightIn = (heights: Heights, schema: NormalizedSchema) =>
  typeof schema === 'boolean' ? (schema ? 0 : Number.POSITIVE_INFINITY) : (heights.get(schema) ?? 0)

/** Starts with Infinity for all schemas and repeats until no height decreases. Circular schemas keep Infinity. */
function heightsOf(nodes: readonly SchemaObject[], target: (schema: SchemaObject) => NormalizedSchema): Heights {
  const heights = new Map<NormalizedSchema, number>(nodes.map(node => [node, Number.POSITIVE_INFINITY]))
  // Children come after their parents in the lookup, so going backwards takes only one round for most schemas.
  const order = nodes.toReversed()
  for (let changed = true; changed; ) {
    changed = false
    for (const node of order) {
      const height = nextHeight(node, target, schema => heightIn(heights, schema))
      if (height >= heightIn(heights, node)) continue
      heights.set(node, height)
      changed = true
    }
  }
  return heights
}

/** A lower bound: 0 for everything that would need a closer look. */
function nextHeight(
  node: SchemaObject,
  target: (s: SchemaObject) => NormalizedSchema,
  height: (s: NormalizedSchema) => number,
): number {
  const { $ref, allOf = [], anyOf, oneOf } = node
  const inPlace = [...allOf.map(height)]
  if ($ref !== undefined) inPlace.push(height(target(node)))
  for (const branches of [anyOf, oneOf]) if (branches) inPlace.push(Math.min(...branches.map(height)))
  return Math.max(ownHeight(node, height), ...inPlace)
}

const scalars: readonly TypeName[] = ['null', 'boolean', 'integer', 'number', 'string']

function ownHeight(node: SchemaObject, height: (schema: NormalizedSchema) => number): number {
  const { type, enum: listed, required = [], properties = {} } = node
  const { minItems = 0, items, prefixItems, contains, minContains = 1 } = node
  if (node.const !== undefined || listed !== undefined || type === undefined) return 0
  if (type.some(name => scalars.includes(name))) return 0
  const ofObject = () =>
    required.map(key => (Object.hasOwn(properties, key) ? height(properties[key] ?? true) : 0)).reduce(higher, 0) + 1
  const rest = Array.isArray(items) ? undefined : (items as NormalizedSchema | undefined)
  const first = prefixItems ?? (Array.isArray(items) ? (items as readonly NormalizedSchema[]) : [])
  const ofArray = () => {
    const demanded = first.slice(0, minItems).map(height)
    if (minItems > first.length && rest !== undefined) demanded.push(height(rest))
    if (contains !== undefined && minContains > 0) demanded.push(height(contains))
    return demanded.reduce(higher, 0) + 1
  }
  return Math.min(
    type.includes('object') ? ofObject() : Number.POSITIVE_INFINITY,
    type.includes('array') ? ofArray() : Number.POSITIVE_INFINITY,
  )
}

const higher = (a: number, b: number) => Math.max(a, b)
