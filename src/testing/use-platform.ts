/** `usePlatform`: a platform for the tests of a file or a group, with any test runner. */
import path from 'node:path'
import type { Miss } from '../recordings/index.js'
import type { TestReset } from './input-check.js'
import { requireNoDrift, requireNone } from './misses.js'
import { type Platform, type PlatformOptions, startForTests, type TestEnvironment } from './platform.js'

/** The hooks of a test runner. In node:test, `beforeAll` is `before` and `afterAll` is `after`. */
export interface TestRunner {
  beforeAll(work: () => Promise<void>): unknown
  beforeEach(work: () => Promise<void>): unknown
  afterEach(work: () => Promise<void>): unknown
  afterAll(work: () => Promise<void>): unknown
  /** The test that is running, as `expect.getState()` of jest and vitest has it. Its requests have their own entry in `prompts.yaml`. */
  testState?(): { readonly testPath?: string | undefined; readonly currentTestName?: string | undefined }
}

export interface UsePlatformOptions extends PlatformOptions {
  /**
   * Environment variables to set while the tests run: `true` for the usual names (`OPENAI_BASE_URL`, `OPENAI_API_KEY`, `SUPABASE_URL`,
   * `SUPABASE_ANON_KEY` and others), or your own names. An app that reads them on import has to be imported later, in a hook.
   *
   * ```ts
   * usePlatform({ env: ({ url, env }) => ({ ...env, CHAT_URL: `${url}/v1` }) })
   * ```
   */
  readonly env?: true | ((platform: Platform) => Readonly<Record<string, string | undefined>>) | undefined
  /** Whether to reset before each test. False for tests that run at the same time, or `{ state: false }` to keep users. */
  readonly reset?: boolean | TestReset | undefined
  /** Whether tests may pass although a request had no prepared answer. */
  readonly allowMisses?: boolean | undefined
}

/** How long requests that are still under way after a test may take to end. */
const IDLE_TIMEOUT_MS = 1000

/**
 * Creates the `usePlatform` of `standin/vitest` for other hooks.
 *
 * ```ts
 * import { after, afterEach, before, beforeEach } from 'node:test'
 * import { createUsePlatform } from 'standin/test-runner'
 *
 * const usePlatform = createUsePlatform({ beforeAll: before, beforeEach, afterEach, afterAll: after })
 * const platform = usePlatform({ env: true })
 * ```
 */
export function createUsePlatform(runner: TestRunner): (options?: UsePlatformOptions) => Platform {
  return (options = {}) => {
    const { env, reset = true, allowMisses = false, ...platformOptions } = options
    let started: Awaited<ReturnType<typeof startForTests>> | undefined
    let current: Platform | undefined
    let restoreVariables = () => {}
    const drifted: Miss[] = []
    const reported = new Set<string>()

    const currentTest = () => {
      const { testPath, currentTestName: name } = runner.testState?.() ?? {}
      const file = testPath && path.relative(process.cwd(), testPath).replaceAll('\\', '/')
      return file && name ? { file, name } : undefined
    }

    /**
     * Fails for requests without an answer, for holds that no request has reached, and for more than the budget. `test` is
     * the one that has just ended.
     */
    const checkTest = async (test?: string) => {
      if (!started) return
      const { platform, testMisses, clearHolds } = started
      const unreached = rejectionOf(platform.expectHoldsReached)
      // A test may end while requests are held.
      clearHolds()
      // Requests that are still under way after that belong to no test. The reset removes them.
      await platform.idle({ quietMs: 0, timeoutMs: IDLE_TIMEOUT_MS }).catch(() => {})
      const { unmatched, missed } = testMisses.unprepared()
      // These tests may go on to pass. All of it is reported once, at the end.
      for (const miss of missed) if (miss.drifted) drifted.push({ ...miss, scope: test ?? miss.scope })
      if (!allowMisses) requireNone({ unmatched, missed: missed.filter(miss => !miss.drifted) }, reported)
      if (unreached) throw unreached.error
      platform.expectWithinBudget()
    }

    runner.beforeAll(async () => {
      started = await startForTests(platformOptions, currentTest)
      current = started.platform
      if (env) restoreVariables = setVariables(env === true ? current.env : env(current))
    })
    if (reset !== false) {
      runner.beforeEach(async () => current?.reset(reset === true ? {} : reset))
      runner.afterEach(() => checkTest(runner.testState?.().currentTestName))
    }
    runner.afterAll(async () => {
      restoreVariables()
      try {
        // For tests that run at the same time, a miss cannot be assigned to one of them.
        if (reset === false) await checkTest()
        if (!allowMisses) requireNoDrift(drifted)
      } finally {
        await current?.stop()
      }
    })
    return platformProxy(() => current)
  }
}

/** What a function throws, if it does. */
function rejectionOf(act: () => void): { readonly error: unknown } | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return { error }
  }
}

/** Sets environment variables. Returns a function that restores the old values. */
function setVariables(values: Readonly<Record<string, string | undefined>> | TestEnvironment): () => void {
  const before = Object.fromEntries(Object.keys(values).map(name => [name, process.env[name]]))
  for (const [name, value] of Object.entries(values)) {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  return () => void setVariables(before)
}

/** Properties that printing, matchers and `await` read from any object. */
const probedProperties = /^(then|toJSON|asymmetricMatch|\$\$typeof|nodeType|constructor)$/

/** A proxy for the platform, because the platform starts later, before the tests. */
function platformProxy(current: () => Platform | undefined): Platform {
  const requirePlatform = (name: string | symbol) => {
    const platform = current()
    if (platform) return platform
    const what = typeof name === 'string' ? `its ${name}` : 'it'
    throw new Error(
      `The platform starts before the tests. Use ${what} in a test or in a hook, not while tests are being declared.`,
    )
  }
  return new Proxy({} as Platform, {
    get: (_target, name) =>
      !current() && (typeof name === 'symbol' || probedProperties.test(name))
        ? undefined
        : Reflect.get(requirePlatform(name), name),
    has: (_target, name) => Reflect.has(requirePlatform(name), name),
    ownKeys: () => Reflect.ownKeys(requirePlatform('')),
    getOwnPropertyDescriptor: (_target, name) => Reflect.getOwnPropertyDescriptor(requirePlatform(name), name),
  })
}
