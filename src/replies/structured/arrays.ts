/** Generates arrays: first the items with a fixed position, then a few more, including those that `contains` requires. */

import { type JsonValue, type NormalizedSchema, type SchemaObject, UnfitSchema } from '../../check/json-schema-form.js'
import { isObject } from '../../core/json.js'
import { wholeNumbers } from './numbers.js'
import {
  drawPerson,
  expand,
  type GeneratedValue,
  greatest,
  type Layers,
  type SchemaPlace,
  singular,
  smallest,
  typesOf,
  type ValueMaker,
} from './place.js'

/** Arrays that must have more items than this are not generated. */
const MOST_ITEMS = 5000

/** How often a unique item is drawn at random before it is taken from a list. */
const UNIQUE_TRIES = 8

/** Generates an array for these layers; `undefined` if none was found. */
export function makeArray(
  layers: Layers,
  place: SchemaPlace,
  attempt: number,
  maker: ValueMaker,
): GeneratedValue | undefined {
  const demands = demandsOf(layers, attempt)
  const length = lengthFor(layers, demands.length, place, maker)
  if (length === undefined) return undefined
  const isUnique = layers.some(({ uniqueItems }) => uniqueItems)
  const taken = new Set<string>()
  const items: JsonValue[] = []
  const person = () => drawPerson(maker.faker)
  const inside: SchemaPlace = { ...place, person, name: singular(place.name), depth: place.depth + 1 }
  const first = Math.max(0, Math.min(length - demands.length, prefixLength(layers)))
  for (let index = 0; index < length; index++) {
    const schemas = [...itemSchemas(layers, index), ...(demands[index - first] ?? demandedOfOthers(layers))]
    const item = isUnique ? uniqueItem(taken, schemas, inside, maker) : maker.make(schemas, inside)
    if (!item) return items.length >= leastItems(layers) && demands.length === 0 ? { value: items } : undefined
    if (isUnique) taken.add(canonical(item.value))
    items.push(item.value)
  }
  return { value: items }
}

/** The items that must occur: one list of schemas for each. */
function demandsOf(layers: Layers, attempt: number): readonly (readonly NormalizedSchema[])[] {
  const demanded = layers.flatMap(({ contains, minContains = 1, maxContains = Number.POSITIVE_INFINITY }) => {
    if (contains === undefined) return []
    if (minContains > MOST_ITEMS) throw tooMany(minContains)
    return minContains > maxContains ? [] : Array.from({ length: minContains }, () => [contains])
  })
  // One item can satisfy two layers.
  return attempt % 3 === 2 && demanded.length > 1 ? [demanded.flat()] : demanded
}

/** If `maxContains` limits a kind of item, the other items must not be of that kind. */
const demandedOfOthers = (layers: Layers): readonly NormalizedSchema[] =>
  layers.flatMap(({ contains, maxContains }) =>
    contains !== undefined && maxContains !== undefined ? [{ not: contains }] : [],
  )

const tooMany = (items: number) => new UnfitSchema(`no value fits the schema: an array would need ${items} items`)

const leastItems = (layers: Layers) => greatest(layers, ({ minItems }) => minItems, 0)

function lengthFor(
  layers: Layers,
  demanded: number,
  place: SchemaPlace,
  { faker, document }: ValueMaker,
): number | undefined {
  const least = Math.max(leastItems(layers), demanded)
  const most = smallest(layers, ({ maxItems }) => maxItems, Number.POSITIVE_INFINITY)
  if (least > MOST_ITEMS) throw tooMany(least)
  const prefix = prefixLength(layers)
  const end = Math.min(most, endOf(layers, Math.max(prefix, least) + 4, document.height))
  if (least > end) return undefined
  if (place.shallow) return least
  if (prefix > 0) return Math.max(least, Math.min(end, prefix))
  const usual = faker.number.int({ min: place.again > 0 ? 0 : 1, max: place.again > 0 ? 2 : 3 })
  return Math.min(end, Math.max(least, least > 3 ? least : usual))
}

/** The index of the first item that cannot exist. */
function endOf(layers: Layers, until: number, height: (schema: NormalizedSchema) => number): number {
  for (let index = 0; index < until; index++) {
    if (itemSchemas(layers, index).some(schema => height(schema) === Number.POSITIVE_INFINITY)) return index
    if (index > prefixLength(layers)) break
  }
  return Number.POSITIVE_INFINITY
}

const prefixOf = ({ prefixItems, items }: SchemaObject): readonly NormalizedSchema[] =>
  prefixItems ?? (Array.isArray(items) ? (items as readonly NormalizedSchema[]) : [])

const prefixLength = (layers: Layers) => Math.max(0, ...layers.map(layer => prefixOf(layer).length))

/** All schemas for the item at this index. */
function itemSchemas(layers: Layers, index: number): readonly NormalizedSchema[] {
  const hasItems = layers.some(({ items }) => items !== undefined)
  return layers.flatMap(layer => {
    const { items, additionalItems, unevaluatedItems } = layer
    const prefixItem = prefixOf(layer)[index]
    if (prefixItem !== undefined) return [prefixItem]
    if (Array.isArray(items)) return additionalItems === undefined ? [] : [additionalItems]
    if (items !== undefined) return [items as NormalizedSchema]
    const isUnevaluated = !hasItems && index >= prefixLength(layers)
    return unevaluatedItems !== undefined && isUnevaluated ? [unevaluatedItems] : []
  })
}

/** A new item: drawn at random a few times, then taken from the list of all values. */
function uniqueItem(
  taken: ReadonlySet<string>,
  schemas: readonly NormalizedSchema[],
  place: SchemaPlace,
  maker: ValueMaker,
): GeneratedValue | undefined {
  for (let attempt = 0; attempt < UNIQUE_TRIES; attempt++) {
    const made = maker.make(schemas, place)
    if (!made) return undefined
    if (!taken.has(canonical(made.value))) return made
  }
  const layers = expand(schemas, place, 0, maker)
  if (!layers) return undefined
  for (const value of allOf(layers, taken.size)) {
    if (!taken.has(canonical(value)) && maker.document.fits(value, schemas)) return { value }
  }
  return undefined
}

/** All values of these layers, if there are few. */
function* allOf(layers: Layers, taken: number): Generator<JsonValue> {
  for (const { const: only, enum: listed = [] } of layers) {
    yield* listed
    if (only !== undefined) yield only
  }
  const types = typesOf(layers)
  if (types.includes('boolean')) yield* [true, false]
  if (types.includes('null')) yield null
  if (types.includes('integer')) yield* wholeNumbers(layers, 20 * taken + 1000)
  // A number makes each text different.
  if (types.includes('string')) for (let count = 0; count <= taken; count++) yield* [`${count}`, `item ${count}`]
}

/** The same text for the same value, whatever the order of its keys. */
function canonical(value: JsonValue): string {
  return JSON.stringify(value, (_, inner: JsonValue) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}
