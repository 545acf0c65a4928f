/** A running platform, as tests and scripts use it. */
import type { EndpointViolations } from '../check/finding.js'
import type { Clock } from '../core/clock.js'
import type { Mode } from '../core/exchange.js'
import type { Handler } from '../http/mount.js'
import type { environmentOf } from '../platform/platform.js'
import type { Platform as OpenPlatform } from '../platform.js'
import type { Miss, Receipt } from '../recordings/index.js'
import type { KeyOptions, SignInOptions, TestSession } from './credentials.js'
import type { IdleOptions } from './idle.js'
import type { Awaitable, SharedJournal, TestJournal } from './journal.js'
import type { Outbox } from './outbox.js'
import type { FailNext, ReplyWith, SharedAddedReply } from './reply.js'
import type { TestReset } from './reset.js'
import type { TestResource } from './resource.js'
import type { Scope, SharedScope } from './scope.js'
import type { TestTools } from './tools.js'

/** The environment variables in which clients look for a platform. */
export type TestEnvironment = Readonly<Record<ReturnType<typeof environmentOf>[number][0], string>>

/**
 * What a test can do with any platform, in this process (`startPlatform()`) or in another one (`connect()`). Some results are
 * available at once in this process and a promise from another one; `await` works for both.
 */
export interface SharedPlatform
  extends Pick<OpenPlatform, 'url' | 'authUrl' | 'dashboardUrl' | 'anonKey' | 'serviceKey' | 'apiKey'> {
  /** Addresses and keys by environment variable: `OPENAI_BASE_URL`, `SUPABASE_URL` and so on. */
  readonly env: TestEnvironment
  /** Where answers come from at the moment. */
  readonly mode: Awaitable<Mode>
  /** Adds a reply for the model. It takes precedence over all earlier ones. */
  readonly reply: ReplyWith<SharedAddedReply>
  /** Makes the next requests fail. */
  readonly failNext: FailNext<Awaitable<void>>
  /** The requests since the last reset, and their answers. */
  readonly journal: SharedJournal
  /** Tools of MCP servers: `platform.mcp.tool('get_weather').reply('Sunny.')`, and `.calls()`. */
  readonly mcp: TestTools
  /** The latest requests without a matching recording, the newest first. */
  misses(): Awaitable<readonly Miss[]>
  /** Throws, or rejects with, an Error that lists each request since the last reset for which nothing was prepared. */
  expectNoMisses(): Awaitable<void>
  /** Signs a user in: by address, or the development user. */
  signIn(user?: SignInOptions): Promise<TestSession>
  /** An API key for `/v1`: of the user with the address `user`, or of no user. */
  createKey(options?: KeyOptions): Promise<string>
  /** Emails and text messages that a live backend would have sent, with their codes and links. */
  readonly outbox: Outbox
  /**
   * The rows of a resource, whatever user they belong to; `path` is that of the configuration.
   *
   * ```ts
   * await platform.resource('/builder/projects').insert({ name: 'Atlas' })
   * ```
   */
  resource(path: string): TestResource
  /** The clock for everything that expires. */
  readonly clock: SharedClock
  /** A part of the platform for one test, next to others that run at the same time. */
  scope(name: string): Awaitable<SharedScope>
  /** Restores the state at the start. */
  reset(options?: TestReset): Promise<void>
  /** How recordings were used so far; undefined if no mode uses them. */
  receipt(): Awaitable<Receipt | undefined>
  /** The latest exchanges whose answers broke the contract, the newest first. */
  violations(): Promise<readonly EndpointViolations[]>
  /** Changes where answers come from, for all endpoints or for single ones. */
  switchMode(mode: Mode, modes?: Readonly<Record<string, Mode>>): Awaitable<void>
}

/** A clock that tests can set, in any process. */
export type SharedClock = {
  readonly [Name in keyof Clock]: (...args: Parameters<Clock[Name]>) => Awaitable<ReturnType<Clock[Name]>>
}

