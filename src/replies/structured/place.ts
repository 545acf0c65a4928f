/** A position inside a value, and the schemas that apply there. */

import {
  type JsonValue,
  type NormalizedSchema,
  type SchemaObject,
  type TypeName,
  typeNames,
} from '../../check/json-schema-form.js'
import type { Faker } from '../fake.js'
import type { SchemaDocument } from './document.js'

/** The person that the fields of one object are about, so that its name and its address belong together. */
export type MadeUpPerson = ReturnType<typeof drawPerson>

export const drawPerson = (faker: Faker) => ({
  first: faker.person.firstName(),
  last: faker.person.lastName(),
})

export interface SchemaPlace {
  /** The name of the field in lower case, with spaces between its words. */
  readonly name: string
  /** The context of the field: the name of the surrounding object, and those of its siblings. */
  readonly around: string
  readonly person: () => MadeUpPerson
  readonly depth: number
  /** How often the same schema already surrounds it. */
  readonly again: number
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

/** `firstName`, `first_name` and `First name` are all `first name`. */
export const wordsOf = (key: string) =>
  key
    .slice(0, 100)
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/[^\p{L}\d]+/gu, ' ')
    .trim()
    .toLowerCase()

/** The singular of a name: `postal address` for `postal addresses`. */
export function singular(words: string): string {
  if (/(ss|us|is|news|data|address)$/.test(words)) return words
  if (/ies$/.test(words)) return words.replace(/ies$/, 'y')
  if (/people$/.test(words)) return words.replace(/people$/, 'person')
  if (/children$/.test(words)) return words.replace(/children$/, 'child')
  return /(ss|x|ch|sh)es$/.test(words) ? words.slice(0, -2) : words.replace(/s$/, '')
}

/** How often a nullable value is null: at the top level, and inside a recursive schema. */
const NULL_CHANCE = 0.12
const NULL_CHANCE_AGAIN = 0.5

export const nullChance = ({ again }: SchemaPlace) => (again === 0 ? NULL_CHANCE : NULL_CHANCE_AGAIN)

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
  const layers = new Set<SchemaObject>()
  /** One of several alternatives. */
  function branchOf(branches: readonly NormalizedSchema[]): NormalizedSchema {
    const possible = branches.filter(branch => height(branch) !== Number.POSITIVE_INFINITY)
    const [first = false] = possible
    if (possible.length < 2) return first
    if (place.shallow && attempt < possible.length) {
      return possible.toSorted((a, b) => height(a) - height(b))[attempt] ?? first
    }
    const [empty, rest] = [possible.filter(isNull), possible.filter(branch => !isNull(branch))]
    const usual = rest.length > 0 && empty.length > 0 && !faker.datatype.boolean(nullChance(place)) ? rest : possible
    return faker.helpers.arrayElement(usual)
  }
  /** Adds a schema and those that must hold with it. Returns false if one of them is `false`. */
  function add(schema: NormalizedSchema): boolean {
    if (typeof schema === 'boolean') return schema
    // A schema that was already visited adds nothing, and following it again might never end.
    if (layers.has(schema)) return true
    layers.add(schema)
    const { $ref, allOf = [], anyOf, oneOf } = schema
    if ($ref !== undefined && !add(target(schema))) return false
    if (!allOf.every(add)) return false
    if (anyOf && !add(branchOf(anyOf))) return false
    if (oneOf && !add(branchOf(oneOf))) return false
    if (schema.if === undefined) return true
    const holds = faker.datatype.boolean(0.65)
    return holds ? add(schema.if) && add(schema.then ?? true) : add(schema.else ?? true)
  }
  return schemas.every(add) && !isHopeless([...layers]) ? [...layers] : undefined
}

const isNull = (schema: NormalizedSchema) =>
  typeof schema === 'object' && ((schema.type?.length === 1 && schema.type[0] === 'null') || schema.const === null)

const isHopeless = (layers: Layers) => layers.some(({ type }) => type !== undefined) && typesOf(layers).length === 0

/** The types that all layers allow. */
export function typesOf(layers: Layers): readonly TypeName[] {
  return typeNames.filter(name =>
    layers.every(({ type, not }) => {
      if (type && !allows(type, name)) return false
      return !(typeof not === 'object' && isTypeAlone(not) && not.type && allows(not.type, name))
    }),
  )
}

const allows = (types: readonly TypeName[], name: TypeName) =>
  types.includes(name) || (name === 'integer' && types.includes('number'))

const isTypeAlone = (schema: SchemaObject) => Object.keys(schema).every(key => key === 'type')

/** The largest value of a bound, or `without` if there is none. */
export const greatest = (layers: Layers, bound: (layer: SchemaObject) => number | undefined, without: number) =>
  layers.reduce((sum, layer) => Math.max(sum, bound(layer) ?? without), without)

/** The smallest value of a bound, or `without` if there is none. */
export const smallest = (layers: Layers, bound: (layer: SchemaObject) => number | undefined, without: number) =>
  layers.reduce((sum, layer) => Math.min(sum, bound(layer) ?? without), without)

/** The values of a keyword in the layers that have it. */
export const each = <T>(layers: Layers, keyword: (layer: SchemaObject) => T | undefined): readonly T[] =>
  layers.map(keyword).filter(value => value !== undefined)
