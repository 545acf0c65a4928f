/** Building blocks for the input and output schemas of operations. */
import * as v from 'valibot'
import { number as between, closed, integer, map, optional, text, withJsonSchema } from '../check/check.js'
import type { Schema, ValueOf } from './operation.js'

export { closed as object, described, integer, optional, text, word as oneOf } from '../check/check.js'

export const number = v.number('a number')
export const wholeNumber = v.pipe(v.number('a whole number'), v.integer('a whole number'))
/** As `integer`, but `otherwise` describes what is expected if the number is not whole. */
export const wholeNumberBetween = (least: number, most: number, what: string, otherwise: string) =>
  v.pipe(between(least, most, what), v.integer(otherwise))
export const boolean = v.boolean('true or false')
export const anything = v.unknown()
/** ISO 8601. */
export const moment = v.pipe(text, v.isoTimestamp('a moment as ISO 8601'))

export const listOf = <S extends Schema>(item: S) => v.array(item, 'an array')
export const orNull = <S extends Schema>(schema: S) => v.nullable(schema)
/** An optional member. */
export const optionalMember = <S extends Schema>(schema: S) => v.exactOptional(schema)
export const mapOf = <S extends Schema>(value: S) => map(text, value, 'an object')

/** An object whose type has no schema. */
export const objectOf = <T extends object>() =>
  withJsonSchema(
    v.custom<T>(value => typeof value === 'object' && value !== null && !Array.isArray(value), 'an object'),
    { type: 'object' },
  )

/** A page of a list: its query, and its response. */
export const listingQuery = closed({
  search: optional(text, 'Only entries that contain these words, in upper or lower case.'),
  limit: optional(integer(1, 1000), 'At most this many.'),
  offset: optional(
    wholeNumberBetween(0, 1_000_000_000, 'a whole number', 'a whole number from 0 on'),
    'How many to skip.',
  ),
})
export type ListingQuery = ValueOf<typeof listingQuery>

/** A list, or a page of one with the total count. */
export const dataOf = <S extends Schema>(item: S) => closed({ data: listOf(item) })
export const pageOf = <S extends Schema>(item: S) => closed({ data: listOf(item), total: wholeNumber })

/** The query or body of an operation on one scope. */
export const scopeQuery = closed({ scope: optional(text, 'The scope; without it, all scopes.') })

/** Returns a function that tests whether the texts of an item contain all words of a search. */
export function searchFor(search = ''): (texts: readonly (string | null | undefined)[]) => boolean {
  const words = search
    .toLowerCase()
    .split(/\s+/)
    .filter(word => word !== '')
  return texts => {
    const all = texts.join('\n').toLowerCase()
    return words.every(word => all.includes(word))
  }
}
