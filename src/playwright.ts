/** The entry point for Playwright: a `test` whose tests have a part of a platform and a user of their own, and an `expect` with matchers. */
import './check/require-node.js'
import { randomBytes } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import {
  expect as baseExpect,
  test as baseTest,
  type ExpectMatcherState,
  type Page,
  type TestInfo,
} from '@playwright/test'
import { testNameOf } from './recordings/index.js'
import type { Scope } from './testing/abilities.js'
import { storageKeysOf, writeSession } from './testing/browser-session.js'
import type { SharedPlatform } from './testing/client.js'
import { connect } from './testing/connect.js'
import type { SignInOptions, TestSession } from './testing/credentials.js'
import { adviceInWords, receivedInWords } from './testing/in-words.js'
import { type MatcherResult, matchers, type Receiver } from './testing/matchers.js'
import { type PlatformOptions, startForTests } from './testing/platform.js'
import { setVariables, warnOfElsewhere } from './testing/variables.js'

/** Which Standin the tests of a project use. */
export interface StandinSource extends PlatformOptions {
  /** The address of one that is running, for example because `webServer` started it. */
  readonly url?: string | undefined
  /** Its control token. Only needed if it can be reached from other machines. */
  readonly controlToken?: string | undefined
}

/** What `use` in the configuration of Playwright can set: `defineConfig<StandinOptions>({ use: { … } })`. */
export interface StandinOptions {
  /**
   * Which Standin the tests use. With `url`, that one. Without any option, the one of `PLATFORM_BASE_URL`, which `standin exec` sets.
   * Otherwise each worker starts its own, with the options of `startPlatform`.
   */
  standinOptions: StandinSource
  /** Whether tests may pass although a request had no prepared answer. */
  allowMisses: boolean
}

/** The part of a platform that belongs to one test: to requests of its users, with its API key, or with its headers. */
export interface TestPlatform extends Scope {
  /** The address of the user who belongs to this test alone. They are signed up by `signIn(page)`, or by the app. */
  readonly email: string
}

export interface PageSignInOptions extends SignInOptions {
  /** The `storageKey` of the app's client, if it sets one. */
  readonly storageKey?: string | undefined
}

interface TestFixtures extends Pick<StandinOptions, 'allowMisses'> {
  /**
   * Replies, faults, holds and requests of this test alone. At its end, the test fails if a request had no prepared answer, or if
   * a hold was not reached.
   *
   * ```ts
   * test('the weather is shown', async ({ page, platform, signIn }) => {
   *   await platform.reply('Sunny.')
   *   await signIn(page)
   *   await page.goto('/')
   *   await expect(page.getByText('Sunny.')).toBeVisible()
   * })
   * ```
   */
  platform: TestPlatform
  /**
   * Signs the test's user in without clicks: writes the session for supabase-js and `@supabase/ssr`, for the origin of the page, or of
   * `baseURL`. A page that is open is loaded again. With `email`, it is another user, whose requests then belong to the test, too.
   */
  signIn(page: Page, options?: PageSignInOptions): Promise<TestSession>
}

interface WorkerFixtures extends Pick<StandinOptions, 'standinOptions'> {
  /** The whole platform: its outbox, its clock, its keys, and what other tests see, too. Its `env` is in the environment of the worker. */
  standin: SharedPlatform
}

