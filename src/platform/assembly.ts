/** Assembles everything that follows from one reading of the configuration. */
import { estimated, promptTokens, type Tokenizer, tokenizerNamed } from '../completions/tokens/index.js'
import type { Changes } from '../config/limit-options.js'
import { type LoadedConfig, mistakesWithoutLive } from '../config/load.js'
import type { Config } from '../config/schema.js'
import {
  type Endpoint,
  type Exchange,
  type OwnPath,
  type PathSource,
  usesLive,
  usesRecordings,
} from '../core/exchange.js'
import { createOrigins, type Origins } from '../core/origins.js'
import type { PaceInput } from '../core/pace.js'
import { AUTH } from '../core/paths.js'
import { allOrProblems, once } from '../core/work.js'
import { createFaults } from '../faults/index.js'
import { liveAuthSurface, localAuthSurface } from '../http/auth-surface.js'
import { createAuthCors, createCors } from '../http/cors.js'
import type { LineParts } from '../http/line.js'
import { platformSurface, waitForOwnPaths } from '../http/platform-surface.js'
import { type Authenticator, createAuthenticator, identifyForLive } from '../keys/identify.js'
import { createLimits } from '../limits/index.js'
import { createEndpoints, createRoutes } from '../platform-api/index.js'
import { pathsOf, withOwnPaths } from '../platform-api/own-paths.js'
import type { Library } from '../recordings/index.js'
import type { Redact } from '../redact/index.js'
import type { Replies } from '../replies/index.js'
import type { Backend } from '../supabase/backend.js'
import { createGateway } from '../supabase/gateway.js'
import { createTokenHolders } from '../supabase/token-holders.js'
import type { Tokens } from '../supabase/tokens.js'
import { mcpOpeners } from './mcp.js'
import { allModes, type ModeSettings } from './modes.js'
import { type OwnPathsAt, openApiOpener, openOwnPaths } from './own-paths.js'
import type { PlatformSources } from './part.js'
import { loadRedact } from './recordings.js'
import { resourcesOpener } from './resources.js'
import { readReplies, waitForReplies } from './rules.js'
import type { Runtime } from './runtime.js'
import { settingsInForce } from './settings.js'
import { mcpPathsOf, openAuthProxy, openProxy } from './upstream.js'

/** Everything that follows from one reading of the configuration. */
export interface Assembly {
  readonly loaded: LoadedConfig
  /** The current parts of the line. */
  line(): LineParts
  readonly endpoints: readonly Endpoint[]
  readonly authenticator: Authenticator
  readonly tokens: () => Promise<Tokens>
  readonly replies: () => Promise<Replies>
  /** The paths that the user configured in addition to the documented endpoints. */
  readonly ownPaths: () => Promise<readonly OwnPath[]>
  readonly ownPathsAt: () => Promise<OwnPathsAt>
  readonly backend: Backend
  /** Replaces all run-time changes, from the next request on. */
  applyChanges(changes: Changes): void
  /** The recordings, read-only. */
  readonly library: () => Promise<Library>
  /** Loads what requests in these modes would otherwise wait for. */
  load(modes: ModeSettings): Promise<LoadedAssembly>
}

interface LoadedAssembly {
  readonly tokens: Tokens
  readonly files: readonly string[]
  /** Redacts what is shown. */
  readonly redact: Redact
}

export type Assemblies = ReturnType<typeof createAssemblies>

export function createAssemblies(loaded: LoadedConfig, sources: PlatformSources, runtime: Runtime) {
  let current = assemble(loaded, sources, runtime)
  let loadedAssembly: LoadedAssembly | undefined
  return {
    current: () => current,
    /** What was loaded. Throws before `open` has resolved. */
    completed() {
      if (!loadedAssembly) throw new Error('The platform is not open yet.')
      return loadedAssembly
    },
    async open() {
      loadedAssembly = await current.load(runtime.modes.current())
      // From here on, nothing has to wait for the rules.
      runtime.renew()
    },
    async prepare(next: LoadedConfig) {
      const assembly = assemble(next, sources, runtime)
      const made = await assembly.load(runtime.modes.after(next))
      const continueCounting = (await assembly.replies()).continuing(await current.replies())
      return () => {
        continueCounting()
        assembly.applyChanges(runtime.settings.changes())
        current = assembly
        loadedAssembly = made
      }
    },
  }
}

