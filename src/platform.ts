/** Puts the platform together: the only file that knows every part. */
import { randomBytes } from 'node:crypto'
import { type ApiKeys, createApiKeys } from './auth/api-keys.js'
import type { Backend } from './auth/backend.js'
import { createGateway } from './auth/gateway.js'
import { createDoorkeeper, type Doorkeeper, type Identify } from './auth/identify.js'
import type { MintedToken, TokenWish } from './auth/mint.js'
import { identifyPassed } from './auth/passed.js'
import type { Tokens } from './auth/tokens.js'
import { askingLive, type ConfigSources, type LoadedConfig, loadConfig, replyFilesOf } from './config/load.js'
import type { Config } from './config/schema.js'
import { type Clock, createClock } from './core/clock.js'
import { developmentUser } from './core/development.js'
import { PlatformError, usersAreLive } from './core/errors.js'
import { asksLive, type Endpoint, type Mode, usesRecordings } from './core/exchange.js'
import type { FaultCall, FaultCallInput } from './core/fault.js'
import { once } from './core/once.js'
import { ProblemsError } from './core/problem.js'
import type { Redact } from './core/redact.js'
import { AUTH, DASHBOARD } from './core/reserved.js'
import { createScopes, type Scopes } from './core/scope.js'
import { type MessageRow, type State, TakenError } from './core/state.js'
import type { StateDocument } from './core/state-document.js'
import type { DashboardFacts } from './dashboard/index.js'
import { createEndpoints, createRoutes } from './endpoints/index.js'
import {
  type Chances,
  createChances,
  createFaultCalls,
  createFaults,
  type FaultCalls,
  faultCallFromCode,
} from './faults/index.js'
import { createJournal, type Journal } from './journal/index.js'
import { type Counters, createCounters, createLimits } from './limits/index.js'
import { type Chosen, chosenIn, modesIn, refuseSelf, requireModes, sameModes, withModes } from './platform/chosen.js'
import { configuredUser } from './platform/configured-user.js'
import { createRules, type LastingRules, openLastingRules, type Rules } from './platform/rules.js'
import { createTaping, loadRedact, type Receipt, type Taping } from './platform/taping.js'
import { openAuthProxy, openProxy } from './platform/ways.js'
import type { Miss } from './recordings/index.js'
import type { Replies, RuleInput } from './replies/index.js'
import { isLoopback, urlHost } from './server/address.js'
import type { App, Prototypes } from './server/app.js'
import { createCors } from './server/cors.js'
import { createLine, type LineParts } from './server/handle.js'
import { listen } from './server/listen.js'
import type { ModesByEndpoint } from './server/modes.js'
import { createPacer } from './streaming/pacer.js'
import { estimated, loadTokenizer, promptTokens, type Tokenizer } from './tokenizer/index.js'

export interface PlatformSources extends ConfigSources {
  /** Rules written in code; they stand before those of the files. */
  readonly rules?: readonly RuleInput[]
  /** Told of errors that are ours, not a client's. */
  readonly report?: (error: unknown) => void
  /** Told in a sentence of what is not quite right. */
  readonly warn?: (sentence: string) => void
}

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
   * requests, which recordings were played, and the journal.
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
  mintToken(wish: TokenWish): Promise<MintedToken>
  /** Reads everything anew. Rejects with a ProblemsError and goes on as before when something is wrong with it. */
  reload(): Promise<void>
  /** Lets open streams end for `graceMs`, then cuts them. */
  stop(graceMs?: number): Promise<void>
}

/** Everything that follows from one reading of the configuration. */
interface Assembly {
  readonly loaded: LoadedConfig
  readonly line: LineParts
  readonly endpoints: readonly Endpoint[]
  readonly doorkeeper: Doorkeeper
  readonly tokens: () => Promise<Tokens>
  readonly replies: () => Promise<Replies>
  readonly backend: Backend
  /** Loads what requests would otherwise have to wait for, and gives back what is known then: the keys, and the files that rules say. */
  complete(chosen: Chosen): Promise<Completed>
}

interface Completed {
  readonly tokens: Tokens
  readonly files: readonly string[]
  /** Takes secrets out of what is shown. */
  readonly redact: Redact
}

/** What stays as it is when the configuration is read anew. */
interface Lasting {
  readonly state: () => Promise<State>
  readonly clock: Clock
  readonly apiKeys: ApiKeys
  /** What credentials have used of their limits. */
  readonly counters: Counters
  readonly faultCalls: FaultCalls
  readonly rules: () => Promise<LastingRules>
  readonly scopes: Scopes
  readonly chances: Chances
  /** Where answers come from: as the configuration says, or as somebody has switched it since. */
  chosen: Chosen
  readonly taping: Taping
  readonly warn: (sentence: string) => void
  /** The address of the platform, once it has one. */
  readonly url: () => string
  readonly announce: (message: MessageRow) => void
}

