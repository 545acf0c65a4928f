/** A running platform, as the commands and the test API use it. */

import type { Violations } from '../contract/violations.js'
import type { ControlOperations } from '../control/operations.js'
import type { Clock } from '../core/clock.js'
import type { Mode, OwnPath } from '../core/exchange.js'
import type { ResetOptions } from '../core/part.js'
import type { FaultCalls } from '../faults/index.js'
import type { Holds } from '../holds/index.js'
import type { Traffic } from '../http/entrance.js'
import type { ModesByEndpoint } from '../http/modes.js'
import type { Handler } from '../http/mount.js'
import type { Journal } from '../journal/index.js'
import type { EndedRun, Miss, Receipt, Tidied } from '../recordings/index.js'
import type { Redact } from '../redact/index.js'
import type { SharedRun } from '../run/shared-run.js'
import type { MessageRow } from '../state/rows.js'
import type { LoadedConfig } from './config/load.js'
import type { Config } from './config/schema.js'
import type { Rules } from './rules.js'

export interface OpenPlatform {
  /** The `base_url` of the platform, without a trailing slash. OpenAI's clients use `${url}/v1`. */
  readonly url: string
  /** The URL for Supabase's `createClient`, which adds `/auth/v1`. */
  readonly authUrl: string
  readonly dashboardUrl: string
  readonly anonKey: string
  readonly serviceKey: string
  /** The first configured API key that works; empty if there is none. */
  readonly apiKey: string
  /** The control token, generated at the start if other machines can reach the control API and no token is configured; otherwise empty. */
  readonly controlToken: string
  readonly mode: Mode
  /** The current configuration. */
  readonly loaded: LoadedConfig
  /** The files that rules use. */
  readonly textFiles: readonly string[]
  readonly journal: Journal
  /** Redacts what is shown, as currently configured. */
  readonly redact: Redact
  /** Faults for the next requests. They survive a reload. */
  readonly faultCalls: FaultCalls
  /** Holds for the next requests. They survive a reload. */
  readonly holds: Holds
  /** Rules that are added at run time. They survive a reload. */
  readonly rules: Rules
  /**
   * Restores everything as configured: removes added rules, faults and holds, the memory of rules, the positions of replays,
   * changes to MCP servers and the journal, and restores pace, limits, random faults, mode, clock and, if the state is
   * in memory, users, sessions, keys, messages and rows of resources. With a scope, only what belongs to the scope: its
   * rules, their memory, its faults, its replays, its changes to MCP servers, its rows and its journal.
   */
  reset(options?: ResetOptions): Promise<void>
  /** The clock for everything that expires. It survives a reload, but not a restart. */
  readonly clock: Clock
  /** The modes of single endpoints. */
  readonly modes: ModesByEndpoint
  /** How recordings were used so far; `undefined` if no mode uses them. */
  receipt(isWhole?: boolean): Receipt | undefined
  /** The run that tests of other processes can join; `undefined` if they cannot. */
  readonly sharedRun: SharedRun | undefined
  /** The running test of this process has ended, or the one with this name. */
  endTest(hasPassed: boolean, test?: string): void
  /** Removes the recordings that a recording run no longer asks for, and leaves a note about the run. Call it after `stop`. Rejects with the error of the file system. */
  endRun(ended: Pick<EndedRun, 'exitCode' | 'isWhole' | 'isPruning' | 'isSure'>): Promise<Tidied | undefined>
  /** The contract violations of live and recorded answers. */
  readonly violations: Pick<Violations, 'counts' | 'list' | 'onViolating' | 'settle'>
  /** The latest requests without a recording, newest first. */
  misses(): readonly Miss[]
  /** Sentences about tests under way that have exceeded `recordings.budget`; with `all`, also about those that have ended. */
  overBudget(all?: boolean): readonly string[]
  onMiss(listener: (miss: Miss) => void): void
  /** Calls the listener with each email and text message that a live backend would have sent. */
  onMessage(listener: (message: MessageRow) => void): void
  /** What the user's rules, resources, OpenAPI documents and MCP servers answer at a path, by any method. */
  ownPathsAt(path: string): readonly OwnPath[]
  /** Reloads the configuration and rules. For mistakes, rejects with a ProblemsError and continues as before. */
  reload(): Promise<void>
  /** Further access for tests in the same process. */
  readonly forTests: {
    readonly traffic: Traffic
    readonly handler: Handler
    /** Those of the control API. They are loaded by the first call. */
    operations(): Promise<ControlOperations>
  }
  /** Stops the platform. Open streams may continue for `graceMs`, then they are cut. */
  stop(graceMs?: number): Promise<void>
}

/** Returns the first configured API key that works; empty if there is none. */
export function usableKey({ apiKeys }: Pick<Config, 'apiKeys'>, nowMs: number): string {
  const isUsable = ({ revoked, expiresAt }: Config['apiKeys'][number]) =>
    !revoked && (expiresAt === undefined || Date.parse(expiresAt) > nowMs)
  return apiKeys.find(isUsable)?.key ?? ''
}
