/** Makes a value for one place after another: chooses a type, hands on to whoever makes values of it, and tries again. */
import type { Faker } from '../fake.js'
import { makeArray } from './arrays.js'
import type { SchemaDocument } from './document.js'
import { chanceOfYes, typeNamed } from './field-names.js'
import { createExpand, nullChance, typesOf } from './layers.js'
import { fixedValues, suggestions } from './named-values.js'
import { makeNumber } from './numbers.js'
import { makeObject } from './objects.js'
import type { Layers, Made, Place, Workshop } from './place.js'
import type { Json, Schema, SchemaObject, TypeName } from './schema.js'
import { makeText } from './texts.js'

/** So often one place of a candidate is tried. */
const ATTEMPTS = 18

/** Below this depth, and after this many steps, as little as possible is made. */
const DEEP = 12
const MANY_STEPS = 4000

/** Nothing is made below this depth; the stack ends not far from it. */
const DEEPEST = 500

/** What is tried where schemas exclude so much that nothing sensible was found. */
const plainValues: readonly Json[] = [
  ...[null, false, true, 0, 1, -1, 0.5, '', 'a', [], {}, [null], [0], ['a'], [[]], [{}]],
  ...[{ a: null }, { a: 0 }, { a: 'a' }, { a: [] }, { a: {} }],
]

/** Counts the steps of a candidate. */
export interface Budget {
  readonly total: number
  spend(): boolean
  spent(): number
}

/** Makes the function that makes values; one for each candidate. */
export function createMake(document: SchemaDocument, faker: Faker, budget: Budget): Workshop['make'] {
  const expand = createExpand(faker, document)
  /** How often each schema is around what is being made. */
  const around = new Map<SchemaObject, number>()
  /** Schemas of which there is no value, found out the hard way. */
  const hopeless = new Set<Schema>()
  const shop: Workshop = { faker, document, expand, make }

  function make(schemas: readonly Schema[], place: Place): Made | undefined {
    const said = schemas.filter(schema => schema !== true)
    if (place.depth > DEEPEST || said.some(schema => hopeless.has(schema))) return undefined
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (!budget.spend()) return undefined
      const layers = expand(said, place, attempt)
      const made = layers && makeFrom(layers, place, attempt)
      if (made && (!isIntricate(layers) || document.fits(made.value, said))) return made
    }
    const plain = plainValues.find(value => document.fits(value, said))
    if (plain !== undefined) return { value: plain }
    const [only] = said
    if (said.length === 1 && only !== undefined) hopeless.add(only)
    return undefined
  }

  function makeFrom(layers: Layers, place: Place, attempt: number): Made | undefined {
    const fixed = fixedValues(layers)
    if (fixed) return choose(fixed, layers, place)
    const suggested = attempt < 2 && suggestions(layers)
    const taken = suggested && suggested.length > 0 ? choose(suggested, layers, place) : undefined
    if (taken) return taken
    const type = typeFor(layers, place, attempt)
    return type === undefined ? undefined : makeOf(type, layers, place, attempt)
  }

  /** One of these values that fits. */
  function choose(values: readonly Json[], layers: Layers, place: Place): Made | undefined {
    const wantsNull = faker.datatype.boolean(place.shallow ? 1 : nullChance(place))
    const start = faker.number.int(Math.max(0, values.length - 1))
    const turned = [...values.slice(start), ...values.slice(0, start)]
    const inOrder = [
      ...turned.filter(v => (v === null) === wantsNull),
      ...turned.filter(v => (v === null) !== wantsNull),
    ]
    const value = inOrder.find(value => document.fits(value, layers))
    return value === undefined ? undefined : { value }
  }

  function typeFor(layers: Layers, place: Place, attempt: number): TypeName | undefined {
    const possible = typesOf(layers)
    const isTyped = layers.some(({ type }) => type !== undefined)
    // Without a type there is always something without an inside.
    const free = place.shallow ? possible : [typeExpected(layers, place)]
    const expected = isTyped ? withoutIntegers(possible, layers) : free
    const types = expected.filter(type => possible.includes(type))
    const some = types.length > 0 && (isTyped || attempt < ATTEMPTS / 2) ? types : possible
    if (some.length < 2) return some[0]
    if (place.shallow && attempt < some.length) return some[attempt]
    const others = some.filter(type => type !== 'null')
    if (some.includes('null') && faker.datatype.boolean(nullChance(place))) return 'null'
    return faker.helpers.arrayElement(others)
  }

  function makeOf(type: TypeName, layers: Layers, place: Place, attempt: number): Made | undefined {
    switch (type) {
      case 'null':
        return { value: null }
      case 'boolean':
        return { value: faker.datatype.boolean(chanceOfYes(place.name)) }
      case 'integer':
      case 'number':
        return makeNumber(layers, place.name, type, faker)
      case 'string':
        return makeText(layers, place, faker, text => document.fits(text, layers))
      case 'array':
        return within(layers, place, inside => makeArray(layers, inside, attempt, shop))
      case 'object':
        return within(layers, place, inside => makeObject(layers, inside, attempt, shop))
    }
  }

  /** Remembers what is around while something inside is made: what repeats itself comes to an end. */
  function within(layers: Layers, place: Place, work: (inside: Place) => Made | undefined): Made | undefined {
    const again = Math.max(0, ...layers.map(layer => around.get(layer) ?? 0))
    const shallow = place.shallow || again >= 2 || place.depth >= DEEP || budget.spent() > MANY_STEPS
    for (const layer of layers) around.set(layer, (around.get(layer) ?? 0) + 1)
    const made = work({ ...place, again, shallow })
    for (const layer of layers) around.set(layer, (around.get(layer) ?? 1) - 1)
    return made
  }

  return make
}

/** Keywords of which only a look at the whole value tells whether they hold. */
const isIntricate = (layers: Layers) =>
  layers.some(
    layer =>
      layer.not !== undefined ||
      layer.oneOf !== undefined ||
      layer.if !== undefined ||
      layer.contains !== undefined ||
      layer.dependentSchemas !== undefined ||
      layer.unevaluatedItems !== undefined ||
      layer.unevaluatedProperties !== undefined,
  )

/** A whole number is one of the numbers; it is only a type of its own where somebody says so. */
const withoutIntegers = (types: readonly TypeName[], layers: Layers) =>
  types.includes('number') && !layers.some(({ type }) => type?.includes('integer'))
    ? types.filter(type => type !== 'integer')
    : types

const keywordsOf: readonly (readonly [TypeName, readonly (keyof SchemaObject)[]])[] = [
  ['object', ['properties', 'required', 'additionalProperties', 'patternProperties', 'minProperties', 'propertyNames']],
  ['array', ['items', 'prefixItems', 'minItems', 'maxItems', 'contains', 'uniqueItems']],
  ['string', ['pattern', 'loosePattern', 'format', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
]

/** The type that the keywords are about, or the name is. */
function typeExpected(layers: Layers, { name }: Place): TypeName {
  const about = keywordsOf.find(([, keywords]) => layers.some(layer => keywords.some(key => layer[key] !== undefined)))
  return about?.[0] ?? typeNamed(name)
}
