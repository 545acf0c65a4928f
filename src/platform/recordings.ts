/** The recordings of one process, across reloads. Nothing is loaded before a mode needs it. */
import path from 'node:path'
import type { ViolationCounts } from '../check/finding.js'
import type { LoadedConfig } from '../config/load.js'
import { redactionRules } from '../config/redaction.js'
import type { Config } from '../config/schema.js'
import type { Scopes } from '../core/scope.js'
import { once } from '../core/work.js'
import type { History, Miss, Receipt, Recordings } from '../recordings/index.js'
import type { Redact } from '../redact/index.js'
import { createListeners } from './listeners.js'
import type { ResetOptions } from './part.js'

/** The redaction that is configured. */
export async function loadRedact(config: Config): Promise<Redact> {
  const { createRedact } = await import('../redact/index.js')
  return createRedact(redactionRules(config))
}

interface Reporters {
  /** Called with a warning, as a sentence. */
  readonly warn: (sentence: string) => void
  /** Called with internal errors. */
  readonly report: (error: unknown) => void
  readonly isPast: Scopes['isFromBeforeReset']
  readonly violations: () => ViolationCounts
}

export function createRecordingsPart({ warn, report, isPast, violations }: Reporters) {
  const missed = createListeners<Miss>()
  const all: Recordings[] = []
  let latest: Recordings | undefined
  let history: History | undefined
  let forwarded = 0

  async function open(loaded: LoadedConfig): Promise<Recordings> {
    const { createHistory } = await import('../recordings/index.js')
    history ??= createHistory(missed.emit, isPast)
    const recordings = await openFor(loaded, { history, warn, report })
    all.push(recordings)
    return recordings
  }

  return {
    /** The recordings of a configuration, opened by the first call. Read-only access does not count as use. */
    of(loaded: LoadedConfig) {
      const read = once(() => open(loaded))
      const use = once(async () => {
        latest = await read()
        return latest
      })
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
    reset: ({ scope }: ResetOptions) => history?.forget(scope),
    // Everything that has ended so far is then on disk.
    close: () => Promise.all(all.map(recordings => recordings.flush())),
  }
}

/** The recordings of the configured folder. */
async function openFor(
  { config, dir }: LoadedConfig,
  { history, ...reporters }: Pick<Reporters, 'warn' | 'report'> & { readonly history: History },
) {
  const [{ openRecordings }, redact] = await Promise.all([import('../recordings/index.js'), loadRedact(config)])
  const { recordings: options } = config
  const folder = path.resolve(dir, options.dir)
  return openRecordings({
    ...{ ...options, ...reporters, redact },
    ...{ dir: folder, run: history.of(folder) },
  })
}
