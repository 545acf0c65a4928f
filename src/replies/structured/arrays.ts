/** Makes arrays: first what has a place of its own, then a few of what may follow, with what has to be among them. */

import { type JsonValue, type NormalizedSchema, type SchemaObject, UnfitSchema } from '../../check/json-schema-form.js'
import { isObject } from '../../core/json.js'
import { wholeNumbers } from './numbers.js'
import {
  drawPerson,
  type GeneratedValue,
  greatest,
  type Layers,
  type SchemaPlace,
  singular,
  smallest,
  typesOf,
  type ValueMaker,
} from './place.js'

/** An array that has to have more items than this is not made. */
const MOST_ITEMS = 5000

/** An item that must differ from the others is drawn so often before it is taken from a list. */
const UNIQUE_TRIES = 8

/** An array of these layers, or nothing where none was found. */
export function makeArray(
  layers: Layers,
  place: SchemaPlace,
  attempt: number,
  shop: ValueMaker,
): GeneratedValue | undefined {
  const demands = demandsOf(layers, attempt)
  const length = lengthFor(layers, demands.length, place, shop)
  if (length === undefined) return undefined
  const isUnique = layers.some(({ uniqueItems }) => uniqueItems)
  const taken = new Set<string>()
  const items: JsonValue[] = []
  const person = () => drawPerson(shop.faker)
  const inside: SchemaPlace = { ...place, person, name: singular(place.name), depth: place.depth + 1 }
  const first = Math.max(0, Math.min(length - demands.length, prefixLength(layers)))
  for (let index = 0; index < length; index++) {
    const schemas = [...itemSchemas(layers, index), ...(demands[index - first] ?? demandedOfOthers(layers))]
    const made = isUnique ? unlike(taken, schemas, inside, shop) : shop.make(schemas, inside)
    if (!made) return items.length >= leastItems(layers) && demands.length === 0 ? { value: items } : undefined
    if (isUnique) taken.add(canonical(made.value))
    items.push(made.value)
  }
  return { value: items }
}

/** What must be among the items: one list of schemas for each such item. */
function demandsOf(layers: Layers, attempt: number): readonly (readonly NormalizedSchema[])[] {
  const demanded = layers.flatMap(({ contains, minContains = 1, maxContains = Number.POSITIVE_INFINITY }) => {
    if (contains === undefined) return []
    if (minContains > MOST_ITEMS) throw tooMany(minContains)
    return minContains > maxContains ? [] : Array.from({ length: minContains }, () => [contains])
  })
  // One item can be what two layers ask for.
  return attempt % 3 === 2 && demanded.length > 1 ? [demanded.flat()] : demanded
}

/** Where the number of items of a kind is limited, the other items must not be of it. */
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

/** Where the first item stands that cannot be. */
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

/** All that the schema says of the item at this index. */
function itemSchemas(layers: Layers, index: number): readonly NormalizedSchema[] {
  const says = layers.some(({ items }) => items !== undefined)
  return layers.flatMap(layer => {
    const { items, additionalItems, unevaluatedItems } = layer
    const own = prefixOf(layer)[index]
    if (own !== undefined) return [own]
    if (Array.isArray(items)) return additionalItems === undefined ? [] : [additionalItems]
    if (items !== undefined) return [items as NormalizedSchema]
    const isOpen = !says && index >= prefixLength(layers)
    return unevaluatedItems !== undefined && isOpen ? [unevaluatedItems] : []
  })
}

/** An item that is not taken yet: drawn a few times, and then from a list of all there are. */
function unlike(
  taken: ReadonlySet<string>,
  schemas: readonly NormalizedSchema[],
  place: SchemaPlace,
  shop: ValueMaker,
): GeneratedValue | undefined {
  for (let attempt = 0; attempt < UNIQUE_TRIES; attempt++) {
    const made = shop.make(schemas, place)
    if (!made) return undefined
    if (!taken.has(canonical(made.value))) return made
  }
  const layers = shop.expand(schemas, place, 0)
  if (!layers) return undefined
  for (const value of allOf(layers, taken.size)) {
    if (!taken.has(canonical(value)) && shop.document.fits(value, schemas)) return { value }
  }
  return undefined
}

/** Values of a small kind, one after another. */
function* allOf(layers: Layers, taken: number): Generator<JsonValue> {
  for (const { const: only, enum: listed = [] } of layers) {
    yield* listed
    if (only !== undefined) yield only
  }
  const types = typesOf(layers)
  if (types.includes('boolean')) yield* [true, false]
  if (types.includes('null')) yield null
  if (types.includes('integer')) yield* wholeNumbers(layers, 20 * taken + 1000)
  // Whatever its letters are, a number makes a text different.
  if (types.includes('string')) for (let count = 0; count <= taken; count++) yield* [`${count}`, `item ${count}`]
}

/** The same text for the same value, in whatever order its keys stand. */
function canonical(value: JsonValue): string {
  return JSON.stringify(value, (_, inner: JsonValue) =>
    isObject(inner) ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1))) : inner,
  )
}
