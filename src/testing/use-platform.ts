/** `usePlatform`: a platform for the tests of a file or a group, with any test runner. */
import { shortened } from '../core/errors.js'
import type { RunningTest } from '../core/exchange.js'
import { once } from '../core/work.js'
import type { Miss, Receipt, Tidied } from '../recordings/index.js'
import type { ListedRule } from '../replies/index.js'
import { unreachedHolds } from './hold.js'
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
      checks = new TestChecks(started, { env, allowMisses, unused, rules: platformOptions.rules })
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

type Started = Awaited<ReturnType<typeof startForTests>>

/** Checks what the tests of a file prepared, and what arrived. */
class TestChecks {
  #hasReceived = false
  #isPrepared: boolean
  readonly #changed: Miss[] = []
  readonly #reported = new Set<string>()
  // Without `env`, the test itself says where the app sends its requests.
  readonly #warnOfSilence = once(() => console.warn(NOTHING_ARRIVED))

  constructor(
    private readonly started: Started,
    private readonly options: Pick<UsePlatformOptions, 'env' | 'allowMisses' | 'unused' | 'rules'>,
  ) {
    this.#isPrepared = (options.rules ?? []).length > 0
  }

  lookAtJournal(): number {
    const count = this.started.open.journal.count()
    this.#hasReceived ||= count > 0
    return count
  }

  /** Fails for requests without an answer, for what no request asked for, and for more than the budget. `test` is its name. */
  async endTest(ended: EndedTest) {
    const { open } = this.started
    await this.#checkTest(ended).catch(error => {
      open.endTest(false)
      throw error
    })
    if (ended.hasFailed || (ended.hasFailed === false && !ended.mayHaveThrown)) open.endTest(!ended.hasFailed)
  }

  async #checkTest({ hasFailed, test }: EndedTest) {
    const { platform, open } = this.started
    const { env, allowMisses, unused } = this.options
    const unreached = await this.#settle()
    const isSilent = this.lookAtJournal() === 0 && env !== undefined
    const replies = open.rules.list().filter(({ id }) => id !== null)
    this.#isPrepared ||= replies.length > 0 || unreached.length > 0
    if (hasFailed && isSilent) this.#warnOfSilence()
    const unasked = replies.filter(({ answered }) => answered === 0)
    const advice = () => [adviceInWords(open.journal.entries(), test) ?? []].flat()
    // If nobody knows whether the test has failed, an unused reply makes it likely.
    if (hasFailed ?? (!unused && unasked.length > 0)) for (const text of advice()) console.warn(text)
    const { unmatched, missed } = unpreparedIn(open.misses(), unpreparedEntries(open))
    // These tests may go on to pass. All of it is reported once, at the end.
    this.#changed.push(...missed.filter(miss => miss.changed))
    if (!allowMisses) requireNone({ unmatched, missed: missed.filter(miss => !miss.changed) }, this.#reported)
    const ofUnused = () => [...unasked.map(unaskedText), ...(hasFailed ? [] : advice())]
    const sentences = [...unreached, ...(unused && unasked.length > 0 ? ofUnused() : [])]
    if (sentences.length > 0) {
      const message = [...sentences, ...(isSilent ? [NOTHING_ARRIVED] : [])].join('\n')
      if (unused !== 'warn') throw new Error(message)
      console.warn(message)
    }
    platform.expectWithinBudget()
  }

  /** Ends what is still going on. Resolves to a sentence for each hold that no request has reached. */
  async #settle(): Promise<readonly string[]> {
    const { platform, open } = this.started
    const unreached = unreachedHolds(open.holds.list())
    // A test may end while requests are held.
    open.holds.reset()
    // Requests that are still under way after that belong to no test. The reset removes them.
    await platform.idle({ quietMs: 0, timeoutMs: IDLE_TIMEOUT_MS }).catch(() => {})
    // Checks of answers that are under way would be lost with the reset.
    await open.violations.settle()
    return unreached
  }

  /** Fails for changed requests that the nearest recordings answered. Warns if answers were prepared and nothing arrived: a single test may be about something else. */
  endFile() {
    const { env, allowMisses } = this.options
    if (env !== undefined && this.#isPrepared && !this.#hasReceived) this.#warnOfSilence()
    if (!allowMisses && !this.started.isReported) requireUnchanged(this.#changed)
  }

  /** Stops the platform, and says what there is to say about recordings. */
  async endRecordings() {
    const { stop, isReported, open } = this.started
    const tidied = await stop(0)
    if (!isReported) sayAboutRecordings(tidied, open.receipt())
  }
}

const unaskedText = ({ rule }: ListedRule) => `No request asked for the reply ${shortened(JSON.stringify(rule), 300)}.`

/** Most tests have none, and showing an exchange takes time. */
const unpreparedEntries = ({ journal }: Started['open']) =>
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
