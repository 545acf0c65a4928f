/**
 * Generates a value for a schema: draws candidates until one validates. Written by hand, since json-schema-faker fills in
 * keywords without checking the result: of ten schemas with `not`, `if`, `oneOf`, two patterns or narrow bounds, seven got
 * values that do not fit.
 */

import {
  type JsonValue,
  type NormalizedSchema,
  type SchemaObject,
  type TypeName,
  UnfitSchema,
} from '../../check/json-schema-form.js'
import type { Faker } from '../fake.js'
import { makeArray } from './arrays.js'
import { readDocument, type SchemaDocument } from './document.js'
import { chanceOfYes, typeNamed } from './field-names.js'
import { makeNumber } from './numbers.js'
import { makeObject } from './objects.js'
import {
  drawPerson,
  each,
  expand,
  type GeneratedValue,
  type Layers,
  nullChance,
  type SchemaPlace,
  typesOf,
  type ValueMaker,
  wordsOf,
} from './place.js'
import { makeText } from './texts.js'

/** The maximum number of candidates. */
const CANDIDATES = 40

/** The maximum number of steps for one candidate, and for all of them. */
const CANDIDATE_STEPS = 60_000
const ALL_STEPS = 120_000

/** Generates a value for `schema`, whose name is `called` if it has one. Throws an UnfitSchema if none was found. */
export function sampleOf(schema: unknown, faker: Faker, seed: number, called: string): JsonValue {
  const document = documentOf(schema)
  const { root } = document
  document.restart()
  if (document.height(root) === Number.POSITIVE_INFINITY) throw new UnfitSchema('no value fits the schema')
  const title = typeof root === 'object' ? root.title : undefined
  const place = {
    name: wordsOf(called || (title ?? '')),
    around: '',
    person: () => drawPerson(faker),
    depth: 0,
    again: 0,
  }
  let stepsLeft = ALL_STEPS
  let hopeless = new Set<NormalizedSchema>()
  for (let candidate = 0; candidate < CANDIDATES && stepsLeft > 0; candidate++) {
    // Knuth's multiplier, so that neighbouring seeds do not share candidates.
    faker.seed((seed + Math.imul(candidate, 2_654_435_761)) | 0)
    const budget: Budget = { total: Math.min(stepsLeft, CANDIDATE_STEPS), spent: 0 }
    hopeless = new Set()
    const make = createMake(document, faker, budget, hopeless)
    const made = make([root], { ...place, shallow: candidate % 4 === 3 || budget.total < CANDIDATE_STEPS })
    if (made && document.fits(made.value, [root])) return made.value
    stepsLeft -= budget.spent
  }
  // The innermost schema that fits nothing was added first.
  const [first = root] = hopeless
  throw new UnfitSchema(`no value that fits ${document.nameOf(first)} was found${stepsLeft > 0 ? '' : ' within reach'}`)
}

/** Reading a large schema takes longer than most samples of it. */
const documents = new WeakMap<object, SchemaDocument>()

function documentOf(schema: unknown): SchemaDocument {
  if (typeof schema !== 'object' || schema === null) return readDocument(schema)
  const document = documents.get(schema) ?? readDocument(schema)
  documents.set(schema, document)
  return document
}

/** The allowed values, if they are listed. */
function fixedValues(layers: Layers): readonly JsonValue[] | undefined {
  const [only] = each(layers, layer => layer.const)
  if (only !== undefined) return [only]
  return each(layers, layer => layer.enum).toSorted((a, b) => a.length - b.length)[0]
}

/** Values that the schema's author has named: examples, a meaningful default, or "e.g." in a description. */
function suggestions(layers: Layers): readonly JsonValue[] {
  const examples = each(layers, layer => layer.examples).flat()
  if (examples.length > 0) return examples
  const defaults = each(layers, layer => layer.default).filter(value => !isEmpty(value))
  if (defaults.length > 0) return defaults
  return each(layers, ({ description }) => description).flatMap(exampleIn)
}

const isEmpty = (value: JsonValue) =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

/** For example `San Francisco, CA` in "The city and state, e.g. San Francisco, CA". */
function exampleIn(description: string): readonly string[] {
  const [, quoted, bare] =
    /\be\.g\.,? (?:["'`]([^"'`]{1,80})["'`]|([^"'`()]{1,60}?)\s*(?:\)|\.?$))/.exec(description) ?? []
  const example = quoted ?? bare
  return example === undefined || / or | etc/.test(example) ? [] : [example]
}

/** How often one place of a candidate is tried. */
const ATTEMPTS = 18

/** Below this depth, and after this many steps, as little as possible is generated. */
const DEEP = 12
const MANY_STEPS = 4000

/** Nothing is generated below this depth, which is close to the limit of the stack. */
const DEEPEST = 500

/** Fallback values if schemas exclude everything typical. */
const plainValues: readonly JsonValue[] = [
  ...[null, false, true, 0, 1, -1, 0.5, '', 'a', [], {}, [null], [0], ['a'], [[]], [{}]],
  ...[{ a: null }, { a: 0 }, { a: 'a' }, { a: [] }, { a: {} }],
]

/** The steps of a candidate. */
interface Budget {
  readonly total: number
  spent: number
}

/**
 * Creates the function that generates values. Each candidate has its own. Schemas for which no value was found are
 * added to `hopeless`.
 */
