/** A running platform, as tests and scripts hold it in their hands. */
import type { Clock } from '../core/clock.js'
import type { Mode } from '../core/exchange.js'
import type { Violating } from '../core/finding.js'
import type { Handler } from '../http/mount.js'
import type { environmentOf } from '../platform/platform.js'
import type { Platform as OpenPlatform } from '../platform.js'
import type { Miss, Receipt } from '../recordings/index.js'
import type { IdleOptions } from './idle.js'
import type { Awaitable, SharedJournal, TestJournal } from './journal.js'
import type { KeyOptions } from './keys.js'
import type { Outbox } from './outbox.js'
import type { FailNext, ReplyWith, SharedGiven } from './reply.js'
import type { TestReset } from './reset.js'
import type { Scope, SharedScope } from './scope.js'
import type { SignInOptions, TestSession } from './session.js'

/** The names by which clients find a platform. */
export type TestEnvironment = Readonly<Record<ReturnType<typeof environmentOf>[number][0], string>>

/**
 * What a test can do with a platform, wherever that runs: what `connect()` gives back, and what `startPlatform()` does as well. Where
 * something is at once there in this process and a promise from another one, `await` fits both.
 */
export interface SharedPlatform
  extends Pick<OpenPlatform, 'url' | 'authUrl' | 'dashboardUrl' | 'anonKey' | 'serviceKey' | 'apiKey'> {
  /** Addresses and keys under the names by which clients look for them: `OPENAI_BASE_URL`, `SUPABASE_URL` and so on. */
  readonly env: TestEnvironment
  /** Where answers come from now. */
  readonly mode: Awaitable<Mode>
  /** Has the model say something from now on, before all that was given before. */
  readonly reply: ReplyWith<SharedGiven>
  /** Makes the next requests fail. */
  readonly failNext: FailNext<Awaitable<void>>
  /** What was asked since the last reset, and what was answered. */
  readonly journal: SharedJournal
  /** The last requests that no recording answered, the newest first. */
  misses(): Awaitable<readonly Miss[]>
  /** Throws, or rejects with, an Error that names each request since the last reset for which nothing was prepared. */
  expectNoMisses(): Awaitable<void>
  /** Signs a user in: with an address, or the development user. */
  signIn(user?: SignInOptions): Promise<TestSession>
  /** An API key that opens `/v1`: no user's, or that of the user with the address `user`. */
  createKey(options?: KeyOptions): Promise<string>
  /** Mail and text messages that a live backend would have sent, with their codes and links. */
  readonly outbox: Outbox
  /** What everything that expires goes by. */
  readonly clock: SharedClock
  /** A part of the platform that a test has for itself, beside others that run at the same time. */
  scope(name: string): Awaitable<SharedScope>
  /** Brings back how it was at the start. */
  reset(options?: TestReset): Promise<void>
  /** What came of recordings so far; nothing where no mode has to do with them. */
  receipt(): Awaitable<Receipt | undefined>
  /** The last exchanges whose answers had something against the contract, the newest first. */
  violations(): Promise<readonly Violating[]>
  /** Changes where answers come from, for all or for single endpoints. */
  switchMode(mode: Mode, modes?: Readonly<Record<string, Mode>>): Awaitable<void>
}

/** A clock that tests may turn, wherever it is. */
export type SharedClock = {
  readonly [Name in keyof Clock]: (...args: Parameters<Clock[Name]>) => Awaitable<ReturnType<Clock[Name]>>
}

/** A platform in this process. */
export interface Platform extends SharedPlatform {
  readonly mode: Mode
  /**
   * Has the model say something from now on, before all that was given before. A text, the form of a rule's `reply`, several in turn, or
   * a rule:
   *
   * ```ts
   * await platform.reply('Sunny.')
   * await platform.reply({ toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] }, { when: { user: 'Oslo' }, times: 1 })
   * await platform.reply(['First.', 'Then.'])
   * await platform.reply({ when: { user: /weather/i }, reply: { text: 'Rain.' } })
   * ```
   *
   * What it resolves to counts how often it was said, and takes it back. Requests that come after the call wait until it is in place,
   * also where nobody awaits it. Rejects with a `ProblemsError` for a rule that there cannot be.
   */
  readonly reply: ReplyWith
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
  readonly failNext: FailNext
  /**
   * What was asked since the last reset, and what was answered.
   *
   * ```ts
   * const { request } = await platform.journal.waitFor({ path: '/v1/chat/completions', body: { stream: true } })
   * expect(platform.journal.count({ status: '4xx' })).toBe(0)
   * ```
   *
   * Queries see requests as they came; in the entries that are shown secrets are taken out.
   */
  readonly journal: TestJournal
  /** The last requests that no recording answered, the newest first, each with what it differs in from the nearest one. */
  misses(): readonly Miss[]
  /**
   * Throws an Error that names each request since the last reset for which nothing was prepared: no recording, or, where `strict` is on,
   * no rule. Misses for which `recordings.onMiss` has another answer are none.
   */
  expectNoMisses(): void
  /**
   * Signs somebody in: with an address, or the development user. Whoever is not there yet signs up, with `password` where it is given.
   *
   * ```ts
   * const { accessToken, session } = await platform.signIn({ email: 'ada@example.com' })
   * await supabase.auth.setSession(session)
   * ```
   *
   * Rejects where a password is not the right one.
   */
  signIn(user?: SignInOptions): Promise<TestSession>
  /** An API key that opens `/v1`: nobody's, or that of the user with the address `user`. */
  createKey(options?: KeyOptions): Promise<string>
  /** Mail and text messages that a live backend would have sent, with their codes and links. */
  readonly outbox: Outbox
  /**
   * What tokens, keys, sessions, codes and bans go by, and the limits per minute. Paces and timeouts do not.
   *
   * ```ts
   * platform.clock.advance(3_600_000)  // milliseconds
   * ```
   */
  readonly clock: Clock
  /**
   * A part of the platform that a test has for itself, beside others that run at the same time. Its replies, faults and journal are of
   * requests that have its `headers` or its `apiKey` alone; those of the platform stand behind them. The same name is the same scope.
   */
  scope(name: string): Scope
  /**
   * Brings everything back to how it was at the start: replies, faults, sequences, the journal, misses, limits, clock, mode, and, where the
   * state is in memory, users, sessions, keys and the outbox.
   */
  reset(options?: TestReset): Promise<void>
  /** Resolves when no request is under way, and none has come for a moment. Rejects when that takes too long. */
  idle(options?: IdleOptions): Promise<void>
  /**
   * The platform as a handler for a server of one's own: `http.createServer`, `app.use` of express, supertest. It answers everything
   * that it is given. Below a prefix paths begin behind that; pages and links know nothing of it.
   */
  readonly handler: Handler
  /** What came of recordings so far; nothing where no mode has to do with them. */
  receipt(): Receipt | undefined
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
