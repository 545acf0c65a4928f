/** `usePlatform`: a platform for the tests of a file or a group, with any test runner. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { shortened } from '../core/errors.js'
import { isObject } from '../core/json.js'
import { once } from '../core/work.js'
import { EXEC_NOTE } from '../platform/config/load.js'
import type { Miss } from '../recordings/index.js'
import { adviceInWords } from './in-words.js'
import type { TestReset } from './input-check.js'
import { requireNoDrift, requireNone } from './misses.js'
import { type Platform, type PlatformOptions, startForTests } from './platform.js'
import { setVariables, warnOfElsewhere } from './variables.js'

/** The hooks of a test runner. In node:test, `beforeAll` is `before` and `afterAll` is `after`. */
export interface TestRunner {
  beforeAll(work: () => Promise<void>): unknown
  beforeEach(work: () => Promise<void>): unknown
  /** `end` is whether the test has failed, or the context that node:test hands to its hooks; without it, nobody knows. */
  afterEach(work: (end?: unknown) => Promise<void>): unknown
  afterAll(work: () => Promise<void>): unknown
  /** The test that is running, as `expect.getState()` of jest and vitest has it. Its requests have their own entry in `prompts.yaml`. */
  testState?(): { readonly testPath?: string | undefined; readonly currentTestName?: string | undefined }
}

export interface UsePlatformOptions extends Omit<PlatformOptions, 'env'> {
  /**
   * Environment variables to set while the tests run: `true` for the usual names (`OPENAI_BASE_URL`, `OPENAI_API_KEY`, `SUPABASE_URL`,
   * `SUPABASE_ANON_KEY` and others) and those that the project uses for the same (`NEXT_PUBLIC_SUPABASE_URL`); an object for your own names
   * besides; or a function for any. An app that reads them on import has to be imported later, in a hook.
   *
   * ```ts
   * usePlatform({ env: { MY_URL: 'supabaseUrl' } })
   * usePlatform({ env: ({ url, env }) => ({ ...env, CHAT_URL: `${url}/chat` }) })
   * ```
   */
  readonly env?:
    | true
    | PlatformOptions['env']
    | ((platform: Platform) => Readonly<Record<string, string | undefined>>)
    | undefined
  /** Whether to reset before each test. False for tests that run at the same time, or `{ state: false }` to keep users. */
  readonly reset?: boolean | TestReset | undefined
  /** Whether tests may pass although a request had no prepared answer. */
  readonly allowMisses?: boolean | undefined
  /**
   * What happens if no request asks for a reply that a test has added, or reaches its hold: the test fails, or a warning is printed.
   * By default, only holds fail tests.
   */
  readonly unused?: 'fail' | 'warn' | undefined
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
    const { env, reset = true, allowMisses, unused, ...platformOptions } = options
    let current: Platform | undefined
    let checks: TestChecks | undefined
    let restoreVariables = () => {}
    const verdicts: Verdict[] = []

    const currentTest = () => {
      const { testPath, currentTestName: name } = runner.testState?.() ?? {}
      const file = testPath && path.relative(process.cwd(), testPath).replaceAll('\\', '/')
      return file && name ? { file, name } : undefined
    }

    runner.beforeAll(async () => {
      const own = typeof env === 'object' ? { env } : {}
      const started = await startForTests({ ...platformOptions, ...own }, currentTest)
      current = started.platform
      checks = createChecks(started, { env, allowMisses, unused, rules: platformOptions.rules })
      noteExec()
      if (!env) return
      restoreVariables = setVariables(typeof env === 'function' ? env(current) : current.env)
      warnOfElsewhere(current.url, started.ownNames)
    })
    if (reset !== false) {
      runner.beforeEach(async () => {
        checks?.lookAtJournal()
        await current?.reset(reset === true ? {} : reset)
      })
      // Declares no parameter, because jest would wait for it to call that as `done`.
      runner.afterEach(async (...[end]: readonly unknown[]) =>
        checks?.endTest({ hasFailed: verdictOf(end), test: runner.testState?.().currentTestName }),
      )
    } else {
      runner.afterEach(async (...[end]: readonly unknown[]) => void verdicts.push(verdictOf(end)))
    }
    runner.afterAll(async () => {
      restoreVariables()
      try {
        // For tests that run at the same time, a miss cannot be assigned to one of them.
        if (reset === false) await checks?.endTest({ hasFailed: verdicts.includes(true) || verdicts[0] })
        checks?.endFile()
      } finally {
        await current?.stop()
      }
    })
    return platformProxy(() => current)
  }
}

