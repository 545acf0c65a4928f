/** Puts the platform together: the parts, and their order. The only file that knows every part. */
import { randomBytes } from 'node:crypto'
import { loadConfig } from './config/load.js'
import { createViolations } from './contract/violations.js'
import { createClock } from './core/clock.js'
import { isStateUnavailable, usersAreLive } from './core/errors.js'
import { endIdleWorkers } from './core/in-worker.js'
import { isLoopback } from './core/loopback.js'
import { DASHBOARD } from './core/paths.js'
import { createScopes } from './core/scope.js'
import type { MessageRow } from './core/state.js'
import { once } from './core/work.js'
import { createJournal } from './journal/index.js'
import { createApiKeys } from './keys/api-keys.js'
import { createCounters } from './limits/index.js'
import { createMeter } from './metrics/index.js'
import { type Assemblies, createAssemblies, type Lasting } from './platform/assembly.js'
import { configuredUser } from './platform/configured-user.js'
import { createContractCheck } from './platform/contract-check.js'
import { createDelivery } from './platform/delivery.js'
import { usableKey } from './platform/environment.js'
import { createFaultsPart } from './platform/faults.js'
import { createForTests } from './platform/for-tests.js'
import { createModes, modesIn } from './platform/modes.js'
import { createParts } from './platform/part.js'
import type { Platform } from './platform/platform.js'
import { createRulesPart } from './platform/rules.js'
import { type Changes, createSettings } from './platform/settings.js'
import type { PlatformSources } from './platform/sources.js'
import { createStatePart } from './platform/state.js'
import { createTaping } from './platform/taping.js'
import { urlHost } from './server/address.js'
import type { MintedToken, TokenRequest } from './supabase/operations.js'

export type { Platform } from './platform/platform.js'
export type { PlatformSources } from './platform/sources.js'

/**
 * Reads the configuration, opens the port, and only then loads what not every request needs.
 * Rejects with a ProblemsError for bad configuration or rules, with a StartError for a port or a state that cannot be had.
 */
export async function openPlatform(sources: PlatformSources): Promise<Platform> {
  const parts = createPlatformParts(sources)
  const { delivery, assemblies } = parts
  const { host, port } = assemblies.current().loaded.config
  if (sources.listen !== false) await delivery.listen({ host, port })
  try {
    await parts.ready()
    return platformOf(parts)
  } catch (error) {
    await parts.stop(0)
    throw error
  }
}

type PlatformParts = ReturnType<typeof createPlatformParts>

