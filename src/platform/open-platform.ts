/** What the commands and the test API get: the public interface of the parts. */
import { DASHBOARD } from '../core/paths.js'
import { once } from '../core/work.js'
import type { Assemblies, Assembly } from './assembly.js'
import type { Delivery } from './delivery.js'
import type { ForTests } from './for-tests.js'
import { type OpenPlatform, usableKey } from './platform.js'
import type { Runtime } from './runtime.js'

interface PlatformParts extends Pick<OpenPlatform, 'reset' | 'reload' | 'stop'> {
  readonly assemblies: Assemblies
  readonly runtime: Runtime
  readonly delivery: Delivery
  readonly forTests: ForTests
  readonly url: () => string
  /** The control token that is used if none is configured. */
  readonly generatedToken: () => string
}

export function platformOf(parts: PlatformParts): OpenPlatform {
  const { assemblies, runtime, delivery, forTests, reset, reload, stop } = parts
  const { modes, recordings, faults, clock, journal, violations, onMessage } = runtime
  const { current } = assemblies
  const url = parts.url()
  return {
    ...{ url, authUrl: url, dashboardUrl: `${url}${DASHBOARD}`, clock },
    ...{ journal, violations, faultCalls: faults.calls, failNext: faults.failNext, rules: runtime.rules.rules },
    switchMode: modes.switch,
    ...{ receipt: recordings.receipt, misses: recordings.misses, onMiss: recordings.onMiss, onMessage },
    ...{ reset, reload, stop, resources: runtime.resources, mcp: runtime.mcp.lists, mintToken: forTests.mintToken },
    ownPathsAt: () => current().ownPathsAt(),
    openApi: async (at = url) => (await import('./app.js')).documentOf({ current, runtime }, at),
    forTests: { traffic: delivery.traffic, handler: delivery.handler, ...forTests },
    get anonKey() {
      return assemblies.completed().tokens.anonKey
    },
    get serviceKey() {
      return assemblies.completed().tokens.serviceKey
    },
    get apiKey() {
      return usableKey(current().loaded.config, clock.now())
    },
    get controlToken() {
      return current().loaded.config.controlToken === '' ? parts.generatedToken() : ''
    },
    get mode() {
      return modes.current().mode
    },
    get modes() {
      return modes.current().modes
    },
    get loaded() {
      return current().loaded
    },
    get textFiles() {
      return assemblies.completed().files
    },
  }
}

/** Loaded with the first call, since only tests and the control API use it. */
export function openForTests(runtime: Runtime, current: () => Assembly): ForTests {
  const load = once(async () => (await import('./for-tests.js')).createForTests(runtime, current))
  return {
    messages: async options => (await load()).messages(options),
    clearMessages: async () => (await load()).clearMessages(),
    signIn: async options => (await load()).signIn(options),
    mintToken: async request => (await load()).mintToken(request),
    createKey: async wish => (await load()).createKey(wish),
  }
}