const NOTHING_ARRIVED =
  'The platform of usePlatform received no request. Does the app read its base URL before it is set? Import the app in beforeAll.'

/** Whether a test has failed; `undefined` if the runner does not tell. */
type Verdict = boolean | undefined

function verdictOf(end: unknown): Verdict {
  if (typeof end === 'boolean') return end
  const passed = isObject(end) ? end.passed : undefined
  return typeof passed === 'boolean' ? !passed : undefined
}

type TestChecks = ReturnType<typeof createChecks>

/** Checks what the tests of a file prepared, and what arrived. */
function createChecks(
  { platform, testMisses, clearHolds, addedReplies }: Awaited<ReturnType<typeof startForTests>>,
  { env, allowMisses, unused, rules = [] }: Pick<UsePlatformOptions, 'env' | 'allowMisses' | 'unused' | 'rules'>,
) {
  let hasReceived = false
  let isPrepared = rules.length > 0
  const drifted: Miss[] = []
  const reported = new Set<string>()
  const lookAtJournal = () => {
    const count = platform.journal.count()
    hasReceived ||= count > 0
    return count
  }
  // Without `env`, the test itself says where the app sends its requests.
  const warnOfSilence = once(() => console.warn(NOTHING_ARRIVED))

  return {
    lookAtJournal,
    /** Fails for requests without an answer, for what no request asked for, and for more than the budget. `test` is its name. */
    async endTest({ hasFailed, test }: { readonly hasFailed: Verdict; readonly test?: string | undefined }) {
      const unreached = rejectionOf(platform.expectHoldsReached)
      // A test may end while requests are held.
      clearHolds()
      // Requests that are still under way after that belong to no test. The reset removes them.
      await platform.idle({ quietMs: 0, timeoutMs: IDLE_TIMEOUT_MS }).catch(() => {})
      const isSilent = lookAtJournal() === 0 && env !== undefined
      const replies = addedReplies()
      isPrepared ||= replies.length > 0 || unreached !== undefined
      if (hasFailed && isSilent) warnOfSilence()
      const unasked = replies.filter(({ answered }) => answered === 0)
      const advice = () => [adviceInWords(platform.journal.find(), test) ?? []].flat()
      // If nobody knows whether the test has failed, an unused reply makes it likely.
      if (hasFailed ?? (!unused && unasked.length > 0)) for (const text of advice()) console.warn(text)
      const { unmatched, missed } = testMisses.unprepared()
      // These tests may go on to pass. All of it is reported once, at the end.
      for (const miss of missed) if (miss.drifted) drifted.push({ ...miss, scope: test ?? miss.scope })
      if (!allowMisses) requireNone({ unmatched, missed: missed.filter(miss => !miss.drifted) }, reported)
      const unusedSentences = unasked.map(
        ({ rule }) => `No request asked for the reply ${shortened(JSON.stringify(rule), 300)}.`,
      )
      const sentences = [
        ...(unreached ? [unreached.message] : []),
        ...(unused && unasked.length > 0 ? [...unusedSentences, ...(hasFailed ? [] : advice())] : []),
      ]
      if (sentences.length > 0) {
        const message = [...sentences, ...(isSilent ? [NOTHING_ARRIVED] : [])].join('\n')
        if (unused !== 'warn') throw new Error(message)
        console.warn(message)
      }
      platform.expectWithinBudget()
    },
    /** Fails for requests that have drifted. Warns if answers were prepared and nothing arrived: a single test may be about something else. */
    endFile() {
      if (env !== undefined && isPrepared && !hasReceived) warnOfSilence()
      if (!allowMisses) requireNoDrift(drifted)
    },
  }
}

/** `standin exec` names a file, so that of all the processes of a test run only one says this. */
function noteExec(): void {
  const { [EXEC_NOTE]: file } = process.env
  if (file === undefined) return
  try {
    writeFileSync(file, '', { flag: 'wx' })
    console.warn('usePlatform starts a platform of its own: these tests do not use the one of standin exec.')
  } catch {
    // It was said.
  }
}

/** What a function throws, if it does. */
function rejectionOf(act: () => void): Error | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return error as Error
  }
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