/** All parts. This function is long because it is the list of them. */
function createPlatformParts(sources: PlatformSources) {
  const { warn = console.error, report: told = console.error } = sources
  // That the state cannot be used is said once, by the state.
  const report = (error: unknown) => {
    if (!isStateUnavailable(error)) told(error)
  }
  const first = loadConfig(sources)
  const { host } = first.config
  const current = () => assemblies.current()
  const loaded = () => current().loaded
  const redact = () => assemblies.completed().redact
  const url = once(() => (sources.listen === false ? 'http://localhost' : `http://${urlHost(host)}:${delivery.port()}`))
  const ownersAreElsewhere = () => loaded().config.auth.mode === 'proxy'
  const renew = () => delivery.renew()
  const readers: ((message: MessageRow) => void)[] = []
  const stopping = new AbortController()

  const clock = createClock()
  const journal = createJournal({ ...first.config.journal, redact, report })
  const meter = createMeter()
  journal.follow(meter.count)
  const apiKeys = createApiKeys({ state: () => state.get(), report, now: clock.now, ownersAreElsewhere })
  const onRevoked = () => current().doorkeeper.forget()
  const state = createStatePart({ loaded: first, clock, apiKeys: () => apiKeys, warn, report, onRevoked })
  const modes = createModes(first, { loaded, warn, port: () => delivery.port() })
  const counters = createCounters(clock.now)
  const apply = (changes: Changes) => {
    current().steer(changes)
    renew()
  }
  const settings = createSettings({ loaded, counters, state: state.get, apply })
  const rules = createRulesPart(current)
  const faults = createFaultsPart(renew)
  const violations = createViolations(report, redact)
  const taping = createTaping({ warn, report, violations: violations.counts })
  const isChecked = () => loaded().config.contract.check && modesIn(modes.current()).some(mode => mode !== 'emulate')
  const contractCheck = createContractCheck({ journal, violations, isOn: isChecked })
  modes.follow(contractCheck.follow)
  modes.follow(renew)
  const lasting: Lasting = {
    ...{
      state: state.get,
      clock,
      apiKeys,
      counters,
      rules: rules.lasting,
      scopes: createScopes(renew),
      modes,
      settings,
    },
    ...{ faultCalls: faults.calls, chances: faults.chances, taping, violations, warn, report, url },
    announce: message => {
      for (const reader of readers) reader(message)
    },
  }

  const assemblies: Assemblies = createAssemblies(first, sources, lasting)
  const controlToken = once(() => (isLoopback(host) ? '' : randomBytes(24).toString('base64url')))
  const ready = once(() => life.open())
  const delivery = createDelivery({
    ...{ line: () => current().line(), journal, warn, report },
    async loadApp(prototypes) {
      const [{ loadApp }] = await Promise.all([import('./platform/app.js'), ready()])
      return loadApp(prototypes, { ...all, current, reset, mintToken, controlToken: token, stopping: stopping.signal })
    },
  })
  const forTests = createForTests({
    ...{ apiKeys, scopes: lasting.scopes, backend: () => current().backend, onRestored: state.onRestored },
    usersAreElsewhere: ownersAreElsewhere,
    seedOf: email => configuredUser(loaded(), email),
  })
  const all = {
    ...{
      sources,
      forTests,
      lasting,
      journal,
      meter,
      apiKeys,
      state,
      modes,
      settings,
      rules,
      faults,
      violations,
      taping,
      delivery,
    },
    assemblies,
    ...{ readers, ready, reset, mintToken, controlToken, stop, url },
    reload: () => life.reload(loadConfig(sources)),
  }
  const token = () => loaded().config.controlToken || controlToken()

  // From the first to the last: what a later one needs comes before it.
  const life = createParts([
    { close: endIdleWorkers },
    modes,
    settings,
    assemblies,
    state,
    rules,
    faults,
    { reset: ({ scope }) => taping.forget(scope), close: taping.flush },
    contractCheck,
    { reset: ({ scope }) => journal.clear(scope === undefined ? {} : { scope }) },
    { reset: ({ scope }) => (scope === undefined ? clock.reset() : undefined) },
    { prepare: async () => renew },
    delivery,
  ])

  // A request must not meet a platform that is half reset.
  function reset(options = {}): Promise<void> {
    return delivery.traffic.hold(() => life.reset(options))
  }

  async function mintToken(wish: TokenRequest): Promise<MintedToken> {
    const { backend, loaded } = current()
    if (wish.role === 'user' && ownersAreElsewhere()) throw usersAreLive()
    const minting = await import('./supabase/mint.js')
    return minting.tokenFor(backend, wish, email => configuredUser(loaded, email))
  }

  async function stop(graceMs: number): Promise<void> {
    stopping.abort()
    await life.close(graceMs)
  }

  return all
}

/** What is given out of the parts. */
function platformOf(parts: PlatformParts): Platform {
  const { assemblies, lasting, modes, state, taping, delivery, faults } = parts
  const { clock } = lasting
  const url = parts.url()
  const current = () => assemblies.current()
  return {
    ...{ url, authUrl: url, dashboardUrl: `${url}${DASHBOARD}`, clock },
    ...{ journal: parts.journal, faultCalls: faults.calls, failNext: faults.failNext, rules: parts.rules.rules },
    ...{ reset: parts.reset, mintToken: parts.mintToken, exportState: state.export, importState: state.import },
    ...{ switchMode: modes.switch, violations: parts.violations, reload: parts.reload },
    ...{ receipt: taping.receipt, misses: taping.misses, onMiss: taping.onMiss },
    onMessage: reader => void parts.readers.push(reader),
    stop: (graceMs = 0) => parts.stop(graceMs),
    forTests: { traffic: delivery.traffic, handler: delivery.handler, ...parts.forTests },
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
      return current().loaded.config.controlToken === '' ? parts.controlToken() : ''
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
