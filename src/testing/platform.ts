/** The running platform that tests and scripts use, and how they start it. */
import type { EndpointViolations } from '../check/finding.js'
import { plainJson } from '../check/plain-json.js'
import type { Clock } from '../core/clock.js'
import type { Mode, RunningTest } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import { createByScope } from '../core/scope.js'
import { once } from '../core/work.js'
import { environmentFor, type UsualName } from '../environment/index.js'
import type { Handler } from '../http/mount.js'
import { fastReplay, type Override } from '../platform/config/load.js'
import type { ConfigInput } from '../platform/config/schema.js'
import { type Platform as OpenPlatform, openPlatform } from '../platform.js'
import type { Receipt } from '../recordings/index.js'
import type { RuleInput } from '../replies/index.js'
import type { IdTokenProvider, ProviderName } from '../supabase/providers.js'
import {
  type Abilities,
  createAbilities,
  createScope,
  type Scope,
  type SharedAbilities,
  type SharedScope,
  scopeInput,
  type UserScope,
} from './abilities.js'
import {
  type AccountOptions,
  accountOptions,
  createKeys,
  type IdTokenOptions,
  idTokenOptions,
  type SignInOptions,
  signInOptions,
  type TestSession,
  testSessionOf,
} from './credentials.js'
import { waitingHolds } from './hold.js'
import { resetOptions, type TestReset } from './input-check.js'
import type { Awaitable } from './journal.js'
import { createTestMisses, type TestMisses } from './misses.js'
import { createOutbox, type Outbox } from './outbox.js'
import { runOfTests } from './run.js'
import { createTestTables, type TestTables } from './tables.js'
import { type IdleOptions, untilIdle } from './waiting.js'
import { createWebHandler, type WebHandler } from './web-handler.js'

/** The environment variables from which clients read the addresses and keys of a platform: the usual ones, and others that the project uses. */
export type TestEnvironment = Readonly<Record<UsualName, string> & Record<string, string>>

/**
 * What a test can do with any platform, in this process (`startPlatform()`) or in another one (`connect()`). Some results are
 * available at once in this process and a promise from another one; `await` works for both.
 */
export interface SharedPlatform
  extends SharedAbilities,
    TestTables,
    Pick<OpenPlatform, 'url' | 'authUrl' | 'dashboardUrl' | 'anonKey' | 'serviceKey' | 'apiKey'> {
  /**
   * Addresses and keys by environment variable: `OPENAI_BASE_URL`, `SUPABASE_URL` and so on, and by the other names that the project's environment
   * and its .env files have for them, such as `NEXT_PUBLIC_SUPABASE_URL`.
   */
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
  /** The clock for everything that expires. */
  readonly clock: SharedClock
  /** A part of the platform for one test, next to others that run at the same time: by name, or of a user. */
  scope(of: string | UserScope): Awaitable<SharedScope>
  /**
   * Restores the initial state of replies, faults, holds, sequences, the journal, misses, limits, clock and mode, and, if the state
   * is in memory, of users, sessions, keys, the outbox and the rows of tables.
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
   *
   * The scope of a user has all requests of that user: with their token or their API key, or with their id or address in the body
   * (`safety_identifier`, `user`), whatever the key of the app's server is.
   *
   * ```ts
   * const scope = platform.scope({ user: 'ada@example.com' })
   * await scope.reply('Hi Ada!')
   * ```
   */
  scope(of: string | UserScope): Scope
  /**
   * Resolves when no request is under way and none has arrived for `quietMs`. A request that is held is under way. Rejects on a timeout,
   * and names the holds at which requests wait.
   */
  idle(options?: IdleOptions): Promise<void>
  /**
   * The platform as a handler for your own server: `http.createServer`, `app.use` of express, supertest. It answers every request
   * it gets. It can be mounted below a prefix, but pages and links do not know the prefix.
   */
  readonly handler: Handler
  /**
   * The same for handlers of the web's `Request` and `Response`: Next, Hono, MSW, `Bun.serve`.
   *
   * ```ts
   * export const POST = (request: Request) => platform.fetch(request)           // app/v1/[...path]/route.ts of Next
   * http.all('https://api.example.com/*', ({ request }) => platform.fetch(request)) // MSW
   * ```
   *
   * The control API is not among what it answers.
   */
  readonly fetch: WebHandler
  receipt(): Receipt | undefined
  /** Throws an Error if a test or a scope has exceeded `recordings.budget` since the last reset. */
  expectWithinBudget(): void
  /** Changes where answers come from, for all endpoints or for single ones. Throws a `ProblemsError` for a mode that cannot work. */
  switchMode(mode: Mode, modes?: Readonly<Record<string, Mode>>): void
  /** Closes the port. Open streams are cut after `graceMs` (default 0). Recordings are on disk afterwards. A second call does nothing. */
  stop(options?: { graceMs?: number | undefined }): Promise<void>
}

/** The options of `platform.config.yaml`, and further ones. */
export interface PlatformOptions extends ConfigInput {
  /** A configuration file. Without it, no files are read, not even reply files, and the environment is ignored. */
  readonly config?: string | undefined
  /** Rules for the model's answers, which come before those from files. */
  readonly rules?: readonly RuleInput[] | undefined
  /** False to open no port. Only `platform.handler` answers then. Addresses begin with `http://localhost`, where nothing listens. */
  readonly listen?: boolean | undefined
}

/**
 * Starts a platform: on any free port unless configured otherwise, with nothing written to disk and nothing shared with others.
 *
 * ```ts
 * const platform = await startPlatform({ rules: [{ when: { user: 'hello' }, reply: { text: 'Hi!' } }] })
 * const openai = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: platform.apiKey })
 * …
 * await platform.stop()
 * ```
 *
 * Rejects with a `ProblemsError` for invalid options, files or rules, and with a `StartError` if the port is not available.
 */
