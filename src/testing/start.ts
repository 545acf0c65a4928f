/** Starts a platform for a test or a script. */
import { plainJson } from '../check/plain-json.js'
import type { Override } from '../config/load.js'
import type { ConfigInput } from '../config/schema.js'
import { isObject } from '../core/json.js'
import { createByScope } from '../core/scope.js'
import { environmentOf } from '../platform/platform.js'
import { type Platform as OpenPlatform, openPlatform } from '../platform.js'
import type { RuleInput } from '../replies/index.js'
import { createAbilities } from './abilities.js'
import { createKeys, signInOptions, testSessionOf } from './credentials.js'
import { untilIdle } from './idle.js'
import { resetOptions } from './input-check.js'
import { createTestMisses } from './misses.js'
import { createOutbox } from './outbox.js'
import type { Platform, TestEnvironment } from './platform.js'
import { createScope, scopeName } from './scope.js'

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
export async function startPlatform(options: PlatformOptions = {}): Promise<Platform> {
  const { config, rules = [], listen = true, port = 0, ...others } = options
  const values = plainJson(others, { origin: 'startPlatform' }) as typeof others
  const platform = await openPlatform({
    cwd: process.cwd(),
    file: config ?? false,
    flags: [...overridesFrom({ port, ...(config === undefined && { state: 'memory' }), ...values })],
    ...(config !== undefined && { env: process.env }),
    ...{ rules, listen },
  })
  return testPlatform(platform)
}

function testPlatform(platform: OpenPlatform): Platform {
  const { url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey } = platform
  const { traffic, handler } = platform.forTests
  const keys = createKeys(platform)
  const testMisses = createTestMisses(platform)
  const parts = { platform, keys, testMisses }
  const scopes = createByScope(name => createScope(name, parts), Number.POSITIVE_INFINITY)
  let stopped: Promise<void> | undefined
  return {
    ...{ url, authUrl, dashboardUrl, anonKey, serviceKey, apiKey, handler },
    env: Object.fromEntries(environmentOf(platform)) as TestEnvironment,
    get mode() {
      return platform.mode
    },
    ...createAbilities(parts),
    signIn: async (user = {}) => testSessionOf(await traffic.hold(() => platform.forTests.signIn(signInOptions(user)))),
    outbox: createOutbox(platform),
    clock: platform.clock,
    scope: name => scopes.get(scopeName(name)),
    reset(options = {}) {
      traffic.disown()
      return platform.reset({ state: resetOptions(options).state })
    },
    idle: options => untilIdle(traffic, options),
    receipt: platform.receipt,
    async violations() {
      await platform.violations.settle()
      return platform.violations.list()
    },
    switchMode: platform.switchMode,
    stop({ graceMs = 0 } = {}) {
      stopped ??= platform.stop(graceMs)
      return stopped
    },
  }
}

/**
 * Turns options in code into overrides of single options, so that the other options of a group keep their value from the
 * file. A resource is overridden as a whole.
 */
function* overridesFrom(values: object, parentPath: readonly string[] = []): Generator<Override> {
  for (const [name, value] of Object.entries(values)) {
    const path = [...parentPath, name]
    if (value === undefined) continue
    const isWhole = parentPath[0] === 'resources' || (isObject(value) && isEmptyEntry(name, value))
    if (isObject(value) && !isWhole) yield* overridesFrom(value, path)
    else yield { path, value, origin: 'startPlatform' }
  }
}

/** Whether an empty object is an entry of a map, such as `mcp: { '/mcp': {} }`, and not a group without options. */
const isEmptyEntry = (name: string, value: object) => name.startsWith('/') && Object.keys(value).length === 0
