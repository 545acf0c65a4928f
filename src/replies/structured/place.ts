/** Where in a value something stands, and which schemas have to hold there. */

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
export interface MadeUpPerson {
  readonly first: string
  readonly last: string
}

export const drawPerson = (faker: Faker): MadeUpPerson => ({
  first: faker.person.firstName(),
  last: faker.person.lastName(),
})

export interface SchemaPlace {
  /** The name of the field in small letters, a space between its words. */
  readonly name: string
  /** The names that say what the field belongs to: of the object around it, and of its neighbours. */
  readonly around: string
  readonly person: () => MadeUpPerson
  readonly depth: number
  /** How often what is around it is made of the same schema as itself. */
  readonly again: number
  /** Whether as little as possible should stand here and below. */
  readonly shallow: boolean
}

/** A value that was made; without the box a missing one would look like null. */
export interface GeneratedValue {
  readonly value: JsonValue
}

/** The tools for making values. One set for each candidate. */
export interface ValueMaker {
  readonly faker: Faker
  readonly document: SchemaDocument
  /** Makes a value of all these schemas at once, or nothing where it finds none. */
  make(schemas: readonly NormalizedSchema[], place: SchemaPlace): GeneratedValue | undefined
  /** Chooses among alternatives; nothing where the schemas exclude one another. */
  expand(schemas: readonly NormalizedSchema[], place: SchemaPlace, attempt: number): Layers | undefined
}

/** Plain schemas that all have to hold: what is left when references and alternatives have been followed. */
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

/** How often a value that may be null is null: at the top of a value, and once it begins to repeat itself. */
const NULL_CHANCE = 0.12
const NULL_CHANCE_AGAIN = 0.5

/** Takes schemas apart into plain ones that all have to hold, choosing where there are alternatives. */
export const nullChance = ({ again }: SchemaPlace) => (again === 0 ? NULL_CHANCE : NULL_CHANCE_AGAIN)

/** Makes the function that takes schemas apart. `attempt` counts up when what came of a choice did not fit. */
export function createExpand(faker: Faker, { target, height }: SchemaDocument) {
  const branchOf = createBranchOf(faker, height)
  /** All that has to hold at once; nothing where `false` is among it. */
  return function expand(
    schemas: readonly NormalizedSchema[],
    place: SchemaPlace,
    attempt: number,
  ): Layers | undefined {
    const layers = new Set<SchemaObject>()
    const add = (schema: NormalizedSchema): boolean => {
      if (typeof schema === 'boolean') return schema
      // A schema that is met twice on the way says nothing new, and may be met without end.
      if (layers.has(schema)) return true
      layers.add(schema)
      const { $ref, allOf = [], anyOf, oneOf } = schema
      if ($ref !== undefined && !add(target(schema))) return false
      if (!allOf.every(add)) return false
      if (anyOf && !add(branchOf(anyOf, place, attempt))) return false
      if (oneOf && !add(branchOf(oneOf, place, attempt))) return false
      return addCondition(schema)
    }
    const addCondition = (schema: SchemaObject): boolean => {
      if (schema.if === undefined) return true
      const holds = faker.datatype.boolean(0.65)
      if (holds) return add(schema.if) && add(schema.then ?? true)
      return add(schema.else ?? true)
    }
    return schemas.every(add) && !isHopeless([...layers]) ? [...layers] : undefined
  }
}

/** Makes the function that chooses one of several alternatives. */
const createBranchOf =
  (faker: Faker, height: SchemaDocument['height']) =>
  (branches: readonly NormalizedSchema[], place: SchemaPlace, attempt: number): NormalizedSchema => {
    const open = branches.filter(branch => height(branch) !== Number.POSITIVE_INFINITY)
    const [first = false] = open
    if (open.length < 2) return first
    if (place.shallow && attempt < open.length) {
      return open.toSorted((a, b) => height(a) - height(b))[attempt] ?? first
    }
    const [empty, rest] = [open.filter(isNull), open.filter(branch => !isNull(branch))]
    const usual = rest.length > 0 && empty.length > 0 && !faker.datatype.boolean(nullChance(place)) ? rest : open
    return faker.helpers.arrayElement(usual)
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

/** The largest of a bound's values, or the one that holds where there is none. */
export const greatest = (layers: Layers, bound: (layer: SchemaObject) => number | undefined, without: number) =>
  layers.reduce((sum, layer) => Math.max(sum, bound(layer) ?? without), without)

/** The smallest of a bound's values, or the one that holds where there is none. */
export const smallest = (layers: Layers, bound: (layer: SchemaObject) => number | undefined, without: number) =>
  layers.reduce((sum, layer) => Math.min(sum, bound(layer) ?? without), without)

/** What the layers that have a keyword say in it. */
export const each = <T>(layers: Layers, keyword: (layer: SchemaObject) => T | undefined): readonly T[] =>
  layers.map(keyword).filter(value => value !== undefined)
