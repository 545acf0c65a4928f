/** What `standin tail` is to show: the flags, as the journal's query has them. */
import { UsageError } from '../core/start-error.js'
import type { JournalEntry } from '../journal/index.js'
import type { CommandLine } from './arguments.js'

export interface Wish {
  /** Of the journal's query. */
  readonly filter: Readonly<Record<string, string>>
  /** How many of the last ones come first. */
  readonly last: number
  /** What the journal cannot look for. */
  readonly fits: (entry: JournalEntry) => boolean
}

const filters = ['method', 'path', 'status', 'mode', 'caller', 'source', 'scope', 'text'] as const

/** Throws a UsageError for a number that is none; what is wrong with the rest the journal says. */
export function wishIn({ given }: CommandLine): Wish {
  const values = filters.flatMap(name => {
    const value = given.get(name)
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  const model = given.get('model')
  return {
    // Whoever asks a model says its name.
    filter: { ...(typeof model === 'string' && { text: model }), ...Object.fromEntries(values) },
    last: lastIn(given.get('last')),
    fits: ({ request: { body } }) => typeof model !== 'string' || modelIn(body) === model,
  }
}

function lastIn(written: string | true = '0'): number {
  const last = /^\d{1,4}$/.test(String(written)) ? Number(written) : -1
  if (last >= 0 && last <= 1000) return last
  throw new UsageError(`--last must be a whole number from 0 to 1000, not "${written}".`)
}

function modelIn(body: unknown): unknown {
  return typeof body === 'object' && body !== null && 'model' in body ? body.model : undefined
}
