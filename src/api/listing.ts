/** A part of a list: what asks for it, and what comes back. */
import { closed, optional } from '../check/check.js'
import type { Of, Schema } from './operation.js'
import { listOf, text, whole, wholeBetween } from './shapes.js'

export const listingQuery = closed({
  search: optional(text, 'Only those in which these words stand, in upper or lower case.'),
  limit: optional(wholeBetween(1, 1000), 'At most this many.'),
  offset: optional(wholeBetween(0, 1_000_000_000, 'a whole number', 'a whole number from 0 on'), 'How many to skip.'),
})
export type ListingQuery = Of<typeof listingQuery>

/** A list, or a part of one with how many there are on the whole. */
export const dataOf = <S extends Schema>(item: S) => closed({ data: listOf(item) })
export const pageOf = <S extends Schema>(item: S) => closed({ data: listOf(item), total: whole })

/** What the query or the body of an operation says where it is about one scope. */
export const scopeQuery = closed({ scope: optional(text, 'The scope; all of them without it.') })

/** A test for what has all the words of a search in one of its texts. */
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
