/** Puts the platform together: the only file that knows every part. */
import { randomBytes } from 'node:crypto'
import { createApiKeys } from './auth/api-keys.js'
import type { Identify } from './auth/identify.js'
import type { MintedToken, TokenRequest } from './auth/operations.js'
import { createPeople } from './auth/people.js'
import { type LoadedConfig, loadConfig } from './config/load.js'
import { createViolations, type Violations } from './contract/violations.js'
import { type Clock, createClock } from './core/clock.js'
import { isPublicSecret } from './core/development.js'
import { isStateUnavailable, PlatformError, usersAreLive } from './core/errors.js'
import type { Exchange, Mode } from './core/exchange.js'
import type { FaultCall, FaultCallInput } from './core/fault.js'
import { isLoopback } from './core/loopback.js'
import { DASHBOARD } from './core/paths.js'
import { createScopes } from './core/scope.js'
import type { MessageRow } from './core/state.js'
import type { StateDocument } from './core/state-document.js'
import { once, onceLoaded } from './core/work.js'
import { createChances, createFaultCalls, type FaultCalls, faultCallFromCode } from './faults/index.js'
import { createJournal, type Journal, loadReader } from './journal/index.js'
import { createCounters } from './limits/index.js'
import { createMeter, loadExposition } from './metrics/index.js'
import { assemble, type Lasting } from './platform/assembly.js'
import { keptChanges } from './platform/changes.js'
import {
  chosenIn,
  impossible,
  modesIn,
  openToAll,
  refuseSelf,
  requireModes,
  requirePossible,
  sameModes,
  withModes,
} from './platform/chosen.js'
import { configuredUser } from './platform/configured-user.js'
import { configJson } from './platform/dashboard-facts.js'
import { createDrafts } from './platform/drafts.js'
import { createForTests, type ForTests } from './platform/for-tests.js'
import { loadReplies, type RepliesPart } from './platform/read-replies.js'
import { createRules, openLastingRules, type Rules } from './platform/rules.js'
import { closeState, openSeededState, plant } from './platform/seeded-state.js'
import type { PlatformSources } from './platform/sources.js'
import { createSteering } from './platform/steering.js'
import { createTaping } from './platform/taping.js'
import type { Miss, Receipt } from './recordings/index.js'
import type { Redact } from './redact/index.js'
import { urlHost } from './server/address.js'
import { type App, createEntrance, type Prototypes } from './server/entrance.js'
import { createLine } from './server/line.js'
import { type Listener, listen } from './server/listen.js'
import type { ModesByEndpoint } from './server/modes.js'
import { createMount, refuse } from './server/mount.js'
import { createPacer } from './streaming/pacer.js'
import { version } from './version.js'

export type { PlatformSources } from './platform/sources.js'

/** A platform that answers. */
export interface Platform {
  /** The `base_url` of the platform, without a slash at its end. OpenAI's clients take `${url}/v1`. */
  readonly url: string
  /** What an app hands to Supabase's `createClient`; the client adds `/auth/v1`. */
  readonly authUrl: string
  readonly dashboardUrl: string
  readonly anonKey: string
  readonly serviceKey: string
  /** The first configured API key that works; empty when there is none. */
  readonly apiKey: string
  /** What opens the control API, where others can reach it and no token is configured: made up at the start. Empty otherwise. */
  readonly controlToken: string
  /** Where answers come from. */
  readonly mode: Mode
  /** The configuration in force. */
  readonly loaded: LoadedConfig
  /** The files whose text rules say. */
  readonly textFiles: readonly string[]
  readonly journal: Journal
  /** Faults for the next requests; they outlast a reload. */
  readonly faultCalls: FaultCalls
  /** Puts a fault in line for the next requests that it is meant for. Throws a ProblemsError for one that there is not. */
  failNext(call: FaultCallInput): void
  /** Rules that come and go while it runs; they outlast a reload. */
  readonly rules: Rules
  /**
   * Forgets what was added and remembered in a scope, or in all where none is said: rules at run time, what rules remember, faults for the next
   * requests, which recordings were played, and the journal. Without a scope pace, limits and faults by chance are as the configuration has
   * them again, and nothing is used of the limits.
   */
  reset(scope?: string): Promise<void>
  /** What everything that expires goes by. It outlasts a reload, not a restart. */
  readonly clock: Clock
  /** The modes of single endpoints. */
  readonly modes: ModesByEndpoint
  /**
   * Changes where answers come from, from the next request on, until the configuration says something else. Throws a ProblemsError for a mode
   * that cannot work.
   */
  switchMode(mode: Mode, modes?: ModesByEndpoint): void
  /** What came of recordings so far; nothing where no mode has to do with them. */
  receipt(): Receipt | undefined
  /** What answers of the live platform and of recordings had against the contract. */
  readonly violations: Pick<Violations, 'counts' | 'list' | 'onViolating' | 'settle'>
  /** The last requests that no recording answered, the newest first. */
  misses(): readonly Miss[]
  onMiss(listener: (miss: Miss) => void): void
  /** The listener is told of each mail and text message that a live backend would have sent. */
  onMessage(listener: (message: MessageRow) => void): void
  /** Users, sessions, keys and messages as one document. */
  exportState(): Promise<StateDocument>
  /**
   * Replaces all of the state by what a document says, and forgets what opened doors before. Rejects with a ProblemsError that names the
   * row and the field when it cannot be used; then nothing has changed.
   */
  importState(document: unknown): Promise<void>
  /** A token without a password; users who are not there yet sign up. Rejects with a PlatformError where users are a live backend's. */
  mintToken(wish: TokenRequest): Promise<MintedToken>
  /** Reads everything anew. Rejects with a ProblemsError and goes on as before when something is wrong with it. */
  reload(): Promise<void>
  /** What else tests may do that hold it in their hands. */
  readonly forTests: ForTests
  /** Lets open streams end for `graceMs`, then cuts them. */
  stop(graceMs?: number): Promise<void>
}

