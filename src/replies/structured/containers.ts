/** Generates objects and arrays: what their schemas require, and a little of what they allow. */

import { compiled } from '../../check/expressions.js'
import type { JsonValue, NormalizedSchema, SchemaObject } from '../../check/json-schema-form.js'
import { UnfitSchema } from '../../check/unfit-schema.js'
import { isObject } from '../../core/json.js'
import { wordsOf } from './scalars.js'
import {
  each,
  type GeneratedValue,
  greatest,
  type Layers,
  nullChance,
  type SchemaPlace,
  smallest,
  type ValueMaker,
} from './schemas.js'

/** Objects and arrays that must have more entries than this are not generated. */
const MOST_ENTRIES = 5000

/** How likely an optional property is included, by attempt: usually most are, and if that did not fit, none or all. */
const OPTIONAL_CHANCES = [undefined, undefined, 0.5, 0, 1, 0.3] as const

/** Generates an object for these layers; `undefined` if none was found. */
export function makeObject(
  layers: Layers,
  place: SchemaPlace,
  attempt: number,
  maker: ValueMaker,
): GeneratedValue | undefined {
  const chosen = chooseKeys(layers, place, attempt, maker)
  if (!chosen) return undefined
  const { keys, required, least, most } = chosen
  if (least > MOST_ENTRIES) throw new UnfitSchema(`no value fits the schema: an object would need ${least} properties`)
  const entries = new Map<string, JsonValue>()
  const inside: SchemaPlace = { ...place, ancestors: [...place.ancestors, layers.at(-1)] }
  for (const key of keys) {
    const entry = maker.make(schemasOf(layers, key), { ...inside, name: wordsOf(key) })
    if (entry) entries.set(key, entry.value)
    else if (required.has(key)) return undefined
  }
  addEntries(entries, layers, chosen, { ...inside, name: place.name }, maker)
  if (entries.size < least || entries.size > most) return undefined
  return { value: Object.fromEntries(entries) }
}

interface ObjectShape {
  /** In the order in which they are declared. */
  readonly keys: ReadonlySet<string>
  readonly required: ReadonlySet<string>
  readonly least: number
  readonly most: number
}

/** Chooses the properties. A property can require others. */
function chooseKeys(layers: Layers, place: SchemaPlace, attempt: number, maker: ValueMaker): ObjectShape | undefined {
  const least = greatest(layers, ({ minProperties }) => minProperties, 0)
  const most = smallest(layers, ({ maxProperties }) => maxProperties, Number.POSITIVE_INFINITY)
  const required = new Set(layers.flatMap(({ required = [] }) => required))
  const declared = layers.flatMap(({ properties = {} }) => Object.keys(properties))
  const chance =
    place.shallow && attempt < 3 ? 0 : (OPTIONAL_CHANCES[attempt % OPTIONAL_CHANCES.length] ?? 1 - nullChance(place))
  const optional = declared.filter(key => !required.has(key) && isPossible(layers, key, maker))
  const wanted = optional.filter(() => maker.faker.datatype.boolean(chance))
  // At least the minimum number of properties and at most the maximum, if possible.
  const inOrder = [...wanted, ...optional.slice(0, Math.max(0, least - required.size - wanted.length))]
  const taken = new Set([...required, ...inOrder.slice(0, Math.max(0, most - required.size))])
  // Iterating over a set also visits what is added during the iteration.
  for (const key of taken) {
    const also = each(layers, ({ dependentRequired = {} }) =>
      Object.hasOwn(dependentRequired, key) ? dependentRequired[key] : undefined,
    )
    for (const one of also.flat()) {
      required.add(one)
      taken.add(one)
    }
  }
  if (required.size > most) return undefined
  const keys = new Set([...declared.filter(key => taken.has(key)), ...taken])
  return { keys, required, least, most }
}

const isPossible = (layers: Layers, key: string, { document }: ValueMaker) =>
  schemasOf(layers, key).every(schema => document.height(schema) !== Number.POSITIVE_INFINITY)

/** All schemas for a property with this name. */
function schemasOf(layers: Layers, key: string): readonly NormalizedSchema[] {
  const isDeclared = layers.some(({ properties = {} }) => Object.hasOwn(properties, key))
  return layers.flatMap(layer => {
    const { properties = {}, patternProperties = {}, additionalProperties, unevaluatedProperties } = layer
    const named = Object.hasOwn(properties, key) ? [properties[key] ?? true] : []
    const matched = Object.entries(patternProperties).filter(([pattern]) => compiled(pattern, 'u').test(key))
    const specific = [...named, ...matched.map(([, schema]) => schema)]
    if (specific.length > 0) return specific
    if (additionalProperties !== undefined) return [additionalProperties]
    return unevaluatedProperties !== undefined && !isDeclared ? [unevaluatedProperties] : []
  })
}