/** A platform in this process. */
export interface Platform extends SharedPlatform {
  readonly mode: Mode
  /**
   * Adds a reply for the model. It takes precedence over all earlier ones. A text, the form of a rule's `reply`, a list of these for
   * successive answers, or a rule:
   *
   * ```ts
   * await platform.reply('Sunny.')
   * await platform.reply({ toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] }, { when: { user: 'Oslo' }, times: 1 })
   * await platform.reply(['First.', 'Then.'])
   * await platform.reply({ when: { user: /weather/i }, reply: { text: 'Rain.' } })
   * ```
   *
   * The result counts how often the reply was used, and can remove it. Requests sent after the call wait until the reply is in place,
   * even if the call is not awaited. Rejects with a `ProblemsError` for an invalid rule.
   */
  readonly reply: ReplyWith
  /**
   * Makes the next request fail in this way, or the next `times` requests: to any endpoint of the platform, or to paths that match
   * `path` (`*` matches any text), and only with `method` if that is given.
   *
   * ```ts
   * platform.failNext({ status: 429, retryAfter: 1 }, { times: 2 })
   * platform.failNext({ cutAfterChunks: 3 }, { path: '/v1/chat/completions' })
   * ```
   *
   * `when` has conditions as in rules and limits the fault to matching chat completions. `scope` limits it to requests of a scope.
   *
   * Several faults are queued. Requests that are refused for their credential, or that ask for a fault themselves, do not count.
   * Throws a `ProblemsError` for an invalid fault.
   */
  readonly failNext: FailNext
  /**
   * The requests since the last reset, and their answers.
   *
   * ```ts
   * const { request } = await platform.journal.waitFor({ path: '/v1/chat/completions', body: { stream: true } })
   * expect(platform.journal.count({ status: '4xx' })).toBe(0)
   * ```
   *
   * Queries see requests as they came; in the returned entries secrets are removed.
   */
  readonly journal: TestJournal
  /** The latest requests without a matching recording, the newest first, each compared with the closest recording. */
  misses(): readonly Miss[]
  /**
   * Throws an Error that lists each request since the last reset for which nothing was prepared: no recording or, with `strict`,
   * no rule. Misses that `recordings.onMiss` answers in another way do not count.
   */
  expectNoMisses(): void
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
  /** An API key for `/v1`: of the user with the address `user`, or of no user. */
  createKey(options?: KeyOptions): Promise<string>
  /** Emails and text messages that a live backend would have sent, with their codes and links. */
  readonly outbox: Outbox
  /**
   * The clock for tokens, keys, sessions, codes, bans, and the limits per minute. Paces and timeouts use the real time.
   *
   * ```ts
   * platform.clock.advance(3_600_000)  // milliseconds
   * ```
   */
  readonly clock: Clock
  /**
   * A part of the platform for one test, next to others that run at the same time. Its replies, faults and journal only concern
   * requests with its `headers` or its `apiKey`; those of the platform come after them. The same name is the same scope.
   */
  scope(name: string): Scope
  /**
   * Restores the state at the start: replies, faults, sequences, the journal, misses, limits, clock, mode, and, if the
   * state is in memory, users, sessions, keys and the outbox.
   */
  reset(options?: TestReset): Promise<void>
  /** Resolves when no request is under way and none has come for a moment. Rejects on a timeout. */
  idle(options?: IdleOptions): Promise<void>
  /**
   * The platform as a handler for your own server: `http.createServer`, `app.use` of express, supertest. It answers every request
   * it gets. It can be mounted below a prefix, but pages and links do not know the prefix.
   */
  readonly handler: Handler
  /** How recordings were used so far; undefined if no mode uses them. */
  receipt(): Receipt | undefined
  /**
   * The latest exchanges whose answers, from the live platform or a recording, broke the contract, the newest first. Resolves
   * when all answers so far have been checked.
   */
  violations(): Promise<readonly EndpointViolations[]>
  /** Changes where answers come from, for all endpoints or for single ones. Throws a `ProblemsError` for a mode that cannot work. */
  switchMode(mode: Mode, modes?: Readonly<Record<string, Mode>>): void
  /** Closes the port. Open streams are cut after `graceMs` (default 0). Recordings are on disk afterwards. A second call does nothing. */
  stop(options?: { graceMs?: number }): Promise<void>
}
