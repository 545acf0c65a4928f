/**
 * The history of recordings in one run: which were replayed, missed and made. It survives a reload of the
 * configuration.
 */

import { LRUCache } from 'lru-cache'
import { createByScope, type Scopes } from '../core/scope.js'
import type { RecordingFile } from './names.js'
import type { Miss, RunReceipt } from './operations.js'

/** At most this many misses are kept. */
const MISSES = 100
/** At most this many reasons are kept. */
const REASONS = 20

/**
 * For this many requests of a scope, the number of repetitions is known. The least recently used ones start again from
 * zero.
 */
const COUNTED = 10_000
const none: readonly RecordingFile[] = []

export type Run = ReturnType<typeof createRun>

/** `tell` is called with each miss. Those of exchanges before the last reset are not listed. */
export function createRun(tell: (miss: Miss) => void, isPast: Scopes['isPast'] = () => false) {
  const counts = createByScope(() => new LRUCache<string, number>({ max: COUNTED }))
  const begun = new Map<string, number>()
  const earlier = new Map<string, readonly RecordingFile[]>()
  const { missed, ...receipt } = createReceipt()
  let misses: Miss[] = []

  return {
    ...receipt,
    /** How many times a request was sent in a scope before this one. */
    count: (scope: string, key: string): number => countUp(counts.get(scope), key),
    /**
     * Begins another recording of a request whose recordings on disk are `there`. Returns its number, the recordings of
     * earlier runs, and whether it is the first in this run. After a miss, it comes after those if they were replayed,
     * and replaces them if not.
     */
    begin(key: string, there: readonly RecordingFile[], afterMiss = false) {
      const isFirst = !begun.has(key)
      if (isFirst && there.length > 0) {
        earlier.set(key, there)
        const isContinued = afterMiss && there.some(({ file }) => receipt.isUsed(file))
        if (isContinued) begun.set(key, Math.max(...there.map(({ nth }) => nth)))
      }
      return { nth: countUp(begun, key) + 1, earlier: earlier.get(key) ?? none, isFirst }
    },
    missed(miss: Miss, exchange: Parameters<Scopes['isPast']>[0]): void {
      missed()
      if (!isPast(exchange)) misses = [miss, ...misses.slice(0, MISSES - 1)]
      tell(miss)
    },
    /** The latest misses, newest first. */
    misses: (): readonly Miss[] => misses,
    /** Resets the counts and misses of a scope, or of all scopes if none is given. */
    forget(scope?: string): void {
      counts.forget(scope)
      misses = scope === undefined ? [] : misses.filter(miss => miss.scope !== scope)
    },
  }
}

/** Returns the count so far. */
function countUp(counters: Map<string, number> | LRUCache<string, number>, name: string): number {
  const before = counters.get(name) ?? 0
  counters.set(name, before + 1)
  return before
}

/** What was replayed, missed and recorded so far. */
function createReceipt() {
  const own = new Set<string>()
  const played = new Set<string>()
  const reasons = new Set<string>()
  const totals = { served: 0, missed: 0, recorded: 0 }
  const isUsed = (file: string) => played.has(file) || own.has(file)
  return {
    served(file: string): void {
      totals.served++
      played.add(file)
    },
    missed(): void {
      totals.missed++
    },
    recorded(file: string): void {
      totals.recorded++
      own.add(file)
    },
    notRecorded(reason: string): void {
      if (reasons.size < REASONS) reasons.add(reason)
    },
    /** Whether a recording was made in this run. */
    isOwn: (file: string) => own.has(file),
    /** Whether a recording was replayed or made in this run. */
    isUsed,
    receipt: (all: Iterable<{ readonly file: string }>): RunReceipt => ({
      ...totals,
      unused: [...all].flatMap(({ file }) => (isUsed(file) ? [] : [file])),
      notRecorded: [...reasons],
    }),
  }
}
