/** A running platform, as the commands and the test API use it. */
import type { LoadedConfig } from '../config/load.js'
import type { Config } from '../config/schema.js'
import type { Violations } from '../contract/violations.js'
import type { Clock } from '../core/clock.js'
import type { Mode } from '../core/exchange.js'
import type { FaultCallInput } from '../core/fault.js'
import type { MessageRow } from '../core/state.js'
import type { FaultCalls } from '../faults/index.js'
import type { Traffic } from '../http/entrance.js'
import type { ModesByEndpoint } from '../http/modes.js'
import type { Handler } from '../http/mount.js'
import type { Journal } from '../journal/index.js'
import type { McpLists } from '../mcp/operations.js'
import type { Miss, Receipt } from '../recordings/index.js'
import type { ResourceRows } from '../resources/operations.js'
import type { StateDocument } from '../state/index.js'
import type { MintedToken, TokenRequest } from '../supabase/operations.js'
import type { ForTests } from './for-tests.js'
import type { ResetOptions } from './part.js'
import type { Rules } from './rules.js'

/** A platform that answers. */
export interface OpenPlatform {
  /** The `base_url` of the platform, without a slash at its end. OpenAI's clients take `${url}/v1`. */
  readonly url: string
  /** What an app hands to Supabase's `createClient`; the client adds `/auth/v1`. */
  readonly authUrl: string
  readonly dashboardUrl: string
  readonly anonKey: string
  readonly serviceKey: string
  /** The first configured API key that works; empty when there is none. */
  readonly apiKey: string
  /** What opens the control API, where others can reach it and no token is configured: made up at the start. Empty otherwise. */
  readonly controlToken: string
  /** Where answers come from. */
  readonly mode: Mode
  /** The configuration in force. */
  readonly loaded: LoadedConfig
  /** The files whose text rules say. */
  readonly textFiles: readonly string[]
  readonly journal: Journal
  /** Faults for the next requests; they outlast a reload. */
  readonly faultCalls: FaultCalls
  /** Puts a fault in line for the next requests that it is meant for. Throws a ProblemsError for one that there is not. */
  failNext(call: FaultCallInput): void
  /** Rules that come and go while it runs; they outlast a reload. */
  readonly rules: Rules
  /**
   * Brings everything back to how the configuration has it: rules and faults that were added, what rules remember, which recordings were
   * played, the journal, pace, limits, faults by chance, mode, clock and, where the state is in memory, users, sessions, keys and messages.
   * With a scope only what belongs to that scope: its rules, what they remember, its faults, its turns of recordings and its journal.
   */
  reset(options?: ResetOptions): Promise<void>
  /** What everything that expires goes by. It outlasts a reload, not a restart. */
  readonly clock: Clock
  /** The modes of single endpoints. */
  readonly modes: ModesByEndpoint
  /**
   * Changes where answers come from, from the next request on, until the configuration says something else. Throws a ProblemsError for a mode
   * that cannot work.
   */
  switchMode(mode: Mode, modes?: ModesByEndpoint): void
  /** What came of recordings so far; nothing where no mode has to do with them. */
  receipt(): Receipt | undefined
  /** What answers of the live platform and of recordings had against the contract. */
  readonly violations: Pick<Violations, 'counts' | 'list' | 'onViolating' | 'settle'>
  /** The last requests that no recording answered, the newest first. */
  misses(): readonly Miss[]
  onMiss(listener: (miss: Miss) => void): void
  /** The rows of resources, of all users. */
  readonly resources: () => Promise<ResourceRows>
  /** What MCP servers offer. */
  readonly mcp: () => Promise<McpLists>
  /** Calls the listener with each mail and text message that a live backend would have sent. */
  onMessage(listener: (message: MessageRow) => void): void
  /** Users, sessions, keys and messages as one document. */
  exportState(): Promise<StateDocument>
  /**
   * Replaces all of the state by what a document says, and forgets remembered credentials. Rejects with a ProblemsError that names the
   * row and the field when it cannot be used; then nothing has changed.
   */
  importState(document: unknown): Promise<void>
  /** A token without a password; users who are not there yet sign up. Rejects with a PlatformError where users are a live backend's. */
  mintToken(wish: TokenRequest): Promise<MintedToken>
  /** The OpenAPI document of everything that it answers, as served at `url`: its own, if none is given. */
  openApi(url?: string): Promise<object>
  /** Reads everything again. Rejects with a ProblemsError and goes on as before when something is wrong with it. */
  reload(): Promise<void>
  /** What tests in the same process may do as well. */
  readonly forTests: ForTests & { readonly traffic: Traffic; readonly handler: Handler }
  /** Lets open streams end for `graceMs`, then cuts them. */
  stop(graceMs?: number): Promise<void>
}

/** The keys of newer Supabase clients. */
interface NewerKeys {
  readonly publishableKey: string
  readonly secretKey: string
}

interface ConnectionDetails {
  readonly url: string
  readonly authUrl: string
  readonly anonKey: string
  readonly serviceKey: string
  readonly apiKey: string
  readonly loaded: { readonly config: { readonly auth: NewerKeys } }
}

/** The first configured API key that works; empty where there is none. */
export function usableKey({ apiKeys }: Pick<Config, 'apiKeys'>, nowMs: number): string {
  const isUsable = ({ revoked, expiresAt }: Config['apiKeys'][number]) =>
    !revoked && (expiresAt === undefined || Date.parse(expiresAt) > nowMs)
  return apiKeys.find(isUsable)?.key ?? ''
}

/** A platform's addresses and keys under the names by which clients look for them. */
export function environmentOf({ url, authUrl, anonKey, serviceKey, apiKey, loaded }: ConnectionDetails) {
  const { publishableKey, secretKey } = loaded.config.auth
  return [
    ['PLATFORM_BASE_URL', url],
    ['OPENAI_BASE_URL', `${url}/v1`],
    ['OPENAI_API_KEY', apiKey],
    ['SUPABASE_URL', authUrl],
    ['SUPABASE_ANON_KEY', anonKey],
    ['SUPABASE_SERVICE_ROLE_KEY', serviceKey],
    ['SUPABASE_PUBLISHABLE_KEY', publishableKey],
    ['SUPABASE_SECRET_KEY', secretKey],
  ] as const
}
