/** A client's schema in memory, and the plain schemas that hold at one place inside a value. */

import { fitsSchema, lookupOf, type StepBudget, targetIn, within } from '../../check/json-schema.js'
import {
  type JsonValue,
  type NormalizedSchema,
  normalized,
  type SchemaObject,
  type TypeName,
  typeNames,
} from '../../check/json-schema-form.js'
import type { Faker } from '../fake.js'

export interface SchemaPlace {
  /** The name of the field in lower case, with spaces between its words. */
  readonly name: string
  /** The schemas of the values around it, the outermost first. */
  readonly ancestors: readonly (SchemaObject | undefined)[]
  /** Whether to generate as little as possible here and below. */
  readonly shallow: boolean
}

/** A generated value. Without the wrapper, null would look like no value. */
export interface GeneratedValue {
  readonly value: JsonValue
}

/** The functions that generate values. Each candidate has its own set. */
export interface ValueMaker {
  readonly faker: Faker
  readonly document: SchemaDocument
  /** Generates a value that fits all of these schemas; `undefined` if none was found. */
  make(schemas: readonly NormalizedSchema[], place: SchemaPlace): GeneratedValue | undefined
}

/** Plain schemas that must all hold, after references and alternatives have been resolved. */
export type Layers = readonly SchemaObject[]

export type SchemaDocument = ReturnType<typeof readSchema>

/** Reads the original schema. Throws an UnfitSchema if it is invalid. */
export function readSchema(schema: unknown) {
  const root = normalized(schema)
  const lookup = lookupOf(root)
  const budget: StepBudget = { left: 0 }
  const boundedLookup = within(budget, lookup)
  const target = (schema: SchemaObject) => targetIn(lookup, schema)
  const heights = heightsOf(
    Object.values(lookup).filter(schema => typeof schema === 'object'),
    target,
  )
  return {
    root,
    /** How many values may still be tried, and references followed to check them. */
    budget,
    /** The schema that a `$ref` refers to. */
    target,
    /** The minimum number of levels of a value of this schema; Infinity if no value is finite. */
    height: (schema: NormalizedSchema) => heights.get(schema) ?? 0,
    /** How sentences name one of its schemas. */
    nameOf(schema: NormalizedSchema): string {
      const [address = ''] = Object.entries(lookup).find(([, one]) => one === schema) ?? []
      const [, pointer] = address.split('#')
      return pointer ? `#${pointer}` : 'the schema'
    },
    /** Whether a value fits. Throws TooManySteps when the budget is empty. */
    fits: (value: JsonValue, schemas: readonly NormalizedSchema[]): boolean =>
      schemas.every(schema => fitsSchema(value, schema, boundedLookup)),
  }
}

type Heights = ReadonlyMap<NormalizedSchema, number>

/** Starts with Infinity for all schemas and repeats until no height decreases. Circular schemas keep Infinity. */
function heightsOf(nodes: Layers, target: (schema: SchemaObject) => NormalizedSchema): Heights {
  const heights = new Map<NormalizedSchema, number>(nodes.map(node => [node, Number.POSITIVE_INFINITY]))
  heights.set(true, 0).set(false, Number.POSITIVE_INFINITY)
  const height = (schema: NormalizedSchema) => heights.get(schema) ?? 0
  // Children come after their parents in the lookup, so going backwards takes only one round for most schemas.
  const order = nodes.toReversed()
  for (let changed = true; changed; ) {
    changed = false
    for (const node of order) {
      const { $ref, allOf = [], anyOf, oneOf } = node
      const parts = [ownHeight(node, height), ...allOf.map(height)]
      if ($ref !== undefined) parts.push(height(target(node)))
      for (const branches of [anyOf, oneOf]) if (branches) parts.push(Math.min(...branches.map(height)))
      const lowest = Math.max(...parts)
      if (lowest >= height(node)) continue
      heights.set(node, lowest)
      changed = true
    }
  }
  return heights
}

