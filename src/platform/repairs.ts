/** Repairs of misses while the platform runs: another recording that answers, a part to ignore, or one request to record. */
import type { Exchange } from '../core/exchange.js'
import { AGAIN_HEADER } from '../core/paths.js'
import type { RepairsInUse } from '../recordings/operations.js'

type Repaired = ReturnType<RepairsInUse['all']>[number]

export function createRepairs() {
  let all: readonly Repaired[] = []
  let count = 0
  const toRecord = new Set<string>()

  return {
    all: () => all,
    add(repaired: Parameters<RepairsInUse['add']>[0]): { readonly id: string } {
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
    ignored: () => all.flatMap(one => ('ignore' in one ? [one.ignore] : [])),
    /** Lets the request with this mark be recorded, whatever the mode, until the returned function is called. */
    record(mark: string): () => void {
      toRecord.add(mark)
      return () => void toRecord.delete(mark)
    },
    isRecorded: ({ headers }: Pick<Exchange, 'headers'>) =>
      toRecord.size > 0 && toRecord.has(String(headers[AGAIN_HEADER])),
  }
}
