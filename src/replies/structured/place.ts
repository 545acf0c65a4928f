/** Where in a value something stands: its name, what is around it, and how much there should still be below it. */
import type { Faker } from '../fake.js'
import type { SchemaDocument } from './document.js'
import type { JsonValue, NormalizedSchema, SchemaObject } from './schema.js'

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
export interface Made {
  readonly value: JsonValue
}

/** The tools for making values. One set for each candidate. */
export interface Workshop {
  readonly faker: Faker
  readonly document: SchemaDocument
  /** Makes a value of all these schemas at once, or nothing where it finds none. */
  make(schemas: readonly NormalizedSchema[], place: SchemaPlace): Made | undefined
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
