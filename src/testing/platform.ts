/** The running platform that tests and scripts use. */
import type { EndpointViolations } from '../check/finding.js'
import type { Clock } from '../core/clock.js'
import type { Mode } from '../core/exchange.js'
import type { Handler } from '../http/mount.js'
import type { environmentOf } from '../platform/platform.js'
import type { Platform as OpenPlatform } from '../platform.js'
import type { Receipt } from '../recordings/index.js'
import type { Abilities, SharedAbilities } from './abilities.js'
import type { SignInOptions, TestSession } from './credentials.js'
import type { IdleOptions } from './idle.js'
import type { TestReset } from './input-check.js'
import type { Awaitable } from './journal.js'
import type { Outbox } from './outbox.js'
import type { Scope, SharedScope } from './scope.js'

/** The environment variables from which clients read the addresses and keys of a platform. */
export type TestEnvironment = Readonly<Record<ReturnType<typeof environmentOf>[number][0], string>>

/**
 * What a test can do with any platform, in this process (`startPlatform()`) or in another one (`connect()`). Some results are
 * available at once in this process and a promise from another one; `await` works for both.
 */
export interface SharedPlatform
  extends SharedAbilities,
    Pick<OpenPlatform, 'url' | 'authUrl' | 'dashboardUrl' | 'anonKey' | 'serviceKey' | 'apiKey'> {
  /** Addresses and keys by environment variable: `OPENAI_BASE_URL`, `SUPABASE_URL` and so on. */
  readonly env: TestEnvironment
  /** Where answers come from at the moment. */
  readonly mode: Awaitable<Mode>
  /**
   * Signs a user in: by address, or the development user. Unknown users are signed up, with `password` if it is given.
   *
   * ```ts
   * const { accessToken, session } = await platform.signIn({ email: 'ada@example.com' })
   * await supabase.auth.setSession(session)
   * ```
   *
   * Rejects if the password is wrong.
   */
  signIn(user?: SignInOptions): Promise<TestSession>
  /** Emails and text messages that a live backend would have sent, with their codes and links. */
  readonly outbox: Outbox
  /** The clock for everything that expires. */
  readonly clock: SharedClock
  /** A part of the platform for one test, next to others that run at the same time. */
  scope(name: string): Awaitable<SharedScope>
  /**
   * Restores the initial state of replies, faults, sequences, the journal, misses, limits, clock and mode, and, if the state
   * is in memory, of users, sessions, keys and the outbox.
   */
  reset(options?: TestReset): Promise<void>
  /** How recordings were used so far; `undefined` if no mode uses them. */
  receipt(): Awaitable<Receipt | undefined>
  /**
   * The latest violations of the contract by answers of the live platform or of recordings, the newest first. Resolves when all
   * answers so far have been checked.
   */
  violations(): Promise<readonly EndpointViolations[]>
  /** Changes where answers come from, for all endpoints or for single ones. */
  switchMode(mode: Mode, modes?: Readonly<Record<string, Mode>>): Awaitable<void>
}

/** A clock that tests can set, in any process. */
export type SharedClock = {
  readonly [Name in keyof Clock]: (...args: Parameters<Clock[Name]>) => Awaitable<ReturnType<Clock[Name]>>
}

/** A platform in this process. */
export interface Platform extends Omit<SharedPlatform, keyof Abilities>, Abilities {
  readonly mode: Mode
  /**
   * The clock for tokens, keys, sessions, codes, bans, and the limits per minute. Pacing and timeouts use the real time.
   *
   * ```ts
   * platform.clock.advance(3_600_000)  // milliseconds
   * ```
   */
  readonly clock: Clock
  /**
   * A part of the platform for one test, next to others that run at the same time. Its replies, faults and journal only concern
   * requests with its `headers` or its `apiKey`, and come before those of the platform. The same name returns the same scope.
   */
  scope(name: string): Scope
  /** Resolves when no request is under way and none has arrived for `quietMs`. Rejects on a timeout. */
  idle(options?: IdleOptions): Promise<void>
  /**
   * The platform as a handler for your own server: `http.createServer`, `app.use` of express, supertest. It answers every request
   * it gets. It can be mounted below a prefix, but pages and links do not know the prefix.
   */
  readonly handler: Handler
  receipt(): Receipt | undefined
  /** Changes where answers come from, for all endpoints or for single ones. Throws a `ProblemsError` for a mode that cannot work. */
  switchMode(mode: Mode, modes?: Readonly<Record<string, Mode>>): void
  /** Closes the port. Open streams are cut after `graceMs` (default 0). Recordings are on disk afterwards. A second call does nothing. */
  stop(options?: { graceMs?: number | undefined }): Promise<void>
}