/** Adds entries that are not declared: as many as needed, and to a map a few that show its purpose. */
function addEntries(
  entries: Map<string, JsonValue>,
  layers: Layers,
  { keys, least, most }: ObjectShape,
  place: SchemaPlace,
  maker: ValueMaker,
) {
  const names = each(layers, ({ propertyNames }) => propertyNames)
  const patterns = each(layers, ({ patternProperties }) => patternProperties).flatMap(Object.keys)
  // If a schema lists the names of a map, all are included, as in a record over an enum.
  const [listed] = each(names.filter(isObject) as Layers, schema => schema.enum)
  const isMap = patterns.length > 0 || layers.some(layer => isObject(layer.additionalProperties))
  const usual = listed?.length ?? (isMap ? maker.faker.number.int({ min: 1, max: 3 }) : 0)
  const size = Math.min(most, Math.max(least, keys.size === 0 && !place.shallow ? usual : 0))
  const like = patterns.map((pattern): NormalizedSchema => ({ pattern }))
  for (let attempt = 0; entries.size < size && attempt < 2 * size + 20; attempt++) {
    const name = [...names, ...like.slice(attempt % (like.length || 1)).slice(0, 1)]
    const word = listed?.[attempt] ?? maker.make([...name, { type: ['string'] }], { ...place, name: 'key' })?.value
    const key = [word, `${word}_${attempt}`].find(key => typeof key === 'string' && !entries.has(key))
    if (typeof key !== 'string' || !isPossible(layers, key, maker)) continue
    const entry = maker.make(schemasOf(layers, key), place)
    if (entry) entries.set(key, entry.value)
  }
}

/** Generates an array for these layers; `undefined` if none was found. */
export function makeArray(layers: Layers, place: SchemaPlace, maker: ValueMaker): GeneratedValue | undefined {
  const prefix = Math.max(0, ...layers.map(layer => prefixOf(layer).length))
  const contained = layers.flatMap(({ contains, minContains = 1 }) => (contains === undefined ? [] : [minContains]))
  const least = Math.max(
    ...contained,
    greatest(layers, ({ minItems }) => minItems, 0),
  )
  const most = smallest(layers, ({ maxItems }) => maxItems, Number.POSITIVE_INFINITY)
  if (least > MOST_ENTRIES) throw new UnfitSchema(`no value fits the schema: an array would need ${least} items`)
  if (least > most) return undefined
  const usual = prefix || maker.faker.number.int(place.ancestors.includes(layers.at(-1)) ? 2 : { min: 1, max: 3 })
  const length = place.shallow ? least : Math.min(most, Math.max(least, usual))
  const isUnique = layers.some(({ uniqueItems }) => uniqueItems)
  const items: JsonValue[] = []
  const taken = new Set<string>()
  for (let index = 0; index < length; index++) {
    const demanded = each(layers, ({ contains, minContains = 1 }) => (index < minContains ? contains : undefined))
    const schemas = [...itemSchemas(layers, index, prefix), ...demanded]
    const inside: SchemaPlace = { ...place, ancestors: [...place.ancestors, layers.at(-1)] }
    const item = newItem(isUnique ? taken : new Set(), schemas, inside, maker)
    if (!item) return items.length >= least ? { value: items } : undefined
    taken.add(JSON.stringify(item.value))
    items.push(item.value)
  }
  return { value: items }
}

const prefixOf = ({ prefixItems, items }: SchemaObject): readonly NormalizedSchema[] =>
  prefixItems ?? (Array.isArray(items) ? (items as readonly NormalizedSchema[]) : [])

function itemSchemas(layers: Layers, index: number, prefix: number): readonly NormalizedSchema[] {
  const hasItems = layers.some(({ items }) => items !== undefined)
  return layers.flatMap(layer => {
    const { items, additionalItems, unevaluatedItems } = layer
    const found = prefixOf(layer)[index] ?? (Array.isArray(items) ? additionalItems : (items as NormalizedSchema))
    if (found !== undefined) return [found]
    return unevaluatedItems !== undefined && !hasItems && index >= prefix ? [unevaluatedItems] : []
  })
}

/** How often a unique item is drawn before the array ends. */
const UNIQUE_TRIES = 30

/** An item that is none of those that are taken. */
function newItem(
  taken: ReadonlySet<string>,
  schemas: readonly NormalizedSchema[],
  place: SchemaPlace,
  maker: ValueMaker,
): GeneratedValue | undefined {
  for (let attempt = 0; attempt < UNIQUE_TRIES; attempt++) {
    const made = maker.make(schemas, place)
    if (!made || taken.size === 0 || !taken.has(JSON.stringify(made.value))) return made
  }
  return undefined
}
