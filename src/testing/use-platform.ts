/** `usePlatform`: a platform for the tests of a file or a group, with any test runner. */
import { shortened } from '../core/errors.js'
import type { RunningTest } from '../core/exchange.js'
import { once } from '../core/work.js'
import type { Miss, Receipt, Tidied } from '../recordings/index.js'
import { requireReached } from './hold.js'
import { adviceInWords } from './in-words.js'
import type { TestReset } from './input-check.js'
import { isUnprepared, requireNone, requireUnchanged, unpreparedIn } from './misses.js'
import { type Platform, type PlatformOptions, startForTests } from './platform.js'
import { setVariables, warnOfElsewhere } from './variables.js'

/** The hooks of a test runner. In node:test, `beforeAll` is `before` and `afterAll` is `after`. */
export interface TestRunner {
  beforeAll(work: () => Promise<void>): unknown
  /** `context` is that of node:test, or says that tests run at the same time: `{ isConcurrent: true }`. Other values do not count. */
  beforeEach(work: (context?: unknown) => Promise<void>): unknown
  /** `context` is that of node:test, or whether the test has failed. Other values do not count. */
  afterEach(work: (context?: unknown) => Promise<void>): unknown
  afterAll(work: () => Promise<void>): unknown
  /** The test that is running, as `expect.getState()` of jest and vitest has it. Recordings know it, and so does `prompts.yaml`. */
  testState?(): { readonly testPath?: string | undefined; readonly currentTestName?: string | undefined }
}

/** As long as a start may take: a database for tables is prepared the first time, perhaps on a busy machine. */
export const START_TIMEOUT_MS = 120_000

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
  return ({ env, reset = true, allowMisses, unused, ...platformOptions } = {}) => {
    let current: Platform | undefined
    let checks: TestChecks | undefined
    let restoreVariables = () => {}
    const running = createRunningTest(runner, reset === false)

    runner.beforeAll(async () => {
      const own = typeof env === 'object' ? { env } : {}
      const started = await startForTests({ ...platformOptions, ...own }, { currentTest: running.test })
      current = started.platform
      checks = createChecks(started, { env, allowMisses, unused, rules: platformOptions.rules })
      if (!env) return
      restoreVariables = setVariables(typeof env === 'function' ? env(current) : current.env)
      warnOfElsewhere(current.url, started.ownNames)
    })
    // These two declare no parameter, because jest would wait for them to call that as `done`.
    runner.beforeEach(async (...[context]: readonly unknown[]) => {
      running.begin(context)
      if (reset === false) return
      checks?.lookAtJournal()
      await current?.reset(reset === true ? {} : reset)
    })
    runner.afterEach(async (...[context]: readonly unknown[]) => {
      const ended = running.end(context)
      if (reset !== false) await checks?.endTest({ ...ended, test: runner.testState?.().currentTestName })
    })
    runner.afterAll(async () => {
      restoreVariables()
      try {
        // For tests that run at the same time, a miss cannot be assigned to one of them.
        if (reset === false) await checks?.endTest(running.allEnded())
        checks?.endFile()
      } finally {
        await checks?.endRecordings()
      }
    })
    return platformProxy(() => current)
  }
}

/** The context of node:test, or what the entry points of other runners say instead. */
interface TestContext {
  readonly filePath?: string | undefined
  readonly fullName?: string | undefined
  readonly passed?: boolean | undefined
  readonly isConcurrent?: boolean | undefined
  /** Whether a test that has not failed may have thrown something that the runner does not tell. */
  readonly mayHaveThrown?: boolean | undefined
}

/** Follows which test is running, and whether one has failed. */
function createRunningTest({ testState }: Pick<TestRunner, 'testState'>, areConcurrent: boolean) {
  let context: TestContext = {}
  let all: EndedTest = { hasFailed: false }
  const contextIn = (value: unknown): TestContext => (typeof value === 'object' && value !== null ? value : {})
  return {
    test(): RunningTest | undefined {
      const state = testState?.() ?? {}
      const file = context.filePath ?? state.testPath
      if (file === undefined) return undefined
      if (areConcurrent || context.isConcurrent === true) return { file, isConcurrent: true }
      return { file, name: context.fullName ?? state.currentTestName }
    },
    begin(given: unknown): void {
      context = contextIn(given)
    },
    end(given: unknown): EndedTest {
      const { passed, mayHaveThrown } = contextIn(given)
      const hasFailed = typeof given === 'boolean' ? given : passed === undefined ? undefined : !passed
      all = {
        hasFailed: all.hasFailed || hasFailed || (hasFailed === undefined ? undefined : all.hasFailed),
        mayHaveThrown,
      }
      return { hasFailed, mayHaveThrown }
    },
    allEnded: () => all,
  }
}

