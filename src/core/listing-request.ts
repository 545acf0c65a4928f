/** Which part of a list is asked for. */
import * as v from 'valibot'
import { closed, number, optional } from '../check/check.js'
import { resetCall } from './scope.js'

const aLimit = 'a whole number'
const limit = v.pipe(number(1, 1000, aLimit), v.integer(`${aLimit} from 1 to 1000`))
const offset = v.pipe(number(0, 1_000_000_000, aLimit), v.integer(`${aLimit} from 0 on`))

export const listingQuery = closed({
  search: optional(v.string('text'), 'Only those in which these words stand, in whatever case.'),
  limit: optional(limit, 'No more than so many.'),
  offset: optional(offset, 'How many to leave out at the beginning.'),
})
export type ListingQuery = v.InferOutput<typeof listingQuery>

/** The same of what may be in a scope. */
export const scopedListingQuery = closed({ ...resetCall.entries, ...listingQuery.entries })

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
