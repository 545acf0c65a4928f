/**
 * Generates a value for a schema: draws candidates until one validates. Written by hand, since json-schema-faker fills in
 * keywords without checking the result: of ten schemas with `not`, `if`, `oneOf`, two patterns or narrow bounds, seven got
 * values that do not fit.
 */

import { TooManySteps } from '../../check/json-schema.js'
import type { JsonValue, NormalizedSchema, TypeName } from '../../check/json-schema-form.js'
import { UnfitSchema } from '../../check/unfit-schema.js'
import type { Faker } from '../fake.js'
import { makeArray, makeObject } from './containers.js'
import { numberCandidates, textCandidates, wordsOf } from './scalars.js'
import {
  each,
  expand,
  type GeneratedValue,
  type Layers,
  nullChance,
  readSchema,
  type SchemaDocument,
  type SchemaPlace,
  typesOf,
  type ValueMaker,
} from './schemas.js'

const CANDIDATES = 40

/** The steps that one candidate may take, and all of them: about half a second's work. */
const CANDIDATE_STEPS = 60_000
const ALL_STEPS = 120_000

/** How often one place of a candidate is tried. */
const ATTEMPTS = 18

/** Below this depth, and after this many steps, as little as possible is generated. */
const DEEP = 12
const MANY_STEPS = 4000

/** Nothing is generated below this depth, which is close to the limit of the stack. */
const DEEPEST = 500

export interface Wanted {
  readonly seed: number
  /** The name of the value; empty if it has none. */
  readonly name: string
  /** Whether as little as possible is generated. */
  readonly isSmall: boolean
}

/** Generates a value for `schema`. Throws an UnfitSchema if none was found. */
export function sampleOf(schema: unknown, faker: Faker, { seed, name: called, isSmall }: Wanted): JsonValue {
  const document = documentOf(schema)
  const { root, budget } = document
  budget.left = ALL_STEPS
  if (document.height(root) === Number.POSITIVE_INFINITY) throw new UnfitSchema('no value fits the schema')
  const title = typeof root === 'object' ? root.title : undefined
  const place = { name: wordsOf(called || (title ?? '')), ancestors: [] }
  let hopeless = new Set<NormalizedSchema>()
  for (let candidate = 0; candidate < CANDIDATES; candidate++) {
    // Knuth's multiplier, so that neighbouring seeds do not share candidates.
    faker.seed((seed + Math.imul(candidate, 2_654_435_761)) | 0)
    hopeless = new Set()
    const made = createMake(document, faker, hopeless)([root], { ...place, shallow: isSmall || candidate % 4 === 3 })
    if (made && document.fits(made.value, [root])) return made.value
  }
  // The innermost schema that fits nothing was added first.
  const [first = root] = hopeless
  throw new UnfitSchema(`no value that fits ${document.nameOf(first)} was found`)
}

/** Reading a large schema takes longer than most samples of it. */
const documents = new WeakMap<object, SchemaDocument>()

function documentOf(schema: unknown): SchemaDocument {
  if (typeof schema !== 'object' || schema === null) return readSchema(schema)
  const document = documents.get(schema) ?? readSchema(schema)
  documents.set(schema, document)
  return document
}

/** Fallback values if schemas exclude everything typical. */
const plainValues: readonly JsonValue[] = JSON.parse(
  '[null,false,true,0,1,-1,0.5,"","a",[],{},[null],[0],["a"],[[]],[{}],{"a":null},{"a":0},{"a":"a"},{"a":[]},{"a":{}}]',
)

/**
 * Creates the function that generates values. Each candidate has its own. Schemas for which no value was found are
 * added to `hopeless`.
 */
function createMake(document: SchemaDocument, faker: Faker, hopeless: Set<NormalizedSchema>): ValueMaker['make'] {
  const maker: ValueMaker = { faker, document, make }
  const { budget } = document
  const start = budget.left

  function make(schemas: readonly NormalizedSchema[], place: SchemaPlace): GeneratedValue | undefined {
    const constraints = schemas.filter(schema => schema !== true)
    if (place.ancestors.length > DEEPEST || constraints.some(one => one === false || hopeless.has(one)))
      return undefined
    for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (budget.left-- <= 0) throw new TooManySteps('It takes too many steps.')
      if (start - budget.left > CANDIDATE_STEPS) return undefined
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
    const suggested = attempt < 2 ? choose(suggestions(layers), layers, place, maker) : undefined
    if (suggested) return suggested
    const type = typeFor(layers, place, attempt, faker)
    if (type !== 'array' && type !== 'object') return type && makeScalar(type, layers, place, maker)
    // Recursion ends where the same schema has surrounded the place twice.
    const schema = layers.at(-1)
    const again = place.ancestors.filter(one => one === schema).length
    const isLarge = place.ancestors.length >= DEEP || start - budget.left > MANY_STEPS
    const inside = { ...place, shallow: place.shallow || again >= 2 || isLarge }
    return type === 'array' ? makeArray(layers, inside, maker) : makeObject(layers, inside, attempt, maker)
  }

  return make
}

