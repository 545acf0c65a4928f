/** A platform for the tests of a file or a group, with whatever runs them. */
import type { Platform, TestEnvironment } from './platform.js'
import type { TestReset } from './reset.js'
import { type PlatformOptions, startPlatform } from './start.js'

/** What begins and ends tests: the functions of these names in vitest and jest, and `before` and `after` of node:test for all. */
export interface TestRunner {
  beforeAll(work: () => Promise<void>): unknown
  beforeEach(work: () => Promise<void>): unknown
  afterEach(work: () => Promise<void>): unknown
  afterAll(work: () => Promise<void>): unknown
}

export interface UsePlatformOptions extends PlatformOptions {
  /**
   * Variables of the environment while the tests run: `true` for the usual names (`OPENAI_BASE_URL`, `OPENAI_API_KEY`, `SUPABASE_URL`,
   * `SUPABASE_ANON_KEY` and others), or names of one's own. An app that reads them when it is imported has to be imported later, in a hook.
   *
   * ```ts
   * usePlatform({ env: ({ url, env }) => ({ ...env, CHAT_URL: `${url}/v1` }) })
   * ```
   */
  readonly env?: true | ((platform: Platform) => Readonly<Record<string, string | undefined>>)
  /** Before each test everything is as at the start: false for tests that run at the same time, or `{ state: false }` to keep users. */
  readonly reset?: boolean | TestReset
  /** Whether tests may go well although something was asked for which nothing was prepared. */
  readonly allowMisses?: boolean
}

/** How long what a test has left under way may take to end. */
const LAST_MS = 1000

/**
 * What `usePlatform` of `standin/vitest` is, with these hooks.
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
    const { env, reset = true, allowMisses = false, ...more } = options
    let current: Platform | undefined
    let putBack = () => {}

    const requireNoMisses = async () => {
      if (!current) return
      // What is still under way then is not this test's fault, and not the next one's either: a reset forgets it.
      await current.idle({ quietMs: 0, timeoutMs: LAST_MS }).catch(() => {})
      if (!allowMisses) current.expectNoMisses()
    }

    runner.beforeAll(async () => {
      current = await startPlatform(more)
      if (env) putBack = setVariables(env === true ? current.env : env(current))
    })
    if (reset !== false) {
      runner.beforeEach(async () => current?.reset(reset === true ? {} : reset))
      runner.afterEach(requireNoMisses)
    }
    runner.afterAll(async () => {
      putBack()
      try {
        // Of tests that run at the same time nobody can say whose a miss is.
        if (reset === false) await requireNoMisses()
      } finally {
        await current?.stop()
      }
    })
    return standingFor(() => current)
  }
}

/** Gives back what puts the variables back. */
function setVariables(wanted: Readonly<Record<string, string | undefined>> | TestEnvironment): () => void {
  const before = Object.keys(wanted).map(name => [name, process.env[name]] as const)
  for (const [name, value] of Object.entries(wanted)) setVariable(name, value)
  return () => {
    for (const [name, value] of before) setVariable(name, value)
  }
}

function setVariable(name: string, value: string | undefined): void {
  if (value === undefined) delete process.env[name]
  else process.env[name] = value
}

/** What printers and promises look for in everything. */
const askedOfEverything = new Set<string | symbol>([
  'then',
  'toJSON',
  'asymmetricMatch',
  '$$typeof',
  'nodeType',
  'constructor',
])

/** The platform that is to be there when somebody asks it something. */
function standingFor(current: () => Platform | undefined): Platform {
  const started = (name: string | symbol) => {
    const platform = current()
    if (platform) return platform
    const what = typeof name === 'string' ? ` for its ${name}` : ''
    throw new Error(
      `The platform starts before the tests. Ask it${what} in a test or in a hook, not while tests are being declared.`,
    )
  }
  return new Proxy({} as Platform, {
    get: (_target, name) =>
      !current() && (typeof name === 'symbol' || askedOfEverything.has(name))
        ? undefined
        : Reflect.get(started(name), name),
    has: (_target, name) => Reflect.has(started(name), name),
    ownKeys: () => Reflect.ownKeys(started('')),
    getOwnPropertyDescriptor: (_target, name) => Reflect.getOwnPropertyDescriptor(started(name), name),
  })
}
