/** The recordings of one process, across reloads. Their code is loaded when a mode first needs them. */
import path from 'node:path'
import type { ViolationCounts } from '../check/finding.js'
import type { IsFromBeforeReset } from '../core/scope.js'
import { createSerialQueue, once } from '../core/work.js'
import type { History, Miss, Receipt, Recordings } from '../recordings/index.js'
import { createListeners, type ResetOptions } from './part.js'
import type { PreparedConfig } from './prepare.js'
import { createRepairs } from './repairs.js'

interface Reporters {
  /** Called with a warning, as a sentence. */
  readonly warn: (sentence: string) => void
  /** Called with internal errors. */
  readonly report: (error: unknown) => void
  readonly isPast: IsFromBeforeReset
  readonly violations: () => ViolationCounts
}

type Configured = Pick<PreparedConfig, 'loaded' | 'redact' | 'tokenizer'>

export function createRecordingsPart({ warn, report, isPast, violations }: Reporters) {
  const missed = createListeners<Miss>()
  const repairs = createRepairs()
  /** Shared by the recordings of all configurations, so that those of earlier ones need not be kept. */
  const saveInOrder = createSerialQueue()
  let latest: Recordings | undefined
  let history: History | undefined
  let forwarded = 0

  async function open({ loaded: { config, dir }, redact, tokenizer }: Configured): Promise<Recordings> {
    const { createHistory, openRecordings } = await import('../recordings/index.js')
    history ??= createHistory(missed.emit, isPast)
    const folder = path.resolve(dir, config.recordings.dir)
    return openRecordings({
      ...config.recordings,
      warn,
      report,
      redact,
      tokenizer,
      repairs,
      ignore: [...config.recordings.ignore, ...repairs.ignored()],
      saveInOrder,
      dir: folder,
      run: history.of(folder),
    })
  }

  return {
    /** Changes what is ignored and which recordings answer, from the next request on. */
    repairs,
    /** The recordings of a configuration, opened by the first call, and again when other parts are ignored. `read` does not count as use. */
    of(configured: Configured) {
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
    /** The receipt so far; `undefined` while no mode has used recordings. */
    receipt: (): Receipt | undefined => latest && { ...latest.receipt(), passed: forwarded, violations: violations() },
    /** The latest requests without a recording, newest first. */
    misses: (): readonly Miss[] => history?.misses() ?? [],
    onMiss: missed.add,
    // Replay starts again from the first recordings of the scope.
    reset({ scope }: ResetOptions) {
      history?.forget(scope)
      if (scope === undefined) repairs.remove()
    },
    // Everything that has ended so far is then on disk.
    close: () => latest?.settle(),
  }
}

/** Does the work at the first call, and again when the key has changed. */
function onceFor<T>(key: () => string, work: () => Promise<T>): () => Promise<T> {
  let done: { readonly key: string; readonly get: () => Promise<T> } | undefined
  return () => {
    const now = key()
    if (done?.key !== now) done = { key: now, get: once(work) }
    return done.get()
  }
}
