/** The recordings of one process, across reloads. Their code is loaded when a mode first needs them. */
import path from 'node:path'
import type { Tokenizer } from '../chat/tokens/index.js'
import type { ViolationCounts } from '../check/finding.js'
import type { Exchange } from '../core/exchange.js'
import { createListeners, type ResetOptions } from '../core/part.js'
import type { IsFromBeforeReset } from '../core/scope.js'
import { createSerialQueue, memoized, once } from '../core/work.js'
import type { Redact } from '../redact/index.js'
import type { EndedRun, IgnoreOption, Miss, Receipt, Recordings, Run, Tidied } from './index.js'
import type { RecordingOptions } from './options.js'

interface Reporters {
  readonly warn: (sentence: string) => void
  readonly report: (error: unknown) => void
  readonly isPast: IsFromBeforeReset
  readonly violations: () => ViolationCounts
  /** The name of the run, if another process has begun it. */
  readonly runName: string | undefined
}

/** What it needs of a configuration. */
export interface ConfiguredRecordings {
  readonly loaded: { readonly config: { readonly recordings: RecordingOptions }; readonly dir: string }
  readonly redact: Redact
  readonly tokenizer: Tokenizer
}

/** Repairs, as far as they change which recordings answer. */
interface ChangedRecordings {
  fileFor(key: string): string | undefined
  ignored(): readonly IgnoreOption[]
  remove(): unknown
}

const MOST_MISSES = 100

// Long because all of it shares the runs and what they have missed.
export function createRecordingsPart<Repairs extends ChangedRecordings>(
  repairs: Repairs,
  { warn, report, isPast, violations, runName }: Reporters,
) {
  const missed = createListeners<Miss>({ isKept: true })
  /** Shared by the recordings of all configurations, so that those of earlier ones need not be kept. */
  const saveInOrder = createSerialQueue()
  const runs = new Map<string, Run>()
  let latest: Recordings | undefined
  let forwarded = 0
  let own = 0
  let misses: readonly Miss[] = []
  /** What other processes of the run did with recordings in other folders. */
  const elsewhere: Receipt[] = []
  let joinReceipts: ((receipts: readonly Receipt[]) => Receipt) | undefined

  function addMiss(miss: Miss, exchange: Exchange): void {
    if (!isPast(exchange)) misses = [miss, ...misses.slice(0, MOST_MISSES - 1)]
    missed.emit(miss)
  }

  async function open({ loaded: { config, dir }, redact, tokenizer }: ConfiguredRecordings): Promise<Recordings> {
    const { openRecordings, Run } = await import('./index.js')
    const folder = path.resolve(dir, config.recordings.dir)
    const run = runs.get(folder) ?? new Run()
    runs.set(folder, run)
    return openRecordings({
      ...config.recordings,
      warn,
      report,
      redact,
      tokenizer,
      repairs,
      run,
      runName,
      missed: addMiss,
      ignore: [...config.recordings.ignore, ...repairs.ignored()],
      saveInOrder,
      dir: folder,
    })
  }

  function receipt(isWhole = false): Receipt | undefined {
    const here = latest && { ...latest.receipt(isWhole), passed: forwarded, own, violations: violations() }
    return joinReceipts?.([...(here ? [here] : []), ...elsewhere]) ?? here
  }

  return {
    /** Changes what is ignored and which recordings answer, from the next request on. */
    repairs,
    /** The recordings of a configuration, opened by the first call, and again when other parts are ignored. `read` does not count as use. */
    of(configured: ConfiguredRecordings) {
      const read = onceFor(
        () => JSON.stringify(repairs.ignored()),
        () => open(configured),
      )
      const use = async () => {
        latest = await read()
        return latest
      }
      return { use, read }
    },
    /** Counts a request that is forwarded to the live platform. */
    countForward: () => void forwarded++,
    /** Counts a request that a reply of its test answers. */
    countOwn: () => void own++,
    /** The receipt so far; `undefined` while no mode has used recordings. With `isWhole`, of a run of all tests. */
    receipt,
    /** Takes what another process of the run did with the recordings in a folder. */
    async join(receipt: Receipt, folder: string): Promise<void> {
      forwarded += receipt.passed
      own += receipt.own
      // They have their own list.
      const { emptyReceipt, joinReceipts: joined } = await import('./index.js')
      const { violations } = emptyReceipt
      const taken = { ...receipt, passed: 0, own: 0, violations }
      const run = latest && runs.get(folder)
      if (run) return run.join(taken)
      elsewhere.push(taken)
      joinReceipts = joined
    },
    /** Reports a miss of another process. */
    addMiss: missed.emit,
    /** The latest requests without a recording, newest first. */
    misses: (): readonly Miss[] => misses,
    onMiss: missed.add,
    /** The tests that have sent something since the last one ended have ended, or the one with this name. */
    endTest: (hasPassed: boolean, test?: string) => runs.forEach(run => void run.end(hasPassed, test)),
    /** Removes what the tests of a run no longer ask for, and leaves a note about it; `undefined` if no mode has used recordings. Rejects with the error of the file system. */
    async end(ended: Omit<EndedRun, 'receipt'>): Promise<Tidied | undefined> {
      await latest?.flush()
      const receiptOfRun = receipt(ended.isWhole)
      return latest && receiptOfRun && latest.end({ ...ended, receipt: receiptOfRun })
    },
    /** Tests that are reset begin again from their first recordings. */
    reset({ scope }: ResetOptions) {
      for (const run of runs.values()) run.reset(scope)
      misses = scope === undefined ? [] : misses.filter(miss => miss.scope !== scope)
      if (scope === undefined) repairs.remove()
    },
    // Everything that has ended is then on disk.
    close: () => latest?.close(),
  }
}

/** Does the work at the first call, and again when the key has changed. */
function onceFor<T>(key: () => string, work: () => Promise<T>): () => Promise<T> {
  const latest = memoized((_key: string) => once(work), 1)
  return () => latest(key())()
}
