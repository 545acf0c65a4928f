/** What the commands and the test API get: the public interface of the parts. */
import { DASHBOARD } from '../core/paths.js'
import type { Assemblies } from './assembly.js'
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
      return current().tokens.anonKey
    },
    get serviceKey() {
      return current().tokens.serviceKey
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
    get redact() {
      return current().redact
    },
    get textFiles() {
      return current().files
    },
  }
}
