/** What one run remembers of its recordings: which were played, missed and made. It outlasts a reload of the configuration. */

import { createByScope } from '../core/scope.js'
import type { RecordingFile } from './names.js'
import type { Miss, RunReceipt } from './operations.js'

export interface Run {
  /** How often a request was asked in a scope before this time. */
  count(scope: string, key: string): number
  /** Begins another recording of a request that has `there` of them on disk: its number, and what earlier runs have left. */
  begin(
    key: string,
    there: readonly RecordingFile[],
  ): { readonly nth: number; readonly earlier: readonly RecordingFile[] }
  served(file: string): void
  missed(miss: Miss): void
  recorded(file: string): void
  /** Whether a recording was made in this run. */
  isOwn(file: string): boolean
  /** Whether a recording was played or made in this run. */
  isUsed(file: string): boolean
  notRecorded(reason: string): void
  /** The last ones, the newest first. */
  misses(): readonly Miss[]
  receipt(all: Iterable<{ readonly file: string }>): RunReceipt
  /** From now on the requests of a scope count from the beginning, and its misses are forgotten; those of all if none is given. */
  forget(scope?: string): void
}

/** At most this many misses are kept to be looked at. */
const MISSES = 100
/** And at most this many reasons. */
const REASONS = 20

/** How often a request was asked is known for this many requests of one scope; the oldest then count from the beginning. */
const COUNTED = 10_000
const none: readonly RecordingFile[] = []

/** `tell` is called with each miss. */
export function createRun(tell: (miss: Miss) => void): Run {
  const counts = createByScope(() => new Map<string, number>())
  const begun = new Map<string, number>()
  const earlier = new Map<string, readonly RecordingFile[]>()
  const own = new Set<string>()
  const played = new Set<string>()
  const reasons = new Set<string>()
  let misses: Miss[] = []
  const totals = { served: 0, missed: 0, recorded: 0 }

  const next = (counters: Map<string, number>, name: string) => {
    const before = counters.get(name) ?? 0
    counters.set(name, before + 1)
    return before
  }

  return {
    count(scope, key) {
      const counters = counts.get(scope)
      if (counters.size >= COUNTED && !counters.has(key)) counters.delete(counters.keys().next().value ?? '')
      return next(counters, key)
    },
    begin(key, there) {
      const nth = next(begun, key) + 1
      if (nth === 1 && there.length > 0) earlier.set(key, there)
      return { nth, earlier: earlier.get(key) ?? none }
    },
    served(file) {
      totals.served++
      played.add(file)
    },
    missed(miss) {
      totals.missed++
      misses = [miss, ...misses.slice(0, MISSES - 1)]
      tell(miss)
    },
    recorded(file) {
      totals.recorded++
      own.add(file)
    },
    isOwn: file => own.has(file),
    isUsed: file => played.has(file) || own.has(file),
    notRecorded(reason) {
      if (reasons.size < REASONS) reasons.add(reason)
    },
    misses: () => misses,
    receipt: all => ({
      ...totals,
      unused: [...all].flatMap(({ file }) => (played.has(file) || own.has(file) ? [] : [file])),
      notRecorded: [...reasons],
    }),
    forget(scope) {
      counts.forget(scope)
      misses = scope === undefined ? [] : misses.filter(miss => miss.scope !== scope)
    },
  }
}