/**
 * Reads the configuration, opens the port, and only then loads what not every request needs.
 * Rejects with a ProblemsError for bad configuration or rules, with a StartError for a port or a state that cannot be had.
 */
export async function openPlatform(sources: PlatformSources): Promise<Platform> {
  const told = sources.report ?? console.error
  const warn = sources.warn ?? console.error
  // That the state cannot be used is said once, by the state.
  const report = (error: unknown) => {
    if (!isStateUnavailable(error)) told(error)
  }
  const loaded = loadConfig(sources)
  const violations = createViolations(report, () => redact)
  const journal = createJournal({ ...loaded.config.journal, redact: () => redact, report })
  const meter = createMeter()
  journal.follow(meter.count)
  const clock = createClock()
  const state = onceLoaded(async () => {
    const opened = await openSeededState(loaded, clock, warn)
    opened.onRevoked(() => current.doorkeeper.forget())
    return opened
  })
  const readers: ((message: MessageRow) => void)[] = []
  let url = ''
  let redact: Redact
  const lasting: Lasting = {
    state,
    clock,
    apiKeys: createApiKeys({
      ...{ state, report, now: clock.now },
      ownersAreElsewhere: () => current.loaded.config.auth.mode === 'proxy',
    }),
    counters: createCounters(clock.now),
    faultCalls: createFaultCalls(() => line.renew()),
    rules: onceLoaded(openLastingRules),
    scopes: createScopes(() => line.renew()),
    chances: createChances(),
    chosen: chosenIn(loaded),
    changes: {},
    taping: createTaping({ warn, report, violations: violations.counts }),
    violations,
    warn,
    url: () => url,
    announce: message => {
      for (const reader of readers) reader(message)
    },
  }
  let current = assemble(loaded, sources, lasting)
  let inattentive = () => {}
  /** The journal tells of every exchange; where all of them are made here, nobody has to listen. */
  function attend(): void {
    inattentive()
    const isAsked = current.loaded.config.contract.check && modesIn(lasting.chosen).some(mode => mode !== 'emulate')
    inattentive = isAsked ? journal.follow(violations.take) : () => {}
  }
  attend()
  const openNow = () => openToAll(withModes(current.loaded, lasting.chosen))
  function warnWhereOpen(): void {
    const sentence = openNow()
    if (sentence !== undefined) warn(sentence)
  }
  const rules = createRules(lasting.rules, () => current)
  const steering = createSteering(
    () => current,
    lasting,
    () => line.renew(),
  )

  const { host, port: wantedPort } = current.loaded.config
  function ended(exchange: Exchange): void {
    try {
      journal.add(exchange)
    } catch (error) {
      // The answer has left, and the next request has nothing to do with it.
      report(error)
    }
    entrance.left(exchange)
  }
  const line = createLine(() => current.line(), { ended, pacer: createPacer(), report })
  const stopping = new AbortController()
  const madeUpToken = once(() => (isLoopback(host) ? '' : randomBytes(24).toString('base64url')))
  let app: (() => Promise<App>) | undefined
  const entrance = createEntrance({
    line: line.accept,
    rest(request, response, prototypes) {
      app ??= onceLoaded(() => loadApp(prototypes))
      app()
        .then(answer => answer(request, response))
        .catch(error => {
          report(error)
          if (error instanceof PlatformError && !response.headersSent) refuse(request, response, error)
          else response.destroy()
        })
    },
  })
  const mount = createMount(entrance)
  const listener = sources.listen === false ? nowhere : await listen(entrance, { host, port: wantedPort, warn })

  url = listener === nowhere ? 'http://localhost' : `http://${urlHost(host)}:${listener.port}`
  const dashboardUrl = `${url}${DASHBOARD}`

  async function loadApp(prototypes: Prototypes): Promise<App> {
    const [{ createApp }, { createControl }, { createDashboard }, { createReader }, auth] = await Promise.all([
      import('./server/app.js'),
      import('./server/control.js'),
      import('./dashboard/index.js'),
      loadReader(),
      import('./auth/open-sessions.js'),
    ])
    const identify: Identify = authorization => current.doorkeeper.identify(authorization)
    const token = () => current.loaded.config.controlToken || madeUpToken()
    const keys = { identify, token, isServicePublic: () => isPublicSecret(current.loaded.config.auth.jwtSecret) }
    const people = createPeople(state)
    const dashboard = createDashboard({
      config: () => configJson(current, lasting.chosen.mode, url),
      apiKeys: lasting.apiKeys,
      now: clock.now,
      identify,
      keys,
      people,
    })
    const readiness = () => ({ mode: lasting.chosen.mode, url, version: current.loaded.config.version })
    const { faultCalls, taping } = lasting
    const faults = { ...faultCalls, add: async (call: FaultCall) => addFault(await loadReplies(), call) }
    const modes = {
      current: () => ({ mode: lasting.chosen.mode, modes: lasting.chosen.modes }),
      configured: () => current.loaded.config,
      change: switchMode,
      impossible: (mode: Mode) => impossible(withModes(current.loaded, { mode, modes: {} }), listener.port),
    }
    const control = createControl({
      ...{ ...keys, readiness, people, faults, rules, reset, modes, steering, clock, journal, host },
      ...{ exportState, importState, mintToken, metrics, document, violations },
      ...taping,
      library: () => current.library(),
      reader: createReader({ journal, url: () => url, stopping: stopping.signal }),
      sessions: auth.createOpenSessions(state, () => current.loaded.config.auth.jwtExp),
      drafts: createDrafts(() => current, sources),
    })
    return createApp({ prototypes, host, control, dashboard, report })
  }

  async function metrics() {
    const { createExposition } = await loadExposition()
    return createExposition(meter, () => ({
      version,
      mode: lasting.chosen.mode,
      journal: { kept: journal.count(), passedOver: journal.passedOver() },
      receipt: lasting.taping.receipt(),
    }))
  }

  function switchMode(mode: Mode, modes: ModesByEndpoint = {}): void {
    requireModes({ mode, modes })
    const before = withModes(current.loaded, lasting.chosen)
    const switched = withModes(current.loaded, { mode, modes })
    requirePossible(switched, listener.port)
    lasting.chosen = chosenIn(switched)
    line.renew()
    attend()
    if (!sameModes(switched, before)) warnWhereOpen()
  }

  function addFault({ conditionsOn }: RepliesPart, call: FaultCall) {
    if (call.when === undefined) return lasting.faultCalls.add(call)
    const { when, fit } = conditionsOn(call.when)
    return lasting.faultCalls.add({ ...call, when: { ...when } }, fit)
  }

  async function reset(scope?: string): Promise<void> {
    const { memory, atRunTime } = await lasting.rules()
    atRunTime.remove({ scope })
    memory.forget(scope)
    lasting.faultCalls.clear(scope)
    lasting.chances.forget(scope)
    lasting.taping.forget(scope)
    if (scope === undefined) violations.forget()
    journal.clear(scope === undefined ? {} : { scope })
    // They hold for every scope, so that no single one may take them back.
    if (scope === undefined) steering.reset()
  }

  // Uses of keys that are gathered still belong to the state of before.
  async function exportState(): Promise<StateDocument> {
    await lasting.apiKeys.flush()
    const documents = await import('./state/index.js')
    return documents.exportState(await state())
  }

  async function importState(document: unknown): Promise<void> {
    await lasting.apiKeys.flush()
    const documents = await import('./state/index.js')
    await documents.importState(await state(), document)
  }

  async function document(): Promise<object> {
    const { openApiOf } = await import('./platform/openapi/document.js')
    return openApiOf(withModes(current.loaded, lasting.chosen).config, { url })
  }

  async function mintToken(wish: TokenRequest): Promise<MintedToken> {
    const { backend, loaded } = current
    if (wish.role === 'user' && loaded.config.auth.mode === 'proxy') throw usersAreLive()
    const minting = await import('./auth/mint.js')
    return minting.tokenFor(backend, wish, email => configuredUser(loaded, email))
  }

  const forTests = createForTests(
    {
      traffic: entrance.traffic,
      handler: mount.handler,
      configuredModes: () => ({ mode: current.loaded.config.mode, modes: current.loaded.config.modes }),
    },
    {
      ...{ apiKeys: lasting.apiKeys, scopes: lasting.scopes },
      backend: () => current.backend,
      usersAreElsewhere: () => current.loaded.config.auth.mode === 'proxy',
      seedOf: email => configuredUser(current.loaded, email),
    },
  )

  async function stop(graceMs: number): Promise<void> {
    stopping.abort()
    entrance.close()
    await Promise.all([listener.stop(graceMs), mount.stop(graceMs)])
    await Promise.all([lasting.taping.flush(), violations.settle()])
    await closeState(lasting, report)
    const { endIdleWorkers } = await import('./core/in-worker.js')
    await endIdleWorkers()
  }

  try {
    refuseSelf(current.loaded, listener.port)
    const parts = [state(), current.complete(lasting.chosen), loadReplies(), lasting.rules()] as const
    const [opened, first, repliesPart, { memory }] = await Promise.all(parts)
    let { tokens, files } = first
    redact = first.redact
    warnWhereOpen()
    return {
      url,
      authUrl: url,
      dashboardUrl,
      journal,
      faultCalls: lasting.faultCalls,
      failNext: call => void addFault(repliesPart, faultCallFromCode(call)),
      rules,
      reset,
      clock,
      get anonKey() {
        return tokens.anonKey
      },
      get serviceKey() {
        return tokens.serviceKey
      },
      get apiKey() {
        return current.loaded.config.apiKeys.find(isUsableAt(clock.now()))?.key ?? ''
      },
      get controlToken() {
        return current.loaded.config.controlToken === '' ? madeUpToken() : ''
      },
      get mode() {
        return lasting.chosen.mode
      },
      get loaded() {
        return current.loaded
      },
      get textFiles() {
        return files
      },
      get modes() {
        return lasting.chosen.modes
      },
      switchMode,
      receipt: lasting.taping.receipt,
      violations,
      misses: lasting.taping.misses,
      onMiss: lasting.taping.onMiss,
      onMessage: reader => void readers.push(reader),
      ...{ exportState, importState, mintToken, forTests },
      async reload() {
        const next = assemble(loadConfig(sources), sources, lasting)
        const chosen = sameModes(next.loaded, current.loaded) ? lasting.chosen : chosenIn(next.loaded)
        refuseSelf(withModes(next.loaded, chosen), listener.port)
        const completed = await next.complete(chosen)
        await plant(opened, next.loaded, clock)
        const wasOpen = openNow() !== undefined
        tokens = completed.tokens
        redact = completed.redact
        files = completed.files
        lasting.chosen = chosen
        lasting.changes = keptChanges(lasting.changes, current.loaded, next.loaded)
        next.steer(lasting.changes)
        current = next
        line.renew()
        attend()
        if (!wasOpen) warnWhereOpen()
        memory.restartScenarios()
      },
      stop: (graceMs = 0) => stop(graceMs),
    }
  } catch (error) {
    await stop(0)
    throw error
  }
}

/** Where no port is opened. */
const nowhere: Listener = { port: 0, stop: async () => {} }

const isUsableAt =
  (ms: number) =>
  ({ revoked, expiresAt }: { revoked: boolean; expiresAt?: string | undefined }) =>
    !revoked && (expiresAt === undefined || Date.parse(expiresAt) > ms)