function assemble(loaded: LoadedConfig, sources: PlatformSources, runtime: Runtime): Assembly {
  const { config } = loaded
  const origins = createOrigins({ host: config.host, origins: config.cors.origins })
  const own = assembleAuth(loaded, runtime, origins)
  const chat = assembleChat(loaded, sources, runtime)
  const replies = async () => (await chat.replies()).replies
  let changed = chat.changeable({})
  const tools = { replies, origins, part: runtime.mcp, pace: () => changed.pace }
  const ownPaths = openOwnPaths({
    ...{ read: chat.read, replies },
    openers: [
      ...mcpOpeners(loaded, tools),
      ...resourcesOpener(loaded, runtime),
      ...openApiOpener(loaded, runtime.warn),
    ],
  })
  const platform = assemblePlatform(loaded, runtime, { origins, own, chat, ownPaths })

  return {
    ...{ loaded, authenticator: own.authenticator, tokens: own.tokens, backend: own.backend },
    load: chosen => loadAll(config, { own, chat, ownPaths }, platform.neededBy(chosen)),
    ...{ endpoints: changed.endpoints, replies, library: platform.library },
    ownPaths: async () => pathsOf(await ownPaths.loaded(changed.pace)),
    async ownPathsAt() {
      const sources = await ownPaths.loaded(changed.pace)
      return path => sources.flatMap(source => source.at(path))
    },
    line: () => ({
      ...{ platform: platform.surface(changed), auth: own.surface, scopes: runtime.scopes },
      ...{ limits: changed.limits, faults: changed.faults },
      contractHeaders: runtime.violations.headers,
    }),
    applyChanges(changes) {
      changed = chat.changeable(changes)
    },
  }
}

/** Loads what requests would otherwise wait for; `neededByModes` opens what only some modes need. */
async function loadAll(
  config: Config,
  { own, chat, ownPaths }: Omit<AssemblyParts, 'origins'>,
  neededByModes: readonly (() => unknown)[],
) {
  const [tokens, { files }, redact, others] = await allOrProblems([
    own.tokens(),
    chat.replies(),
    loadRedact(config),
    ownPaths.others(),
    own.routes(),
    chat.readTable(),
    ...neededByModes.map(load => load()),
    ...(config.auth.mode === 'proxy' ? [own.proxy()] : []),
  ])
  return { tokens, files: [...files, ...others.flatMap(({ files = [] }) => files)], redact }
}

interface AssemblyParts {
  readonly origins: Origins
  readonly own: ReturnType<typeof assembleAuth>
  readonly chat: ReturnType<typeof assembleChat>
  readonly ownPaths: ReturnType<typeof openOwnPaths>
}

type AdjustedParts = ReturnType<AssemblyParts['chat']['changeable']>

/** The platform's paths, with the live platform and the recordings behind them. */
function assemblePlatform(loaded: LoadedConfig, runtime: Runtime, { origins, own, chat, ownPaths }: AssemblyParts) {
  const { config } = loaded
  const cors = createCors(origins.local)
  const liveCors = createCors(origins.live)
  const { use: recordings, read } = runtime.recordings.of(loaded)
  const proxy = once(() => openProxy(config, liveCors.headersFor))

  function surfaceWith(changed: AdjustedParts, sources: readonly PathSource[] = []) {
    const chosen = runtime.modes.current()
    // Without configured paths, the routes stay unchanged.
    const routes = sources.length > 0 ? withOwnPaths(changed.routes, sources) : changed.routes
    const local = { ...changed, routes, cors, identify: identifyIn(chosen, config, own.authenticator) }
    if (allModes(chosen).every(mode => mode === 'emulate')) return platformSurface(local)
    return platformSurface(local, {
      modeOf: chosen.of,
      onMiss: config.recordings.onMiss,
      errors: config.upstream.errors,
      isMcp: mcpPathsOf(config),
      onForward: runtime.recordings.countForward,
      faultByRule: exchange => chat.answers.faultFor(exchange),
      ...{ recordings, origins, liveCors, proxy },
    })
  }

  return {
    library: async () => (await read()).library,
    /** Answers in the current modes. */
    surface(changed: AdjustedParts) {
      const sources = ownPaths.ifLoaded(changed.pace)
      if (sources) return surfaceWith(changed, sources)
      const later = async () => surfaceWith(changed, await ownPaths.loaded(changed.pace))
      return waitForOwnPaths(surfaceWith(changed), changed.routes, later)
    },
    /** Functions that open what these modes need. */
    neededBy: (chosen: ModeSettings) => [
      ...(mistakesWithoutLive({ ...config, ...chosen }).length > 0 ? [proxy] : []),
      ...(allModes(chosen).some(usesRecordings) ? [async () => (await recordings()).ready()] : []),
    ],
  }
}