/** A lower bound: 0 for everything that would need a closer look. */
function ownHeight(node: SchemaObject, height: (schema: NormalizedSchema) => number): number {
  const { type, required = [], properties = {}, minItems = 0, items = true } = node
  if (node.const !== undefined || node.enum !== undefined || type?.length !== 1) return 0
  if (type[0] === 'array') {
    const needsItem = minItems > 0 && node.prefixItems === undefined && !Array.isArray(items)
    return needsItem ? 1 + height(items as NormalizedSchema) : 1
  }
  if (type[0] !== 'object') return 0
  const needed = required.filter(key => Object.hasOwn(properties, key)).map(key => height(properties[key] ?? true))
  return 1 + Math.max(0, ...needed)
}

/** How often a nullable value is null: at the top level, and inside a recursive schema. */
const NULL_CHANCE = 0.12
const NULL_CHANCE_AGAIN = 0.5

export const nullChance = ({ ancestors }: SchemaPlace) =>
  new Set(ancestors).size === ancestors.length ? NULL_CHANCE : NULL_CHANCE_AGAIN

/**
 * Resolves schemas into plain ones that must all hold, choosing among alternatives; `undefined` if they exclude each
 * other. `attempt` counts the choices that did not fit.
 */
export function expand(
  schemas: readonly NormalizedSchema[],
  place: SchemaPlace,
  attempt: number,
  { faker, document: { target, height } }: Pick<ValueMaker, 'faker' | 'document'>,
): Layers | undefined {
  const found = new Set<SchemaObject>()
  let choice = attempt
  /** One of several alternatives: the first at first, then all combinations with the choices at other places. */
  function branchOf(branches: readonly NormalizedSchema[]): NormalizedSchema {
    const possible = branches.filter(branch => height(branch) !== Number.POSITIVE_INFINITY)
    const wantsNull = possible.some(isNull) && faker.datatype.boolean(nullChance(place))
    const rank = place.shallow ? height : (branch: NormalizedSchema) => Number(isNull(branch) !== wantsNull)
    const inOrder = possible.toSorted((a, b) => rank(a) - rank(b))
    const chosen = inOrder[choice % inOrder.length]
    choice = Math.floor(choice / inOrder.length)
    return chosen ?? false
  }
  /** Adds a schema and those that must hold with it. Returns false if one of them is `false`. */
  function add(schema: NormalizedSchema): boolean {
    if (typeof schema === 'boolean') return schema
    // A schema that was already visited adds nothing, and following it again might never end.
    if (found.has(schema)) return true
    found.add(schema)
    const { $ref, allOf = [], anyOf, oneOf } = schema
    if ($ref !== undefined && !add(target(schema))) return false
    if (!allOf.every(add)) return false
    if (anyOf && !add(branchOf(anyOf))) return false
    if (oneOf && !add(branchOf(oneOf))) return false
    if (schema.if === undefined) return true
    const holds = faker.datatype.boolean(0.65)
    return holds ? add(schema.if) && add(schema.then ?? true) : add(schema.else ?? true)
  }
  if (!schemas.every(add)) return undefined
  const layers = [...found]
  return typesOf(layers).length === 0 ? undefined : layers
}

const isNull = (schema: NormalizedSchema) =>
  typeof schema === 'object' && ((schema.type?.length === 1 && schema.type[0] === 'null') || schema.const === null)

/** The types that all layers allow. */
export function typesOf(layers: Layers): readonly TypeName[] {
  return typeNames.filter(name =>
    layers.every(({ type, not }) => {
      if (type && !allowsType(type, name)) return false
      return !(typeof not === 'object' && Object.keys(not).length === 1 && not.type && allowsType(not.type, name))
    }),
  )
}

const allowsType = (types: readonly TypeName[], name: TypeName) =>
  types.includes(name) || (name === 'integer' && types.includes('number'))

/** The largest value of a bound, or `without` if there is none. */
export const greatest = (layers: Layers, bound: (layer: SchemaObject) => number | undefined, without: number) =>
  layers.reduce((sum, layer) => Math.max(sum, bound(layer) ?? without), without)

/** The smallest value of a bound, or `without` if there is none. */
export const smallest = (layers: Layers, bound: (layer: SchemaObject) => number | undefined, without: number) =>
  layers.reduce((sum, layer) => Math.min(sum, bound(layer) ?? without), without)

/** The values of a keyword in the layers that have it. */
export const each = <T>(layers: Layers, keyword: (layer: SchemaObject) => T | undefined): readonly T[] =>
  layers.map(keyword).filter(value => value !== undefined)