function fixedValues(layers: Layers): readonly JsonValue[] | undefined {
  const [only] = each(layers, layer => layer.const)
  if (only !== undefined) return [only]
  return each(layers, layer => layer.enum).toSorted((a, b) => a.length - b.length)[0]
}

/** Values that the schema's author has named: examples, or a meaningful default. */
function suggestions(layers: Layers): readonly JsonValue[] {
  const examples = each(layers, layer => layer.examples).flat()
  return examples.length > 0 ? examples : each(layers, layer => layer.default).filter(value => !isEmpty(value))
}

const isEmpty = (value: JsonValue) =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0)

function choose(
  values: readonly JsonValue[],
  layers: Layers,
  place: SchemaPlace,
  { faker, document }: ValueMaker,
): GeneratedValue | undefined {
  if (values.length === 0) return undefined
  const wantsNull = place.shallow || faker.datatype.boolean(nullChance(place))
  const isWanted = (value: JsonValue) => (value === null) === wantsNull
  const start = faker.number.int(values.length - 1)
  const inOrder = [...values.slice(start), ...values.slice(0, start)].toSorted(
    (a, b) => Number(isWanted(b)) - Number(isWanted(a)),
  )
  const value = inOrder.find(value => document.fits(value, layers))
  return value === undefined ? undefined : { value }
}

function typeFor(layers: Layers, place: SchemaPlace, attempt: number, faker: Faker): TypeName | undefined {
  const possible = typesOf(layers)
  const isTyped = layers.some(({ type }) => type !== undefined)
  // Without a type, there is always a value without nested ones.
  const untyped = place.shallow ? possible : [typeExpected(layers)]
  const types = (isTyped ? withoutIntegers(possible, layers) : untyped).filter(type => possible.includes(type))
  const choices = types.length > 0 && (isTyped || attempt < ATTEMPTS / 2) ? types : possible
  if (choices.length < 2) return choices[0]
  if (place.shallow && attempt < choices.length) return choices[attempt]
  if (choices.includes('null') && faker.datatype.boolean(nullChance(place))) return 'null'
  return faker.helpers.arrayElement(choices.filter(type => type !== 'null'))
}

/** Generates a value that is neither an object nor an array. */
function makeScalar(
  type: Exclude<TypeName, 'array' | 'object'>,
  layers: Layers,
  place: SchemaPlace,
  { faker, document }: ValueMaker,
): GeneratedValue | undefined {
  if (type === 'null') return { value: null }
  if (type === 'boolean') return { value: faker.datatype.boolean() }
  const candidates =
    type === 'string' ? textCandidates(layers, place, faker) : numberCandidates(layers, type === 'integer', faker)
  for (const value of candidates) if (document.fits(value, layers)) return { value }
  return undefined
}

/** Whether a keyword can only be checked on the whole value. */
const isIntricate = (layers: Layers) =>
  layers.some(({ not, oneOf, if: condition, contains, dependentSchemas, unevaluatedItems, unevaluatedProperties }) => {
    const whole = [not, oneOf, condition, contains, dependentSchemas, unevaluatedItems, unevaluatedProperties]
    return whole.some(keyword => keyword !== undefined)
  })

/** Whole numbers are numbers. `integer` is a separate type only if a schema names it. */
const withoutIntegers = (types: readonly TypeName[], layers: Layers) =>
  types.includes('number') && !layers.some(({ type }) => type?.includes('integer'))
    ? types.filter(type => type !== 'integer')
    : types

/** The type that the keywords suggest. */
function typeExpected(layers: Layers): TypeName {
  const keywords = layers.flatMap(Object.keys)
  const has = (pattern: RegExp) => keywords.some(keyword => pattern.test(keyword))
  if (has(/^(required|propertyNames|.*Properties|properties)$/)) return 'object'
  if (has(/^(items|prefixItems|minItems|maxItems|contains|uniqueItems)$/)) return 'array'
  return has(/^(minimum|maximum|exclusiveM.*|multipleOf)$/) ? 'number' : 'string'
}