function createMake(
  document: SchemaDocument,
  faker: Faker,
  budget: Budget,
  hopeless: Set<NormalizedSchema>,
): ValueMaker['make'] {
  const nested = createNesting(budget)
  const maker: ValueMaker = { faker, document, make }

  function make(schemas: readonly NormalizedSchema[], place: SchemaPlace): GeneratedValue | undefined {
    const constraints = schemas.filter(schema => schema !== true)
    if (place.depth > DEEPEST || constraints.some(schema => hopeless.has(schema))) return undefined
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (++budget.spent > budget.total) return undefined
      const layers = expand(constraints, place, attempt, maker)
      const made = layers && makeFrom(layers, place, attempt)
      if (made && (!isIntricate(layers) || document.fits(made.value, constraints))) return made
    }
    const plain = plainValues.find(value => document.fits(value, constraints))
    if (plain !== undefined) return { value: plain }
    const [only] = constraints
    if (constraints.length === 1 && only !== undefined) hopeless.add(only)
    return undefined
  }

  function makeFrom(layers: Layers, place: SchemaPlace, attempt: number): GeneratedValue | undefined {
    const fixed = fixedValues(layers)
    if (fixed) return choose(fixed, layers, place, maker)
    const suggested = attempt < 2 ? suggestions(layers) : []
    const taken = suggested.length > 0 ? choose(suggested, layers, place, maker) : undefined
    if (taken) return taken
    const type = typeFor(layers, place, attempt, faker)
    if (type === 'array') return nested(layers, place, inside => makeArray(layers, inside, attempt, maker))
    if (type === 'object') return nested(layers, place, inside => makeObject(layers, inside, attempt, maker))
    return type && makePlain(type, layers, place, maker)
  }

  return make
}

/** Tracks the schemas around a place, so that recursion ends. */
function createNesting(budget: Budget) {
  /** How often each schema surrounds the current place. */
  const around = new Map<SchemaObject, number>()
  return (
    layers: Layers,
    place: SchemaPlace,
    work: (inside: SchemaPlace) => GeneratedValue | undefined,
  ): GeneratedValue | undefined => {
    const again = Math.max(0, ...layers.map(layer => around.get(layer) ?? 0))
    const shallow = place.shallow || again >= 2 || place.depth >= DEEP || budget.spent > MANY_STEPS
    for (const layer of layers) around.set(layer, (around.get(layer) ?? 0) + 1)
    const made = work({ ...place, again, shallow })
    for (const layer of layers) around.set(layer, (around.get(layer) ?? 1) - 1)
    return made
  }
}

/** One of these values that fits. */
function choose(
  values: readonly JsonValue[],
  layers: Layers,
  place: SchemaPlace,
  { faker, document }: ValueMaker,
): GeneratedValue | undefined {
  const wantsNull = faker.datatype.boolean(place.shallow ? 1 : nullChance(place))
  const start = faker.number.int(Math.max(0, values.length - 1))
  const rotated = [...values.slice(start), ...values.slice(0, start)]
  const inOrder = [
    ...rotated.filter(v => (v === null) === wantsNull),
    ...rotated.filter(v => (v === null) !== wantsNull),
  ]
  const value = inOrder.find(value => document.fits(value, layers))
  return value === undefined ? undefined : { value }
}

function typeFor(layers: Layers, place: SchemaPlace, attempt: number, faker: Faker): TypeName | undefined {
  const possible = typesOf(layers)
  const isTyped = layers.some(({ type }) => type !== undefined)
  // Without a type, there is always a value without nested ones.
  const untyped = place.shallow ? possible : [typeExpected(layers, place)]
  const expected = isTyped ? withoutIntegers(possible, layers) : untyped
  const types = expected.filter(type => possible.includes(type))
  const choices = types.length > 0 && (isTyped || attempt < ATTEMPTS / 2) ? types : possible
  if (choices.length < 2) return choices[0]
  if (place.shallow && attempt < choices.length) return choices[attempt]
  const others = choices.filter(type => type !== 'null')
  if (choices.includes('null') && faker.datatype.boolean(nullChance(place))) return 'null'
  return faker.helpers.arrayElement(others)
}

/** Generates a value that is neither an object nor an array. */
function makePlain(
  type: Exclude<TypeName, 'array' | 'object'>,
  layers: Layers,
  place: SchemaPlace,
  { faker, document }: ValueMaker,
): GeneratedValue | undefined {
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
  }
}

/** Keywords that can only be checked on the whole value. */
const intricate: readonly (keyof SchemaObject)[] = [
  ...(['not', 'oneOf', 'if', 'contains', 'dependentSchemas'] as const),
  ...(['unevaluatedItems', 'unevaluatedProperties'] as const),
]
const isIntricate = (layers: Layers) => layers.some(layer => intricate.some(keyword => layer[keyword] !== undefined))

/** Whole numbers are numbers. `integer` is a separate type only if a schema names it. */
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

/** The type that the keywords, or else the name, suggest. */
function typeExpected(layers: Layers, { name }: SchemaPlace): TypeName {
  const about = keywordsOf.find(([, keywords]) => layers.some(layer => keywords.some(key => layer[key] !== undefined)))
  return about?.[0] ?? typeNamed(name)
}
