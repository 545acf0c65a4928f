/** The running platform that tests and scripts use, and how they start it. */
import { objectOf } from '../check/forms.js'
import { plainJson } from '../check/plain-json.js'
import { createLocalClient } from '../control/local.js'
import type { RunningTest } from '../core/exchange.js'
import { isObject } from '../core/json.js'
import { once } from '../core/work.js'
import { environmentFor } from '../environment/index.js'
import type { Handler } from '../http/mount.js'
import { fastReplay, type Override } from '../platform/config/load.js'
import { takesMap } from '../platform/config/options.js'
import type { ConfigInput } from '../platform/config/schema.js'
import { type Platform as OpenPlatform, openPlatform } from '../platform.js'
import type { RuleInput } from '../replies/index.js'
import { createTestClient, type SharedPlatform, type TestEnvironment } from './client.js'
import { localDoor } from './door.js'
import { waitingHolds } from './hold.js'
import { inputCheck, resetOptions } from './input-check.js'
import { runOfTests } from './run.js'
import { type IdleOptions, untilIdle } from './waiting.js'
import { createWebHandler, type WebHandler } from './web-handler.js'

/** A platform in this process. */
export interface Platform extends SharedPlatform {
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
  /** Throws an Error if a test or a scope has exceeded `recordings.budget` since the last reset. */
  expectWithinBudget(): void
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

const givenOptions = inputCheck('startPlatform', objectOf())

/** The same for a test runner, with what only `usePlatform` needs. */
export async function startForTests(
  options: PlatformOptions,
  { currentTest, file = currentTest?.()?.file ?? process.argv[1] ?? '' }: Tests = {},
) {
  const { config, rules = [], listen = true, port = 0, ...others } = givenOptions(options) as typeof options
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
    platform: testPlatform(platform, stop),
    stop,
    /** What the hooks of a runner look at themselves, without a promise. */
    open: platform,
    /** Whether `standin exec` reports what happens. */
    isReported: joined !== undefined,
    /** The option env. */
    ownNames: platform.loaded.config.env,
  }
}

/** No process lives as long as the runner, so none could count for all of them. */
const withoutReceipt = (mode: string) =>
  `STANDIN_MODE=${mode}: each file counts for itself, so nothing is summed up. For one receipt: standin exec --mode ${mode} -- COMMAND`

function testPlatform(platform: OpenPlatform, stop: (graceMs: number) => Promise<unknown>): Platform {
  const { url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey } = platform
  const { traffic, handler, operations } = platform.forTests
  // Requests wait for what a test changes, also if it does not await that. A statement may itself wait for what a request does.
  const isFree = (at: string) => at.startsWith('GET ') || at === 'POST /journal/find' || at === 'POST /tables/sql'
  const control = createLocalClient(operations, (at, work) => (isFree(at) ? work() : traffic.hold(work)))
  const client = createTestClient(localDoor(platform, control))
  const { reset } = client
  const env = once(
    () =>
      Object.fromEntries(environmentFor(platform, { folders: ['.'], env: process.env }).variables) as TestEnvironment,
  )
  // These concern the process itself, so that no operation can do them.
  const own = {
    ...{ url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, handler },
    fetch: createWebHandler(handler),
    get env() {
      return env()
    },
    reset(options = {}) {
      const wanted = resetOptions(options)
      // A test that has ended may have left requests open.
      traffic.disown()
      return reset(wanted)
    },
    idle: options => untilIdle(traffic, options, () => waitingHolds(platform)),
    expectWithinBudget() {
      const sentences = platform.overBudget()
      if (sentences.length > 0) throw new Error(sentences.join('\n'))
    },
    stop: async ({ graceMs = 0 } = {}) => void (await stop(graceMs)),
  } satisfies Partial<Platform>
  return Object.defineProperties(client, Object.getOwnPropertyDescriptors(own)) as Platform
}

/**
 * Turns options in code into overrides of single options, so that the other options of a group keep their value from the
 * file. A resource, a provider and a hook are overridden as a whole.
 */
function* overridesFrom(values: object, parentPath: readonly string[] = []): Generator<Override> {
  for (const [name, value] of Object.entries(values)) {
    const path = [...parentPath, name]
    if (value === undefined) continue
    const isEntry = ['resources', 'auth.external', 'auth.hooks'].includes(parentPath.join('.'))
    const isEmpty = isObject(value) && Object.keys(value).length === 0
    // An entry such as `mcp: { '/mcp': {} }` counts, and so does a mistake, but not a group or a map without anything.
    const isWhole = isEntry || (isEmpty && (name.startsWith('/') || !takesMap(path)))
    if (isObject(value) && !isWhole) yield* overridesFrom(value, path)
    else yield { path, value, origin: 'startPlatform' }
  }
}
