/** The programmatic door: start a platform inside a test or a script. */
import type { Override } from './config/load.js'
import type { ConfigInput } from './config/schema.js'
import type { Clock } from './core/clock.js'
import type { Mode } from './core/exchange.js'
import type { Fault, FaultCallInput } from './core/fault.js'
import type { Violating, Violation } from './core/violation.js'
import type { Receipt } from './platform/taping.js'
import { type Platform as OpenPlatform, openPlatform } from './platform.js'
import type { Miss } from './recordings/index.js'
import type { RuleInput } from './replies/index.js'

export { ProblemsError } from './core/problem.js'
export { StartError } from './core/start-error.js'
export type { Clock, ConfigInput, Fault, Miss, Mode, Receipt, RuleInput, Violating, Violation }

/** Every option of `platform.config.yaml`, and where else to look. */
export interface PlatformOptions extends ConfigInput {
  /** A configuration file. Without it no file is read, not even for replies, and the environment is not looked at. */
  readonly config?: string
  /** Rules of what the model says; they stand before those of files. */
  readonly rules?: readonly RuleInput[]
}

/** Which requests a fault is for. */
export interface FailOptions extends Omit<FaultCallInput, 'fault' | 'when'> {
  readonly when?: RuleInput['when']
}

/** A running platform. */
export interface Platform
  extends Pick<OpenPlatform, 'url' | 'authUrl' | 'dashboardUrl' | 'anonKey' | 'serviceKey' | 'apiKey'> {
  /** Where answers come from now. */
  readonly mode: Mode
  /**
   * Makes the next request fail in this way, or the next `times` requests: those to the platform's endpoints, or to the paths that fit
   * `path` (`*` stands for anything), with `method` where it is named.
   *
   * ```ts
   * platform.failNext({ status: 429, retryAfter: 1 }, { times: 2 })
   * platform.failNext({ cutAfterChunks: 3 }, { path: '/v1/chat/completions' })
   * ```
   *
   * `when` has conditions as in rules; the fault is then for chat completions that fit them. `scope` names whose requests it is for.
   *
   * Several calls wait in line. A request that is refused for its credential or asks for a fault of its own is not counted.
   * Throws a `ProblemsError` for a fault that there is not.
   */
  failNext(fault: Fault, options?: FailOptions): void
  /**
   * What tokens, keys, sessions, codes and bans go by, and the limits per minute. Paces and timeouts do not.
   *
   * ```ts
   * platform.clock.advance(3_600_000)  // milliseconds
   * ```
   */
  readonly clock: Clock
  /** What came of recordings so far; nothing where no mode has to do with them. */
  receipt(): Receipt | undefined
  /** The last requests that no recording answered, the newest first, each with what it differs in from the nearest one. */
  misses(): readonly Miss[]
  /**
   * The last exchanges whose answers, of the live platform or of a recording, had something against the contract, the newest first. Resolves
   * when everything that has been answered is judged.
   */
  violations(): Promise<readonly Violating[]>
  /** Changes where answers come from, for all or for single endpoints. Throws a `ProblemsError` for a mode that cannot work. */
  switchMode(mode: Mode, modes?: Readonly<Record<string, Mode>>): void
  /** Closes the port. Open streams are cut after `graceMs` (default 0); what was recorded is on disk then. Stopping twice does nothing. */
  stop(options?: { graceMs?: number }): Promise<void>
}

/**
 * Starts a platform: on any free port unless told otherwise, with nothing written to disk, sharing nothing with others.
 *
 * ```ts
 * const platform = await startPlatform({ rules: [{ when: { user: 'hello' }, reply: { text: 'Hi!' } }] })
 * const openai = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: platform.apiKey })
 * …
 * await platform.stop()
 * ```
 *
 * Rejects with a `ProblemsError` for options, a file or rules that cannot be used, and with a `StartError` when the port cannot be had.
 */
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const { config, rules = [], port = 0, ...values } = options
  const platform = await openPlatform({
    cwd: process.cwd(),
    file: config ?? false,
    flags: [...overridesFrom({ port, ...(config === undefined && { state: 'memory' }), ...values })],
    ...(config !== undefined && { env: process.env }),
    rules,
  })
  let stopped: Promise<void> | undefined
  const { url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey } = platform
  return {
    ...{ url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey },
    clock: platform.clock,
    get mode() {
      return platform.mode
    },
    failNext: (fault, { when, ...options } = {}) =>
      platform.failNext({ ...options, ...(when && { when: { ...when } }), fault }),
    receipt: platform.receipt,
    misses: platform.misses,
    async violations() {
      await platform.violations.settle()
      return platform.violations.list()
    },
    switchMode: platform.switchMode,
    stop({ graceMs = 0 } = {}) {
      stopped ??= platform.stop(graceMs)
      return stopped
    },
  }
}

/** Options given in code, one by one: those of a group beside what a file says of its others. */
function* overridesFrom(values: object, above: readonly string[] = []): Generator<Override> {
  for (const [name, value] of Object.entries(values)) {
    const path = [...above, name]
    if (value === undefined) continue
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) yield* overridesFrom(value, path)
    else yield { path, value, origin: 'startPlatform' }
  }
}
