/** Generates objects: all required properties, most optional ones, and a few entries for maps. */

import { type JsonValue, type NormalizedSchema, UnfitSchema } from '../../check/json-schema-form.js'
import {
  drawPerson,
  each,
  expand,
  type GeneratedValue,
  greatest,
  type Layers,
  type MadeUpPerson,
  nullChance,
  type SchemaPlace,
  singular,
  smallest,
  type ValueMaker,
  wordsOf,
} from './place.js'

/** Objects that must have more entries than this are not generated. */
const MOST_ENTRIES = 5000

/** How likely an optional property is included, by attempt: usually most are, and if that did not fit, none or all. */
const OPTIONAL_CHANCES = [undefined, undefined, 0.5, 0, 1, 0.3] as const

/** Generates an object for these layers; `undefined` if none was found. */
export function makeObject(
  initial: Layers,
  place: SchemaPlace,
  attempt: number,
  maker: ValueMaker,
): GeneratedValue | undefined {
  const chosen = chooseKeys(initial, place, attempt, maker)
  if (!chosen) return undefined
  const { layers, keys, required, least, most } = chosen
  if (least > MOST_ENTRIES) throw new UnfitSchema(`no value fits the schema: an object would need ${least} properties`)
  const inside = insideOf(place, [...keys], maker)
  const entries = new Map<string, JsonValue>()
  for (const key of keys) {
    const entry = maker.make(schemasOf(layers, key), inside(key))
    if (entry) entries.set(key, entry.value)
    else if (required.has(key)) return undefined
  }
  addEntries(entries, chosen, place, maker)
  if (entries.size < least || entries.size > most) return undefined
  return { value: Object.fromEntries(entries) }
}

const sizesOf = (layers: Layers) => ({
  least: greatest(layers, ({ minProperties }) => minProperties, 0),
  most: smallest(layers, ({ maxProperties }) => maxProperties, Number.POSITIVE_INFINITY),
})

interface ObjectShape {
  readonly layers: Layers
  /** In the order in which they are declared. */
  readonly keys: ReadonlySet<string>
  readonly required: ReadonlySet<string>
  /** How many entries the object may have. */
  readonly least: number
  readonly most: number
}

/** Chooses the properties. A property can require others, and add schemas for the whole object. */
function chooseKeys(initial: Layers, place: SchemaPlace, attempt: number, maker: ValueMaker): ObjectShape | undefined {
  const decided = new Map<string, boolean>()
  const applied = new Set<string>()
  let layers = initial
  for (;;) {
    const required = requiredIn(layers)
    const keys = keysFor(layers, required, decided, place, attempt, maker)
    if (!keys) return undefined
    const dependent = each(layers, ({ dependentSchemas }) => dependentSchemas).flatMap(Object.entries<NormalizedSchema>)
    const due = dependent.filter(([key]) => keys.has(key) && !applied.has(key))
    if (due.length === 0) return { layers, keys, required, ...sizesOf(layers) }
    for (const [key] of due) applied.add(key)
    const more = expand([...layers, ...due.map(([, schema]) => schema)], place, attempt, maker)
    if (!more) return undefined
    layers = more
  }
}

function requiredIn(layers: Layers): ReadonlySet<string> {
  const required = new Set(layers.flatMap(({ required = [] }) => required))
  const dependent = each(layers, ({ dependentRequired }) => dependentRequired).flatMap(
    Object.entries<readonly string[]>,
  )
  // Iterating over a set also visits what is added during the iteration.
  for (const key of required) {
    for (const [when, keys] of dependent) if (when === key) for (const also of keys) required.add(also)
  }
  return required
}

function keysFor(
  layers: Layers,
  required: ReadonlySet<string>,
  decided: Map<string, boolean>,
  place: SchemaPlace,
  attempt: number,
  maker: ValueMaker,
): ReadonlySet<string> | undefined {
  const { least, most } = sizesOf(layers)
  if (required.size > most) return undefined
  const declared = new Set(layers.flatMap(({ properties = {} }) => Object.keys(properties)))
  for (const key of required) declared.add(key)
  const optional = [...declared].filter(key => !required.has(key) && isPossible(layers, key, maker))
  const chance =
    place.shallow && attempt < 3 ? 0 : (OPTIONAL_CHANCES[attempt % OPTIONAL_CHANCES.length] ?? 1 - nullChance(place))
  for (const key of optional) if (!decided.has(key)) decided.set(key, maker.faker.datatype.boolean(chance))
  const wanted = optional.filter(key => decided.get(key))
  const spare = optional.filter(key => !decided.get(key))
  // Together with the required ones, at most the maximum number and, if possible, at least the minimum.
  const taken = new Set([...wanted, ...spare.slice(0, Math.max(0, least - required.size - wanted.length))])
  const kept = new Set(withRequired([...taken], layers, required, most))
  return new Set([...declared].filter(key => required.has(key) || kept.has(key)))
}

