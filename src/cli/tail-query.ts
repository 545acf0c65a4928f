/** What `standin tail` is to show: the flags, as the journal's query has them. */
import { UsageError } from '../core/start-error.js'
import { journalFilter } from '../journal/index.js'
import type { CommandLine } from './arguments.js'

export interface Wish {
  /** Of the journal's query. */
  readonly filter: Readonly<Record<string, string>>
  /** How many of the last ones come first. */
  readonly last: number
}

/** Throws a UsageError for a number that is none; what is wrong with the rest the journal says. */
export function wishIn({ given }: CommandLine): Wish {
  const values = Object.keys(journalFilter.entries).flatMap(name => {
    const value = given.get(name)
    return value === undefined ? [] : [[name, String(value)] as const]
  })
  return { filter: Object.fromEntries(values), last: lastIn(given.get('last')) }
}

function lastIn(written: string | true = '0'): number {
  const last = /^\d{1,4}$/.test(String(written)) ? Number(written) : -1
  if (last >= 0 && last <= 1000) return last
  throw new UsageError(`--last must be a whole number from 0 to 1000, not "${written}".`)
}
