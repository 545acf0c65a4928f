/** What one process has to do with recordings, over all reloads; nothing of it is loaded before a mode needs it. */
import path from 'node:path'
import type { ViolationCounts } from '../check/finding.js'
import type { LoadedConfig } from '../config/load.js'
import { ageMsOf } from '../config/recording-options.js'
import { redactionRules } from '../config/redaction.js'
import type { Config } from '../config/schema.js'
import { once, onceLoaded } from '../core/work.js'
import type { Miss, Receipt, Recordings, Run } from '../recordings/index.js'
import type { Redact } from '../redact/index.js'
import type { Part } from './part.js'

export interface RecordingsPart extends Part {
  /** The recordings of a configuration, opened with the first call. To look at them leaves no receipt. */
  of(loaded: LoadedConfig): { readonly play: () => Promise<Recordings>; readonly look: () => Promise<Recordings> }
  /** A request goes to the live platform. */
  passed(): void
  /** What came of it so far; nothing while no mode has needed any recordings. */
  receipt(): Receipt | undefined
  /** The last requests that no recording answered, the newest first. */
  misses(): readonly Miss[]
  onMiss(listener: (miss: Miss) => void): void
}

/** What takes secrets out, by the configuration. */
export async function loadRedact(config: Config): Promise<Redact> {
  const { createRedact } = await import('../redact/index.js')
  return createRedact(redactionRules(config))
}

interface Reporters {
  /** A sentence about what is not quite right. */
  readonly warn: (sentence: string) => void
  /** An error that is ours. */
  readonly report: (error: unknown) => void
  readonly violations: () => ViolationCounts
}

export function createRecordingsPart({ warn, report, violations }: Reporters): RecordingsPart {
  const listeners: ((miss: Miss) => void)[] = []
  const all: Recordings[] = []
  const inUse: Recordings[] = []
  let run: Run | undefined
  let passes = 0

  async function open(loaded: LoadedConfig): Promise<Recordings> {
    const { createRun } = await import('../recordings/index.js')
    run ??= createRun(miss => {
      for (const listener of listeners) listener(miss)
    })
    const recordings = await openedFor(loaded, { run, warn, report })
    all.push(recordings)
    return recordings
  }

  return {
    of(loaded) {
      const look = onceLoaded(() => open(loaded))
      const play = once(async () => {
        const recordings = await look()
        inUse.push(recordings)
        return recordings
      })
      return { play, look }
    },
    passed: () => void passes++,
    receipt: () => {
      const latest = inUse.at(-1)
      return latest && { ...latest.receipt(), passed: passes, violations: violations() }
    },
    misses: () => run?.misses() ?? [],
    onMiss: listener => void listeners.push(listener),
    // The requests of a scope are answered from its first recordings again.
    reset: ({ scope }) => run?.forget(scope),
    // Everything that has ended by now is on disk then.
    close: () => Promise.all(all.map(recordings => recordings.flush())),
  }
}

/** The recordings of the folder that the configuration names. */
async function openedFor(
  { config, dir }: LoadedConfig,
  told: Pick<Reporters, 'warn' | 'report'> & { readonly run: Run },
) {
  const [{ openRecordings }, redact] = await Promise.all([import('../recordings/index.js'), loadRedact(config)])
  const { recordings: options } = config
  return openRecordings({
    ...{ ...options, ...told, redact },
    dir: path.resolve(dir, options.dir),
    afterLast: options.then,
    maxAgeMs: ageMsOf(options.maxAge),
  })
}
