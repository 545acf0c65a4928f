/**
 * The history of recordings in one run: which were replayed, missed and made. It survives a reload of the
 * configuration.
 */

import path from 'node:path/posix'
import { LRUCache } from 'lru-cache'
import { createByScope, type IsFromBeforeReset } from '../core/scope.js'
import { memoized } from '../core/work.js'
import type { RecordingFile } from './names.js'
import type { Miss, RunReceipt } from './operations.js'
import { isPassingError, type RecordedResponse } from './recording.js'

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
export function createHistory(onMiss: (miss: Miss) => void, isPast: IsFromBeforeReset = () => false) {
  const counts = createByScope(() => memoized((_dir: string) => new LRUCache<string, number>({ max: COUNTED })))
  const startedMs = Date.now()
  const totals: Totals = { served: 0, drifted: 0, missed: 0, saved: new Map(), notRecorded: new Map() }
  let misses: Miss[] = []

  function missed(miss: Miss, exchange: Parameters<IsFromBeforeReset>[0]): void {
    totals[miss.drifted ? 'drifted' : 'missed']++
    if (!isPast(exchange)) misses = [miss, ...misses.slice(0, MISSES - 1)]
    onMiss(miss)
  }

  return {
    /** The history of a folder. Requests are counted in each folder on their own; the receipt has the totals of all of them. */
    of: memoized((dir: string) => ({
      ...createReceipt(totals, dir),
      missed,
      /** Files that were changed later than this may belong to another run. */
      startedMs,
      /** How many times a request was sent in a scope before this one. */
      count(scope: string, key: string): number {
        const counted = counts.get(scope)(dir)
        const before = counted.get(key) ?? 0
        counted.set(key, before + 1)
        return before
      },
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

/** The recordings of one request in this run. */
interface Begun {
  count: number
  isSaved: boolean
  /** The recordings of earlier runs, which it replaces. */
  readonly earlier: readonly RecordingFile[]
  /** The numbers of passing errors that no retry has taken yet. */
  readonly failed: number[]
  /** The numbers of passing errors, until something better is on disk. */
  readonly errors: Set<number>
}

/** Numbers the recordings of each request. */
function createNumbers() {
  const begun = new Map<string, Begun>()
  const beyond = ({ count, isSaved, earlier }: Begun) => (isSaved ? earlier.filter(({ nth }) => nth > count) : [])
  return {
    /**
     * Begins another recording of a request, with the `existing` ones on disk. Returns its number: the next one, or that of an
     * error after which the client tries again.
     */
    begin(key: string, existing: readonly RecordingFile[]): number {
      const request = begun.get(key) ?? { count: 0, isSaved: false, earlier: existing, failed: [], errors: new Set() }
      begun.set(key, request)
      return request.failed.shift() ?? ++request.count
    },
    /** This one has failed, so the next recording of its request takes its number. */
    failed({ key, nth }: RecordingFile): void {
      const request = begun.get(key)
      request?.errors.add(nth)
      if (!request || request.failed.includes(nth)) return
      request.failed.push(nth)
      request.failed.sort((a, b) => a - b)
    },
    /** Whether it is an error of this run, and no retry has replaced it yet. */
    isFailed: ({ key, nth }: RecordingFile) => begun.get(key)?.errors.has(nth) === true,
    saved({ key, nth }: RecordingFile, response: RecordedResponse): void {
      const request = begun.get(key)
      if (!request) return
      request.isSaved = true
      if (!isPassingError(response)) request.errors.delete(nth)
    },
    isAsked: ({ key }: RecordingFile) => begun.has(key),
    /** Whether it is from an earlier run, and has a number that this run has not come to, so that it belongs to another conversation. */
    isSuperseded({ key, file }: RecordingFile): boolean {
      const request = begun.get(key)
      return request !== undefined && beyond(request).some(earlier => earlier.file === file)
    },
    superseded: (): readonly RecordingFile[] => [...begun.values()].flatMap(beyond),
  }
}

/** A recording of this run. */
interface Saved extends Pick<RecordedResponse, 'status' | 'complete'> {
  readonly isUnchanged: boolean
}

/** What was replayed, missed and recorded so far in all folders. */
interface Totals extends Record<'served' | 'drifted' | 'missed', number> {
  /** By path. */
  readonly saved: Map<string, Saved>
  /** Sentences, by path. */
  readonly notRecorded: Map<string, string>
}

/** What was replayed, missed and recorded so far in a folder. */
function createReceipt(totals: Totals, dir: string) {
  const { saved, ...numbers } = createNumbers()
  const replayedFiles = new Set<string>()
  const endpoints = new Set<string>()
  const codes = new Set<string>()
  const pathOf = (file: string) => `${dir}/${file}`
  const isOwn = (file: string) => totals.saved.has(pathOf(file))
  const isUsed = (file: string) => replayedFiles.has(file) || isOwn(file)
  return {
    ...numbers,
    served(file: string): void {
      totals.served++
      replayedFiles.add(file)
    },
    recorded(entry: RecordingFile, response: RecordedResponse, isUnchanged: boolean): void {
      const { status, complete } = response
      saved(entry, response)
      endpoints.add(path.dirname(entry.file))
      totals.saved.set(pathOf(entry.file), { status, complete, isUnchanged })
      totals.notRecorded.delete(pathOf(entry.file))
    },
    /** The reason is dropped if the file is recorded later. */
    notRecorded(file: string, reason: string): void {
      if (totals.notRecorded.size < REASONS) totals.notRecorded.set(pathOf(file), reason)
    },
    /** Whether saving has not failed with this code before. */
    isFirst: (code: string) => !codes.has(code) && codes.add(code).size > 0,
    /** Whether a recording was made in this run. */
    isOwn,
    /** Whether a recording has answered in this run. */
    isReplayed: (file: string) => replayedFiles.has(file),
    receipt(all: Iterable<RecordingFile>): RunReceipt {
      const { served, drifted, missed, notRecorded } = totals
      const recordings = [...totals.saved.values()]
      const unused = [...all].filter(({ file }) => !isUsed(file))
      const notAsked = unused.filter(entry => endpoints.has(path.dirname(entry.file)) && !numbers.isAsked(entry))
      return {
        served,
        drifted,
        missed,
        unused: unused.map(({ file }) => file),
        recorded: recordings.length,
        unchanged: recordings.filter(({ isUnchanged }) => isUnchanged).length,
        errors: errorsIn(recordings),
        notAsked: notAsked.map(({ file }) => file),
        notRecorded: [...notRecorded.values()],
      }
    },
  }
}

function errorsIn(recordings: readonly Saved[]): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const { status, complete } of recordings) {
    if (complete && status < 400) continue
    const kind = complete ? status : 'incomplete'
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}