export const startPlatform = async (options: PlatformOptions = {}): Promise<Platform> =>
  (await startForTests(options)).platform

interface Tests {
  /** The test that is running, if its runner tells. */
  readonly currentTest?: (() => RunningTest | undefined) | undefined
  /** The file that starts the platform. */
  readonly file?: string | undefined
}

/** The same for a test runner, with what only `usePlatform` needs. */
export async function startForTests(
  options: PlatformOptions,
  { currentTest, file = currentTest?.()?.file ?? process.argv[1] ?? '' }: Tests = {},
) {
  const { config, rules = [], listen = true, port = 0, ...others } = options
  const values = plainJson(others, { origin: 'startPlatform' }) as typeof others
  const own = [...overridesFrom({ port, ...values })]
  const { sources, joined, mode } = await runOfTests({ config, own, file })
  const platform = await openPlatform({
    ...sources,
    defaults: [fastReplay('startPlatform')],
    rules,
    listen,
    ...(currentTest && { currentTest }),
  })
  const report = joined && (await import('./report.js')).followRun(platform, joined)
  const testMisses = createTestMisses(platform)
  let stopped: ReturnType<typeof stopAndEnd> | undefined
  async function stopAndEnd(graceMs: number) {
    await platform.stop(graceMs)
    const tidied = await platform.endRun({ exitCode: undefined, isWhole: false, isPruning: false, isSure: false })
    await report?.(tidied)
    if (mode !== undefined && tidied?.isFirst) console.warn(withoutReceipt(mode))
    return tidied
  }
  const stop = (graceMs: number) => {
    stopped ??= stopAndEnd(graceMs)
    return stopped
  }
  return {
    platform: testPlatform(platform, testMisses, stop),
    stop,
    testMisses,
    /** Whether `standin exec` reports what happens. */
    isReported: joined !== undefined,
    clearHolds: () => platform.holds.reset(),
    /** The option env. */
    ownNames: platform.loaded.config.env,
    /** The replies since the last reset. */
    addedReplies: () => platform.rules.list().filter(({ id }) => id !== null),
    endTest: platform.endTest,
  }
}

/** No process lives as long as the runner, so none could count for all of them. */
const withoutReceipt = (mode: string) =>
  `STANDIN_MODE=${mode}: each file counts for itself, so nothing is summed up. For one receipt: standin exec --mode ${mode} -- COMMAND`

function testPlatform(
  platform: OpenPlatform,
  testMisses: TestMisses,
  stop: (graceMs: number) => Promise<unknown>,
): Platform {
  const { url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey } = platform
  const { traffic, handler } = platform.forTests
  const keys = createKeys(platform)
  const parts = { platform, keys, testMisses }
  const env = once(
    () =>
      Object.fromEntries(environmentFor(platform, { folders: ['.'], env: process.env }).variables) as TestEnvironment,
  )
  const scopes = createByScope(name => createScope(name, parts), Number.POSITIVE_INFINITY)
  return {
    url,
    authUrl,
    dashboardUrl,
    anonKey,
    serviceKey,
    apiKey,
    handler,
    fetch: createWebHandler(handler),
    get env() {
      return env()
    },
    get mode() {
      return platform.mode
    },
    ...createAbilities(parts),
    ...createTestTables(platform.tables),
    signIn: async (user = {}) => testSessionOf(await traffic.hold(() => platform.forTests.signIn(signInOptions(user)))),
    signInWith: async (provider, account = {}) =>
      testSessionOf(await traffic.hold(() => platform.forTests.signIn(accountOptions({ ...account, provider })))),
    idToken: async (provider, account = {}) => platform.forTests.idToken(idTokenOptions({ ...account, provider })),
    outbox: createOutbox(platform),
    clock: platform.clock,
    scope(input) {
      const of = scopeInput(input)
      return scopes.get(typeof of === 'string' ? of : platform.forTests.scopes.follow(of.user, of.name))
    },
    reset(options = {}) {
      traffic.disown()
      return platform.reset({ state: resetOptions(options).state })
    },
    idle: options => untilIdle(traffic, options, () => waitingHolds(platform)),
    receipt: () => platform.receipt(),
    expectWithinBudget() {
      const sentences = platform.overBudget()
      if (sentences.length > 0) throw new Error(sentences.join('\n'))
    },
    async violations() {
      await platform.violations.settle()
      return platform.violations.list()
    },
    switchMode: platform.switchMode,
    stop: async ({ graceMs = 0 } = {}) => void (await stop(graceMs)),
  }
}

/**
 * Turns options in code into overrides of single options, so that the other options of a group keep their value from the
 * file. A resource and a provider are overridden as a whole.
 */
function* overridesFrom(values: object, parentPath: readonly string[] = []): Generator<Override> {
  for (const [name, value] of Object.entries(values)) {
    const path = [...parentPath, name]
    if (value === undefined) continue
    const isEntry = parentPath[0] === 'resources' || parentPath.join('.') === 'auth.external'
    const isWhole = isEntry || (isObject(value) && isEmptyEntry(name, value))
    if (isObject(value) && !isWhole) yield* overridesFrom(value, path)
    else yield { path, value, origin: 'startPlatform' }
  }
}

/** Whether an empty object is an entry of a map, such as `mcp: { '/mcp': {} }`, and not a group without options. */
const isEmptyEntry = (name: string, value: object) => name.startsWith('/') && Object.keys(value).length === 0