/**
 * Reads the configuration, opens the port, and only then loads what not every request needs.
 * Rejects with a ProblemsError for bad configuration or rules, with a StartError for a port or a state that cannot be had.
 */
export async function openPlatform(sources: PlatformSources): Promise<Platform> {
  const report = sources.report ?? console.error
  const warn = sources.warn ?? console.error
  const loaded = loadConfig(sources)
  const journal = createJournal({ ...loaded.config.journal, redact: () => redact })
  const clock = createClock()
  const state = once(async () => {
    const opened = await openSeededState(loaded, clock)
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
    faultCalls: createFaultCalls(),
    rules: once(openLastingRules),
    scopes: createScopes(),
    chances: createChances(),
    chosen: chosenIn(loaded),
    taping: createTaping({ warn, report }),
    warn,
    url: () => url,
    announce: message => {
      for (const reader of readers) reader(message)
    },
  }
  let current = assemble(loaded, sources, lasting)
  const rules = createRules(lasting.rules, () => current)

  const { host, port: wantedPort } = current.loaded.config
  const line = createLine(() => current.line, { journal, pacer: createPacer(), report })
  const stopping = new AbortController()
  const madeUpToken = once(() => (isLoopback(host) ? '' : randomBytes(24).toString('base64url')))
  let app: Promise<App> | undefined
  const listener = await listen(
    {
      line,
      rest(request, response, prototypes) {
        app ??= loadApp(prototypes)
        app
          .then(answer => answer(request, response))
          .catch(error => {
            report(error)
            response.destroy()
          })
      },
    },
    { host, port: wantedPort },
  )

  url = `http://${urlHost(host)}:${listener.port}`
  const dashboardUrl = `${url}${DASHBOARD}`

  async function loadApp(prototypes: Prototypes): Promise<App> {
    const [{ createApp }, { createControl }, { createDashboard }, { createPeople }] = await Promise.all([
      import('./server/app.js'),
      import('./server/control.js'),
      import('./dashboard/index.js'),
      import('./auth/people.js'),
    ])
    const identify: Identify = authorization => current.doorkeeper.identify(authorization)
    const people = createPeople(state)
    const dashboard = createDashboard({
      facts: () => factsOf(current, lasting.chosen.mode, url),
      apiKeys: lasting.apiKeys,
      now: clock.now,
      identify,
      people,
    })
    const readiness = () => ({ mode: lasting.chosen.mode, url, version: current.loaded.config.version })
    const { faultCalls, taping } = lasting
    const faults = { ...faultCalls, add: async (call: FaultCall) => addFault(await loadReplies(), call) }
    const modes = { current: () => ({ mode: lasting.chosen.mode, modes: lasting.chosen.modes }), change: switchMode }
    const token = () => current.loaded.config.controlToken || madeUpToken()
    const control = createControl({
      ...{ readiness, identify, people, faults, rules, reset, modes, clock, journal, host, token },
      ...{ exportState, importState, mintToken, stopping: stopping.signal },
      ...taping,
    })
    return createApp({ prototypes, host, control, dashboard, report })
  }

  function switchMode(mode: Mode, modes: ModesByEndpoint = {}): void {
    requireModes({ mode, modes })
    const switched = withModes(current.loaded, { mode, modes })
    const missing = switched.config.upstream.baseUrl === '' ? askingLive(switched.config) : []
    if (missing.length > 0) throw new ProblemsError(missing.map(({ sentence }) => ({ origin: 'mode', sentence })))
    refuseSelf(switched, listener.port)
    lasting.chosen = chosenIn(switched)
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
    journal.clear(scope === undefined ? {} : { scope })
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

  async function mintToken(wish: TokenWish): Promise<MintedToken> {
    const { backend, loaded } = current
    if (wish.role === 'user' && loaded.config.auth.mode === 'proxy') throw usersAreLive()
    const minting = await import('./auth/mint.js')
    return minting.tokenFor(backend, wish, email => configuredUser(loaded, email))
  }

  async function stop(graceMs: number): Promise<void> {
    stopping.abort()
    await listener.stop(graceMs)
    await lasting.taping.flush()
    await Promise.race([closeState(lasting).catch(report), patience()])
  }

  try {
    refuseSelf(current.loaded, listener.port)
    const parts = [state(), current.complete(lasting.chosen), loadReplies(), lasting.rules()] as const
    const [opened, first, repliesPart, { memory }] = await Promise.all(parts)
    let { tokens, files } = first
    redact = first.redact
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
      misses: lasting.taping.misses,
      onMiss: lasting.taping.onMiss,
      onMessage: reader => void readers.push(reader),
      ...{ exportState, importState, mintToken },
      async reload() {
        const next = assemble(loadConfig(sources), sources, lasting)
        const chosen = sameModes(next.loaded, current.loaded) ? lasting.chosen : chosenIn(next.loaded)
        refuseSelf(withModes(next.loaded, chosen), listener.port)
        const completed = await next.complete(chosen)
        await plant(opened, next.loaded, clock)
        tokens = completed.tokens
        redact = completed.redact
        files = completed.files
        lasting.chosen = chosen
        current = next
        memory.restartScenarios()
      },
      stop: (graceMs = 0) => stop(graceMs),
    }
  } catch (error) {
    await stop(0)
    throw error
  }
}

/** The state with the users and keys of the configuration in it. */
async function openSeededState(loaded: LoadedConfig, clock: Clock): Promise<State> {
  const { config, dir } = loaded
  const { openState } = await import('./state/index.js')
  const state = await openState(config.state, { dir })
  try {
    await plant(state, loaded, clock)
    return state
  } catch (error) {
    await state.close()
    throw error
  }
}

/** Puts users and keys of the configuration into the state. Rejects with a ProblemsError when they do not fit what is there. */
async function plant(state: State, { config, originOf }: LoadedConfig, { now }: Clock): Promise<void> {
  const { plantSeeds } = await import('./auth/seeds.js')
  await plantSeeds(state, config, now).catch(error => {
    if (!(error instanceof TakenError || error instanceof PlatformError)) throw error
    const sentence = `users and apiKeys do not fit what is kept in the state already. ${error.message}`
    throw new ProblemsError([{ origin: originOf(['users']), sentence }])
  })
}

/** Writes down what is left to be written, and lets go of the state if it could be opened at all. */
async function closeState({ state, apiKeys }: Lasting): Promise<void> {
  const opened = await state().catch(() => undefined)
  if (!opened) return
  try {
    await apiKeys.flush()
  } finally {
    await opened.close()
  }
}

/** A database that does not answer any more must not keep anybody from leaving; what was acknowledged is in it already. */
const patience = () => new Promise<void>(resolve => void setTimeout(resolve, CLOSE_MS).unref())
const CLOSE_MS = 1000

/** Most configurations name no keys, and what reads them is then not loaded. */
async function loadSigningKeys(loaded: LoadedConfig) {
  if (loaded.config.auth.signingKeys === '') return undefined
  const { signingKeysOf } = await import('./config/signing-keys.js')
  return signingKeysOf(loaded)
}

/** What the dashboard shows of the platform. */
async function factsOf(
  { loaded: { config }, endpoints, tokens }: Assembly,
  mode: Mode,
  url: string,
): Promise<DashboardFacts> {
  const { version, models, users, auth } = config
  const { email, password } = developmentUser
  const isThere = auth.mode === 'local' && users.some(user => user.email === email && user.password === password)
  return {
    ...{ url, authUrl: url, version, endpoints },
    anonKey: (await tokens()).anonKey,
    authMode: auth.mode,
    mode,
    models: models.map(({ id }) => id),
    ...(isThere && { signIn: { email, password } }),
  }
}

function assemble(loaded: LoadedConfig, sources: PlatformSources, lasting: Lasting): Assembly {
  const { config } = loaded
  const { auth, upstream } = config
  const { state, clock, apiKeys, counters, faultCalls: calls, chances, url, announce } = lasting
  const { now } = clock
  const tokens = once(async () => {
    const { createTokens } = await import('./auth/tokens.js')
    return createTokens({ jwtSecret: auth.jwtSecret, signingKeys: await loadSigningKeys(loaded), now })
  })
  const backend: Backend = { state, tokens, settings: auth, now, url: () => `${url()}${AUTH}`, announce }
  const cors = createCors(config.cors.origins)
  const replies = once(() => readReplies(loaded, sources, lasting.rules))
  const recordings = lasting.taping.open(loaded)
  const proxy = once(() => openProxy(config, cors.headersFor, lasting.warn))
  const authProxy = once(() => openAuthProxy(config, tokens, cors.authHeadersFor))
  // Whoever asks before the table of an encoding is there waits for it.
  let table = estimated
  const readTable = once(async () => {
    table = await openTokenizer(config)
  })
  const tokenizer: Tokenizer = {
    count: text => table.count(text),
    cut: (text, most) => table.cut(text, most),
    pieces: text => table.pieces(text),
  }
  const limits = createLimits({
    settings: config.limits,
    maxPromptTokensOf: maxPromptTokensOf(config),
    counters,
    promptTokens: request => promptTokens(request, tokenizer),
  })
  const loadedReplies = whenLoaded(async () => (await Promise.all([replies(), readTable()]))[0].replies)
  const endpoints = createEndpoints({ ...config, replies: loadedReplies, tokenizer })
  const authRoutes = once(async () => {
    const { authEndpoints } = await import('./endpoints/auth/index.js')
    return createRoutes(authEndpoints(backend))
  })
  const live = auth.mode === 'proxy' ? upstream : undefined
  const doorkeeper = createDoorkeeper({ tokens, state, apiKeys, live, now })
  return {
    loaded,
    endpoints,
    doorkeeper,
    tokens,
    replies: async () => (await replies()).replies,
    backend,
    async complete(chosen) {
      const needed = [
        askingLive({ ...config, ...chosen }).length > 0 && proxy(),
        modesIn(chosen).some(usesRecordings) && recordings().then(({ ready }) => ready()),
        auth.mode === 'proxy' && authProxy(),
      ]
      const [found, { files }, redact] = await Promise.all([
        tokens(),
        replies(),
        loadRedact(config),
        authRoutes(),
        readTable(),
        ...needed,
      ])
      return { tokens: found, files, redact }
    },
    line: {
      modeOf: request => lasting.chosen.of(request),
      scopeOf: lasting.scopes.of,
      recordings,
      onMiss: config.recordings.onMiss,
      passed: lasting.taping.passed,
      routes: createRoutes(endpoints),
      identify: exchange =>
        upstream.credentials === 'pass' && asksLive(lasting.chosen.of(exchange))
          ? identifyPassed(exchange.authorization)
          : doorkeeper.identify(exchange.authorization),
      cors,
      bodyLimitBytes: config.limits.bodyBytes,
      limits,
      faults: createFaults({ ...config.faults, seed: config.seed, calls, chances }),
      faultByRule: exchange => loadedReplies.faultFor(exchange),
      proxy,
      auth: {
        mode: auth.mode,
        routes: authRoutes,
        gateway: createGateway({ ...auth, kind: auth.gateway, tokens }),
        proxy: authProxy,
      },
    },
  }
}

const isUsableAt =
  (ms: number) =>
  ({ revoked, expiresAt }: { revoked: boolean; expiresAt?: string | undefined }) =>
    !revoked && (expiresAt === undefined || Date.parse(expiresAt) > ms)

const loadReplies = () => import('./replies/index.js')
type RepliesPart = Awaited<ReturnType<typeof loadReplies>>

async function readReplies(
  loaded: LoadedConfig,
  { rules: inCode = [], file: wanted }: PlatformSources,
  lasting: () => Promise<LastingRules>,
) {
  const { createReplies, joined, loadRules, rulesFromCode } = await loadReplies()
  const { seed, strict, magic } = loaded.config
  const files = replyFilesOf(loaded)
  // Whoever asks for no file at all gets nothing from the disk by surprise.
  const unasked = wanted === false && loaded.originOf(['replies']) === 'default'
  const patterns = unasked ? [] : files.patterns
  const [coded, filed] = await Promise.all([
    rulesFromCode(inCode, loaded.dir, seed),
    loadRules({ ...files, patterns }, seed),
  ])
  const { rules, files: said } = joined([coded, filed])
  return { replies: createReplies({ rules, seed, strict, magic, ...(await lasting()) }), files: said }
}

/** The tables are large, so they are loaded only when they are asked for. */
const openTokenizer = async ({ tokenizer }: Config): Promise<Tokenizer> =>
  tokenizer === 'estimate' ? estimated : loadTokenizer(tokenizer)

/** The limits of those models that have their own. */
const maxPromptTokensOf = ({ models }: Config): ReadonlyMap<string, number> =>
  new Map(models.flatMap(({ id, maxPromptTokens: most }) => (most === undefined ? [] : [[id, most]])))

/** Replies that are asked before their files are read wait; afterwards nothing stands in between. */
function whenLoaded(load: () => Promise<Replies>): Pick<Replies, 'answer' | 'faultFor'> {
  let loaded: Replies | undefined
  const wait = async () => {
    loaded = await load()
    return loaded
  }
  return {
    answer: (...asked) => (loaded ? loaded.answer(...asked) : wait().then(replies => replies.answer(...asked))),
    faultFor: async exchange => (loaded ?? (await wait())).faultFor(exchange),
  }
}
