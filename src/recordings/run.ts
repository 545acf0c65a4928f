/**
 * The history of recordings in one run: which were replayed, missed and made. It survives a reload of the
 * configuration.
 */

import { LRUCache } from 'lru-cache'
import { createByScope, type Scopes } from '../core/scope.js'
import { memoized } from '../core/work.js'
import type { RecordingFile } from './names.js'
import type { Miss, RunReceipt } from './operations.js'

/** At most this many misses are kept. */
const MISSES = 100
/** At most this many reasons are kept. */
const REASONS = 20

/** Repetitions are counted for this many requests of a scope. The least recently used ones start again from zero. */
const COUNTED = 10_000
export type History = ReturnType<typeof createHistory>
/** The history of one folder. */
export type Run = ReturnType<History['of']>

/** `onMiss` is called with each miss. Misses of exchanges from before the last reset are not listed. */
export function createHistory(onMiss: (miss: Miss) => void, isPast: Scopes['isFromBeforeReset'] = () => false) {
  const counts = createByScope(() => memoized((_dir: string) => new LRUCache<string, number>({ max: COUNTED })))
  const totals: Totals = { served: 0, missed: 0, recorded: 0 }
  const reasons = new Set<string>()
  let misses: Miss[] = []

  function missed(miss: Miss, exchange: Parameters<Scopes['isFromBeforeReset']>[0]): void {
    totals.missed++
    if (!isPast(exchange)) misses = [miss, ...misses.slice(0, MISSES - 1)]
    onMiss(miss)
  }

  return {
    /** The history of a folder. Requests are counted in each folder on their own; the receipt has the totals of all of them. */
    of: memoized((dir: string) => ({
      ...createReceipt(totals, reasons),
      missed,
      /** How many times a request was sent in a scope before this one. */
      count(scope: string, key: string): number {
        const counted = counts.get(scope)(dir)
        const before = counted.get(key) ?? 0
        counted.set(key, before + 1)
        return before
      },
      begin: createBegin(),
    })),
    /** The latest misses, newest first. */
    misses: (): readonly Miss[] => misses,
    /** Resets the counts and misses of a scope, or of all scopes if none is given. */
    forget(scope?: string): void {
      counts.forget(scope)
      misses = scope === undefined ? [] : misses.filter(miss => miss.scope !== scope)
    },
  }
}

function createBegin() {
  const begun = new Map<string, { readonly nth: number; readonly earlier: readonly RecordingFile[] }>()
  /**
   * Begins another recording of a request, with the `existing` ones on disk. Returns its number, the recordings of
   * earlier runs, which it replaces, and whether it is the first in this run.
   */
  return (key: string, existing: readonly RecordingFile[]) => {
    const before = begun.get(key)
    const { nth, earlier } = before ?? { nth: 0, earlier: existing }
    begun.set(key, { nth: nth + 1, earlier })
    return { nth: nth + 1, earlier, isFirst: !before }
  }
}

type Totals = Record<'served' | 'missed' | 'recorded', number>

/** What was replayed, missed and recorded so far. */
function createReceipt(totals: Totals, reasons: Set<string>) {
  const recordedFiles = new Set<string>()
  const replayedFiles = new Set<string>()
  const isUsed = (file: string) => replayedFiles.has(file) || recordedFiles.has(file)
  return {
    served(file: string): void {
      totals.served++
      replayedFiles.add(file)
    },
    recorded(file: string): void {
      totals.recorded++
      recordedFiles.add(file)
    },
    notRecorded(reason: string): void {
      if (reasons.size < REASONS) reasons.add(reason)
    },
    /** Whether a recording was made in this run. */
    isOwn: (file: string) => recordedFiles.has(file),
    /** Whether a recording was replayed or made in this run. */
    isUsed,
    receipt: (all: Iterable<{ readonly file: string }>): RunReceipt => ({
      ...totals,
      unused: [...all].flatMap(({ file }) => (isUsed(file) ? [] : [file])),
      notRecorded: [...reasons],
    }),
  }
}