/** With `upstream.credentials: pass`, the live platform checks the callers of requests that are forwarded. */
function identifyIn(chosen: ModeSettings, { upstream }: Config, { identify }: Authenticator) {
  if (upstream.credentials !== 'pass' || allModes(chosen).every(mode => mode === 'emulate')) return identify
  return (authorization: string | undefined, exchange: Exchange) =>
    usesLive(chosen.of(exchange)) ? identifyForLive(authorization) : identify(authorization)
}

/** Identifies callers, and creates the auth backend: our own, or the proxy to the live one. */
function assembleAuth(loaded: LoadedConfig, { state, apiKeys, clock, url, announce }: Runtime, origins: Origins) {
  const { auth, upstream } = loaded.config
  const { now } = clock
  const tokens = once(async () => {
    const { createTokens } = await import('../supabase/tokens.js')
    return createTokens({ jwtSecret: auth.jwtSecret, signingKeys: await loadSigningKeys(loaded), now })
  })
  const settings = auth
  const backend: Backend = { state: state.get, tokens, settings, now, url: () => `${url()}${AUTH}`, origins, announce }
  const routes = once(async () => {
    const { authEndpoints } = await import('../supabase/endpoints/index.js')
    return createRoutes(authEndpoints(backend))
  })
  const isLive = auth.mode === 'proxy'
  const live = isLive ? upstream : undefined
  const authenticator = createAuthenticator({
    tokens: createTokenHolders({ tokens, state: state.get, live, now }),
    apiKeys,
    now,
  })
  const liveCors = createAuthCors(origins.live)
  const proxy = once(() => openAuthProxy(loaded.config, tokens, liveCors.headersFor, () => authenticator.forget()))
  const surface = isLive
    ? liveAuthSurface({ cors: liveCors, origins, proxy })
    : localAuthSurface({
        routes,
        gateway: createGateway({ ...auth, kind: auth.gateway, tokens }),
        cors: createAuthCors(origins.local),
      })
  return { tokens, backend, routes, authenticator, proxy, surface }
}

/** The replies, and the endpoints that send them. */
function assembleChat(loaded: LoadedConfig, sources: PlatformSources, { rules, counters, faults }: Runtime) {
  const { config } = loaded
  let known: Replies | undefined
  const replies = once(async () => {
    const read = await readReplies(loaded, sources, rules.persistent)
    known = read.replies
    return read
  })
  const { tokenizer, readTable } = openTokenizer(config)
  // Requests wait until the table of the encoding is loaded.
  const answers = waitForReplies(async () => (await Promise.all([replies(), readTable()]))[0].replies)

  /** The parts that can change at run time. They are rebuilt on a change, so that requests need not check for changes. */
  function changeable(changes: Changes) {
    const { pace, limits, random } = settingsInForce(config, changes)
    const models = config.models.map(model => ({ ...model, pace: ownPace(pace.models, model.id) }))
    const endpoints = createEndpoints({ ...config, models, pace, replies: answers, tokenizer })
    return {
      ...{ endpoints, pace, routes: createRoutes(endpoints), bodyLimitBytes: limits.bodyBytes },
      limits: createLimits({
        ...{ settings: limits, maxPromptTokensOf: maxPromptTokensOf(config), counters },
        promptTokens: request => promptTokens(request, tokenizer),
      }),
      faults: createFaults({ ...config.faults, random, seed: config.seed, ...faults }),
    }
  }

  return { replies, read: () => known, readTable, answers, changeable }
}

/** A tokenizer that estimates until the table of its encoding is loaded. */
function openTokenizer({ tokenizer: name }: Pick<Config, 'tokenizer'>) {
  let table = estimated
  const readTable = once(async () => {
    table = await tokenizerNamed(name)
  })
  const tokenizer: Tokenizer = {
    name,
    count: text => table.count(text),
    cut: (text, most) => table.cut(text, most),
    pieces: text => table.pieces(text),
  }
  return { tokenizer: name === 'estimate' ? estimated : tokenizer, readTable }
}

/** `undefined` if no model has its own. */
const ownPace = (paces: Readonly<Record<string, PaceInput>>, id: string) =>
  Object.hasOwn(paces, id) ? paces[id] : undefined

/** Most configurations have no signing keys, so the code that reads them is loaded on demand. */
async function loadSigningKeys(loaded: LoadedConfig) {
  if (loaded.config.auth.signingKeys === '') return undefined
  const { signingKeysOf } = await import('../config/signing-keys.js')
  return signingKeysOf(loaded)
}

/** The prompt limits of models that have their own. */
const maxPromptTokensOf = ({ models }: Config): ReadonlyMap<string, number> =>
  new Map(models.flatMap(({ id, maxPromptTokens: most }) => (most === undefined ? [] : [[id, most]])))
