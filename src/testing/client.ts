/** The client of tests for a platform, through whichever door they reach it. */
import type { EndpointViolations } from '../check/finding.js'
import { type Clock, requireClockTime, requireStep } from '../core/clock.js'
import type { Mode } from '../core/exchange.js'
import type { UsualName } from '../environment/index.js'
import type { Platform as OpenPlatform } from '../platform.js'
import type { Receipt } from '../recordings/index.js'
import type { IdTokenProvider, ProviderName } from '../supabase/providers.js'
import { type Abilities, createAbilities, createScope, type Scope, scopeInput, type UserScope } from './abilities.js'
import {
  type AccountOptions,
  accountOptions,
  type IdTokenOptions,
  idTokenOptions,
  type SignInOptions,
  signInOptions,
  type TestSession,
  testSessionOf,
} from './credentials.js'
import type { Control, Door } from './door.js'
import { resetOptions, type TestReset } from './input-check.js'
import { createOutbox, type Outbox } from './outbox.js'
import { createTestTables, type TestTables } from './tables.js'

/** The environment variables from which clients read the addresses and keys of a platform: the usual ones, and others that the project uses. */
export type TestEnvironment = Readonly<Record<UsualName, string> & Record<string, string>>

/** What a test can do with any platform, in this process (`startPlatform()`) or in another one (`connect()`). */
export interface SharedPlatform
  extends Abilities,
    TestTables,
    Pick<OpenPlatform, 'url' | 'authUrl' | 'dashboardUrl' | 'anonKey' | 'serviceKey' | 'apiKey'> {
  /**
   * Addresses and keys by environment variable: `OPENAI_BASE_URL`, `SUPABASE_URL` and so on, and by the other names that the project's environment
   * and its .env files have for them, such as `NEXT_PUBLIC_SUPABASE_URL`.
   */
  readonly env: TestEnvironment
  /** Where answers come from at the moment. */
  readonly mode: Promise<Mode>
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
  /**
   * Signs a user in by an account at another provider of Supabase Auth, such as `github`, without a browser. It is linked to the user
   * with its address, or a new one. `session.provider_token` is made up.
   *
   * ```ts
   * const { session, user } = await platform.signInWith('github', { email: 'ada@example.com' })
   * ```
   */
  signInWith(provider: ProviderName, account?: AccountOptions): Promise<TestSession>
  /**
   * Returns an ID token of another provider, such as `google`, as an app gets it from the provider's own button.
   *
   * ```ts
   * const token = await platform.idToken('google', { email: 'ada@example.com' })
   * await supabase.auth.signInWithIdToken({ provider: 'google', token }) // with auth.external: { google: {} }
   * ```
   */
  idToken(provider: IdTokenProvider, account?: IdTokenOptions): Promise<string>
  /** Emails and text messages that a live backend would have sent, with their codes and links. */
  readonly outbox: Outbox
  /**
   * The clock for tokens, keys, sessions, codes, bans, and the limits per minute. Pacing and timeouts use the real time.
   *
   * ```ts
   * await platform.clock.advance(3_600_000)  // milliseconds
   * ```
   */
  readonly clock: TestClock
  /**
   * A part of the platform for one test, next to others that run at the same time. Its replies, faults and journal only concern
   * requests with its `headers` or its `apiKey`, and come before those of the platform. The same name returns the same scope.
   *
   * The scope of a user has all requests of that user: with their token or their API key, or with their id or address in the body
   * (`safety_identifier`, `user`), whatever the key of the app's server is.
   *
   * ```ts
   * const scope = await platform.scope({ user: 'ada@example.com' })
   * await scope.reply('Hi Ada!')
   * ```
   */
  scope(of: string | UserScope): Promise<Scope>
  /**
   * Restores the initial state of replies, faults, holds, sequences, the journal, misses, limits, clock and mode, and, if the state
   * is in memory, of users, sessions, keys, the outbox and the rows of tables.
   */
  reset(options?: TestReset): Promise<void>
  /** How recordings were used so far; `undefined` if no mode uses them. */
  receipt(): Promise<Receipt | undefined>
  /**
   * The latest violations of the contract by answers of the live platform or of recordings, the newest first. Resolves when all
   * answers so far have been checked.
   */
  violations(): Promise<readonly EndpointViolations[]>
  /** Changes where answers come from, for all endpoints or for single ones. Rejects with a `ProblemsError` for a mode that cannot work. */
  switchMode(mode: Mode, modes?: Readonly<Record<string, Mode>>): Promise<void>
}

/** A clock that tests can set. */
export type TestClock = {
  readonly [Name in keyof Clock]: (...args: Parameters<Clock[Name]>) => Promise<ReturnType<Clock[Name]>>
}

/** Where the platform is, and its keys. */
type PlatformFacts = Pick<
  SharedPlatform,
  'url' | 'authUrl' | 'dashboardUrl' | 'anonKey' | 'serviceKey' | 'apiKey' | 'env'
>

/** Everything that a test can do with a platform. */
export function createTestClient(door: Door): Omit<SharedPlatform, keyof PlatformFacts> {
  const { control } = door
  const scopes = new Map<string, Promise<Scope>>()
  return {
    ...createAbilities(door),
    ...createTestTables(door),
    get mode() {
      return control('GET /mode').then(({ mode }) => mode)
    },
    signIn: async (user = {}) => testSessionOf(await control('POST /sessions', { body: signInOptions(user) })),
    signInWith: async (provider, account = {}) =>
      testSessionOf(await control('POST /sessions', { body: accountOptions({ ...account, provider }) })),
    idToken: async (provider, account = {}) =>
      (await control('POST /id-tokens', { body: idTokenOptions({ ...account, provider }) })).token,
    outbox: createOutbox(door),
    clock: clockOf(control),
    async scope(input) {
      const of = scopeInput(input)
      const name = typeof of === 'string' ? of : (await control('POST /scopes', { body: of })).scope
      const scope = scopes.get(name) ?? createScope(door, name)
      scopes.set(name, scope)
      scope.catch(() => scopes.delete(name))
      return scope
    },
    reset: async (options = {}) => control('POST /reset', { body: resetOptions(options) }),
    receipt: async () => (await control('GET /receipt')).recordings ?? undefined,
    violations: async () => (await control('GET /receipt')).violations,
    switchMode: async (mode, modes = {}) => void (await control('PUT /mode', { body: { mode, modes } })),
  }
}

function clockOf(control: Control): TestClock {
  const state = () => control('GET /settings').then(({ clock }) => clock)
  const change = async (clock: { now?: number; advanceMs?: number; frozen?: boolean; reset?: true }) =>
    void (await control('PUT /settings', { body: { clock } }))
  return {
    now: async () => Date.parse((await state()).now),
    set: async time => change({ now: requireClockTime(time) }),
    advance: async ms => change({ advanceMs: requireStep(ms) }),
    freeze: () => change({ frozen: true }),
    run: () => change({ frozen: false }),
    reset: () => change({ reset: true }),
    state,
  }
}
