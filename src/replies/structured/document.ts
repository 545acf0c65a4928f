/** A whole schema: resolves references, computes minimum depths, and validates values. */
import { fitsSchema, lookupOf, targetIn, within } from '../../check/json-schema.js'
import {
  type JsonValue,
  type NormalizedSchema,
  normalized,
  type SchemaObject,
  type TypeName,
} from '../../check/json-schema-form.js'

/** How many references may be followed while the candidates of one value are checked: about half a second's work. */
const MOST_STEPS = 300_000

export type SchemaDocument = ReturnType<typeof readDocument>

/** Reads the original schema. Throws an UnfitSchema if it is invalid. */
export function readDocument(schema: unknown) {
  const root = normalized(schema)
  const lookup = lookupOf(root)
  const budget = { left: MOST_STEPS }
  const boundedLookup = within(budget, lookup)
  const nodes = Object.values(lookup).filter(schema => typeof schema === 'object')
  const target = (schema: SchemaObject) => targetIn(lookup, schema)
  const heights = heightsOf(nodes, target)
  return {
    root,
    /** The schema that a `$ref` refers to. */
    target,
    /** The minimum number of levels of a value of this schema; Infinity if no value is finite. */
    height: (schema: NormalizedSchema) => heightIn(heights, schema),
    /** How sentences name one of its schemas. */
    nameOf(schema: NormalizedSchema): string {
      const [, pointer] =
        Object.entries(lookup)
          .find(([, one]) => one === schema)?.[0]
          .split('#') ?? []
      return pointer ? `#${pointer}` : 'the schema'
    },
    /** Whether a value fits. Throws TooManySteps if too many were checked since `restart`. */
    fits: (value: JsonValue, schemas: readonly NormalizedSchema[]): boolean =>
      schemas.every(schema => fitsSchema(value, schema, boundedLookup)),
    /** Begins to make another value. */
    restart(): void {
      budget.left = MOST_STEPS
    },
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
