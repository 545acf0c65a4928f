/** Repairs of misses while the platform runs: another recording that answers, a part to ignore, or one request to record. */
import { createIds } from '../core/clock.js'
import type { Exchange } from '../core/exchange.js'
import type { IgnoreOption } from './canonical.js'

/** The recording that answers a request from now on, by the key of the request; or a part that is ignored from now on. */
type Repaired = { readonly key: string; readonly file: string } | { readonly ignore: IgnoreOption }

/** Identifies a request that Standin repeats, until it is journaled. */
export const AGAIN_HEADER = 'x-standin-again'
export const nextAgainMark = createIds('again-', 12)

export type Repairs = ReturnType<typeof createRepairs>

export function createRepairs() {
  let all: readonly (Repaired & { readonly id: string })[] = []
  let count = 0
  const toRecord = new Set<string>()

  return {
    all: () => all,
    add(repaired: Repaired): { readonly id: string } {
      const id = `repair-${++count}`
      all = [...all, { ...repaired, id }]
      return { id }
    },
    /** Removes one repair, or all. Returns how many there were. */
    remove(id?: string): number {
      const rest = id === undefined ? [] : all.filter(one => one.id !== id)
      const removed = all.length - rest.length
      all = rest
      return removed
    },
    /** The recording that answers requests with this key; the latest choice counts. */
    fileFor(key: string): string | undefined {
      const choice = all.findLast(one => 'key' in one && one.key === key)
      return choice && 'file' in choice ? choice.file : undefined
    },
    ignored: (): readonly IgnoreOption[] => all.flatMap(one => ('ignore' in one ? [one.ignore] : [])),
    /** Lets the request with this mark be recorded, whatever the mode, until the returned function is called. */
    record(mark: string): () => void {
      toRecord.add(mark)
      return () => void toRecord.delete(mark)
    },
    isRecorded: ({ headers }: Pick<Exchange, 'headers'>) =>
      toRecord.size > 0 && toRecord.has(String(headers[AGAIN_HEADER])),
  }
}