/** The optional properties to keep, each with the properties that it requires, as long as there is room. */
function withRequired(optional: readonly string[], layers: Layers, required: ReadonlySet<string>, most: number) {
  const kept = new Set<string>()
  for (const key of optional) {
    const along = [...requiredIn([...layers, { required: [...kept, key] }])].filter(also => !required.has(also))
    if (along.length + required.size <= most) for (const also of along) kept.add(also)
  }
  return kept
}

/** Whether a property with this name is allowed. */
function isPossible(layers: Layers, key: string, { document }: ValueMaker): boolean {
  if (schemasOf(layers, key).some(schema => document.height(schema) === Number.POSITIVE_INFINITY)) return false
  if (each(layers, ({ not }) => not).some(not => forbids(not, key))) return false
  return document.fits(
    key,
    each(layers, ({ propertyNames }) => propertyNames),
  )
}

/** The usual way to forbid a property. */
const forbids = (not: NormalizedSchema, key: string) =>
  typeof not === 'object' && Object.keys(not).length === 1 && not.required?.length === 1 && not.required[0] === key

/** All schemas for a property with this name. */
function schemasOf(layers: Layers, key: string): readonly NormalizedSchema[] {
  const isDeclared = layers.some(({ properties }) => properties && Object.hasOwn(properties, key))
  return layers.flatMap(layer => {
    const { properties = {}, patternProperties = {}, additionalProperties, unevaluatedProperties } = layer
    const named = Object.hasOwn(properties, key) ? [properties[key] ?? true] : []
    const matched = Object.entries(patternProperties).filter(([pattern]) => new RegExp(pattern, 'u').test(key))
    const specific = [...named, ...matched.map(([, schema]) => schema)]
    if (specific.length > 0) return specific
    if (additionalProperties !== undefined) return [additionalProperties]
    return unevaluatedProperties !== undefined && !isDeclared ? [unevaluatedProperties] : []
  })
}

/** The places inside an object. */
function insideOf(place: SchemaPlace, keys: readonly string[], { faker }: ValueMaker): (key: string) => SchemaPlace {
  let shared: MadeUpPerson | undefined
  const person = () => {
    shared ??= drawPerson(faker)
    return shared
  }
  const around = [place.name, ...keys.slice(0, 30).map(wordsOf)].join(' ')
  return key => ({ ...place, name: wordsOf(key), around, person, depth: place.depth + 1 })
}

function addEntries(
  entries: Map<string, JsonValue>,
  { layers, keys, least, most }: ObjectShape,
  place: SchemaPlace,
  maker: ValueMaker,
) {
  // A map without named properties gets a few entries that show its purpose.
  const isMap = keys.size === 0
  const describesEntries = layers.some(
    ({ additionalProperties, patternProperties }) =>
      typeof additionalProperties === 'object' || Object.keys(patternProperties ?? {}).length > 0,
  )
  const listed = listedNames(layers)
  // If a schema lists the names of a map, all are included, as in a record over an enum.
  const usual = listed?.length ?? maker.faker.number.int({ min: 1, max: 3 })
  const some = isMap && (describesEntries || listed) && !place.shallow ? usual : 0
  const size = Math.min(most, Math.max(least, some))
  const inside = insideOf(place, [], maker)
  const name = singular(place.name)
  for (let attempt = 0; entries.size < size && attempt < 2 * size + 20; attempt++) {
    const word = listed?.[attempt] ?? newKey(layers, attempt, inside(''), maker)
    const key = [word, `${word}_${attempt}`, `${word}${attempt}`].find(
      key => key !== undefined && !entries.has(key) && isPossible(layers, key, maker),
    )
    if (word === undefined || key === undefined) continue
    const entry = maker.make(schemasOf(layers, key), { ...inside(key), name })
    if (entry) entries.set(key, entry.value)
  }
}

/** The names that entries may have, if they are listed. */
function listedNames(layers: Layers): readonly string[] | undefined {
  const names = each(layers, ({ propertyNames }) => propertyNames)
  const lists = names.flatMap(schema => (typeof schema === 'object' && schema.enum ? [schema.enum] : []))
  return lists[0]?.filter(name => typeof name === 'string')
}

/** A name for another entry: one that fits `propertyNames`, or a word. */
function newKey(layers: Layers, attempt: number, place: SchemaPlace, { make, faker }: ValueMaker): string | undefined {
  const names = each(layers, ({ propertyNames }) => propertyNames)
  const patterns = each(layers, ({ patternProperties }) => patternProperties).flatMap(Object.keys)
  const onlyPatterns = layers.some(({ additionalProperties }) => additionalProperties === false)
  const pattern = patterns[attempt % Math.max(1, patterns.length)]
  const like: NormalizedSchema[] = pattern !== undefined && (onlyPatterns || attempt % 2 === 0) ? [{ pattern }] : []
  if (names.length + like.length === 0) return faker.hacker.noun().replace(/\W+/g, '_')
  const key = make([...names, ...like, { type: ['string'] }], { ...place, name: 'label' })
  return typeof key?.value === 'string' ? key.value : undefined
}