const NOTHING_ARRIVED =
  'The platform of usePlatform received no request. Does the app read its base URL before it is set? Import the app in beforeAll.'

interface EndedTest extends Pick<TestContext, 'mayHaveThrown'> {
  /** `undefined` if the runner does not tell. */
  readonly hasFailed: boolean | undefined
  readonly test?: string | undefined
}

type TestChecks = ReturnType<typeof createChecks>

/** Checks what the tests of a file prepared, and what arrived. */
// Long because these checks share what the tests of a file have done.
function createChecks(
  { platform, open, stop, isReported }: Awaited<ReturnType<typeof startForTests>>,
  { env, allowMisses, unused, rules = [] }: Pick<UsePlatformOptions, 'env' | 'allowMisses' | 'unused' | 'rules'>,
) {
  let hasReceived = false
  let isPrepared = rules.length > 0
  const changed: Miss[] = []
  const reported = new Set<string>()
  const lookAtJournal = () => {
    const count = open.journal.count()
    hasReceived ||= count > 0
    return count
  }
  // Without `env`, the test itself says where the app sends its requests.
  const warnOfSilence = once(() => console.warn(NOTHING_ARRIVED))

  return {
    lookAtJournal,
    /** Fails for requests without an answer, for what no request asked for, and for more than the budget. `test` is its name. */
    async endTest(ended: EndedTest) {
      try {
        await this.checkTest(ended)
        if (ended.hasFailed || (ended.hasFailed === false && !ended.mayHaveThrown)) open.endTest(!ended.hasFailed)
      } catch (error) {
        open.endTest(false)
        throw error
      }
    },
    async checkTest({ hasFailed, test }: EndedTest) {
      const unreached = rejectionOf(() => requireReached(open.holds.list()))
      // A test may end while requests are held.
      open.holds.reset()
      // Requests that are still under way after that belong to no test. The reset removes them.
      await platform.idle({ quietMs: 0, timeoutMs: IDLE_TIMEOUT_MS }).catch(() => {})
      // Checks of answers that are under way would be lost with the reset.
      await open.violations.settle()
      const isSilent = lookAtJournal() === 0 && env !== undefined
      const replies = open.rules.list().filter(({ id }) => id !== null)
      isPrepared ||= replies.length > 0 || unreached !== undefined
      if (hasFailed && isSilent) warnOfSilence()
      const unasked = replies.filter(({ answered }) => answered === 0)
      const advice = () => [adviceInWords(open.journal.entries(), test) ?? []].flat()
      // If nobody knows whether the test has failed, an unused reply makes it likely.
      if (hasFailed ?? (!unused && unasked.length > 0)) for (const text of advice()) console.warn(text)
      const { unmatched, missed } = unpreparedIn(open.misses(), unpreparedEntries(open))
      // These tests may go on to pass. All of it is reported once, at the end.
      changed.push(...missed.filter(miss => miss.changed))
      if (!allowMisses) requireNone({ unmatched, missed: missed.filter(miss => !miss.changed) }, reported)
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
    /** Fails for changed requests that the nearest recordings answered. Warns if answers were prepared and nothing arrived: a single test may be about something else. */
    endFile() {
      if (env !== undefined && isPrepared && !hasReceived) warnOfSilence()
      if (!allowMisses && !isReported) requireUnchanged(changed)
    },
    /** Stops the platform, and says what there is to say about recordings. */
    async endRecordings() {
      const tidied = await stop(0)
      if (!isReported) sayAboutRecordings(tidied, open.receipt())
    },
  }
}

/** Most tests have none, and showing an exchange takes time. */
const unpreparedEntries = ({ journal }: Pick<Awaited<ReturnType<typeof startForTests>>['open'], 'journal'>) =>
  journal
    .exchanges()
    .filter(({ exchange }) => isUnprepared({ code: exchange.outcome?.code }))
    .flatMap(({ id }) => journal.get(id) ?? [])

function sayAboutRecordings(tidied: Tidied | undefined, receipt: Receipt | undefined): void {
  const { removed = [], objection } = tidied ?? {}
  const { recorded = 0, remarks = [], notRecorded = [], unreadable = [] } = receipt ?? {}
  const sentences = [
    ...(removed.length > 0 ? [removedText(removed.length)] : []),
    ...(objection === undefined ? [] : [objection]),
    ...unreadable,
    ...(recorded > 0 ? [...remarks, ...notRecorded] : []),
  ]
  if (sentences.length > 0) console.warn(sentences.join('\n'))
}

/** `4 recordings that these tests no longer ask for were removed.` */
const removedText = (count: number) =>
  `${count} ${count === 1 ? 'recording' : 'recordings'} that these tests no longer ask for ${count === 1 ? 'was' : 'were'} removed.`

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