/** `test` of Playwright with the fixtures `platform`, `signIn` and `standin`. Combine it with your own: `mergeTests(test, yours)`. */
export const test = baseTest.extend<TestFixtures, WorkerFixtures>({
  standinOptions: [{}, { scope: 'worker', option: true }],
  allowMisses: [false, { option: true }],
  standin: [
    async ({ standinOptions }, use, { config }) => {
      const { url, controlToken, ...options } = standinOptions
      const running = addressOfRunning(url, Object.keys(options))
      const file = config.configFile ?? config.rootDir
      const own = running === undefined ? await startForTests(options, { file }) : undefined
      const standin = await connect(own?.platform.url ?? running ?? '', { controlToken })
      // For the code of the tests themselves, which would otherwise reach the live platform.
      const restoreVariables = setVariables(standin.env)
      if (own) warnOfElsewhere(standin.url, own.ownNames)
      await use(standin)
      restoreVariables()
      await own?.platform.stop()
    },
    { scope: 'worker' },
  ],
  platform: async ({ standin, allowMisses }, use, testInfo) => {
    const email = `test-${randomBytes(6).toString('hex')}@example.com`
    const scope = await standin.scope({ user: email, name: scopeOf(testInfo) })
    // A run that was killed may have left something.
    await scope.reset()
    let result: 'passed' | 'failed' = 'failed'
    try {
      await use({ ...scope, email })
      const problems = await problemsAfterTest(scope, allowMisses)
      const hasFailed = testInfo.status !== testInfo.expectedStatus
      if (problems.length === 0 && testInfo.status === 'passed') result = 'passed'
      const entries = problems.length > 0 || hasFailed ? await scope.journal.find() : []
      const sentences = [...problems, ...(hasFailed ? [adviceInWords(entries) ?? []].flat() : [])]
      if (problems.length > 0 || hasFailed)
        await testInfo.attach('standin', { body: receivedInWords(entries), contentType: 'text/plain' })
      if (sentences.length > 0) throw new Error(sentences.join('\n\n'))
    } finally {
      await scope.close(result)
    }
  },
  signIn: async ({ standin, platform, baseURL }, use) =>
    use(async (page, { storageKey, ...user } = {}) => {
      const signedIn = await standin.signIn({ email: platform.email, ...user })
      await standin.scope({ user: signedIn.user, name: platform.name })
      const keys = storageKey === undefined ? storageKeysOf(standin.authUrl) : [storageKey]
      await writeSession(page, signedIn.session, { keys, baseURL })
      return signedIn
    }),
})

/** The address of the Standin that runs already; `undefined` if there are options for one of the worker's own. */
function addressOfRunning(url: string | undefined, options: readonly string[]): string | undefined {
  if (options.length === 0) return url ?? process.env.PLATFORM_BASE_URL
  if (url === undefined) return undefined
  throw new Error(`standinOptions: the Standin at ${url} runs already, so ${options.join(', ')} cannot be set here.`)
}

/** The name of a test, which recordings and the journal have: the same in each run, on each machine, and of one test at a time. */
function scopeOf({ project, file, titlePath: [, ...titles], repeatEachIndex }: TestInfo): string {
  const repeated = repeatEachIndex === 0 ? [] : [`repeat ${repeatEachIndex}`]
  const name = testNameOf({ scope: '', running: { file, name: [...titles, ...repeated].join(' > ') } }, file)
  // Names of scopes can be sent in headers.
  return `${name}${project.name === '' ? '' : ` [${project.name}]`}`.replace(/[^ -~]+/g, encodeURIComponent)
}

/** What was not as prepared: holds that no request has reached, and requests without an answer. */
async function problemsAfterTest(scope: Scope, allowMisses: boolean): Promise<readonly string[]> {
  const checks = [scope.expectHoldsReached(), ...(allowMisses ? [] : [scope.expectNoMisses()])]
  const outcomes = await Promise.allSettled(checks)
  return outcomes.flatMap(outcome => (outcome.status === 'rejected' ? [outcome.reason.message] : []))
}

/** How often the platform is asked while a matcher waits. */
const POLL_INTERVAL_MS = 100

/** Makes a matcher wait until it passes, as those of Playwright do, for at most the time limit of `expect`. */
const waiting = <Args extends readonly unknown[]>(
  matcher: (this: ExpectMatcherState, receiver: unknown, ...args: Args) => Promise<MatcherResult>,
) =>
  async function (this: ExpectMatcherState, receiver: Receiver, ...args: Args): Promise<MatcherResult> {
    for (const until = performance.now() + this.timeout; ; await setTimeout(POLL_INTERVAL_MS)) {
      const result = await matcher.call(this, receiver, ...args)
      if (result.pass !== this.isNot || performance.now() >= until) return result
    }
  }

/** `expect` of Playwright with the matchers for `platform`. They wait, so they must be awaited. */
export const expect = baseExpect.extend({
  toHaveReceived: waiting(matchers.toHaveReceived),
  toHaveReceivedTimes: waiting(matchers.toHaveReceivedTimes),
  toHaveReceivedLast: waiting(matchers.toHaveReceivedLast),
  toHaveCalledTool: waiting(matchers.toHaveCalledTool),
  toHaveCalledTools: waiting(matchers.toHaveCalledTools),
  toHaveHandled: waiting(matchers.toHaveHandled),
})
