/** Assembles everything that follows from one reading of the configuration. */
import { promptTokens } from '../chat/tokens/index.js'
import {
  type Endpoint,
  type Exchange,
  type OwnPath,
  type PathSource,
  usesLive,
  usesRecordings,
} from '../core/exchange.js'
import type { SessionFault } from '../core/fault.js'
import { createOrigins, type Origins } from '../core/origins.js'
import type { PaceInput } from '../core/pace.js'
import { AUTH, isRest } from '../core/paths.js'
import { once } from '../core/work.js'
import { createEndpoints, createRoutes } from '../endpoints/index.js'
import { createFaults } from '../faults/index.js'
import { type Cors, createAuthCors, createCors } from '../http/cors.js'
import type { Upstream } from '../http/proxy.js'
import type { LineParts } from '../http/surface.js'
import { liveAuthSurface, localAuthSurface, platformSurface } from '../http/surfaces.js'
import { type Authenticator, createAuthenticator, identifyForLive } from '../keys/identify.js'
import { createLimits } from '../limits/index.js'
import type { Changes } from '../limits/options.js'
import type { Library, Recordings } from '../recordings/index.js'
import { createReplies, type Replies } from '../replies/index.js'
import { createResourceSource } from '../resources/source.js'
import type { Backend } from '../supabase/backend.js'
import { createGateway, createTokenHolders } from '../supabase/callers.js'
import { mistakesWithoutLive } from './config/load.js'
import type { Config } from './config/schema.js'
import { mcpSourceOf } from './mcp.js'
import { allModes, type ModeSettings } from './modes.js'
import { pathsOf, rulePaths, withOwnPaths } from './own-paths.js'
import type { PreparedConfig } from './prepare.js'
import type { Runtime } from './runtime.js'
import { settingsInForce } from './settings.js'
import { mcpPathsOf, openAuthProxy, openProxy } from './upstream.js'

/** Everything that follows from one reading of the configuration. */
export interface Assembly
  extends Pick<PreparedConfig, 'loaded' | 'rules' | 'tokens' | 'files' | 'redact' | 'resources'> {
  /** The current parts of the line. */
  line(): LineParts
  readonly endpoints: readonly Endpoint[]
  readonly authenticator: Authenticator
  readonly replies: Replies
  /** The paths that the user configured in addition to the documented endpoints. */
  ownPaths(): readonly OwnPath[]
  /** What it answers at a path, by any method. */
  ownPathsAt(path: string): readonly OwnPath[]
  readonly backend: Backend
  /** Replaces all run-time changes, from the next request on. */
  applyChanges(changes: Changes): void
  /** The recordings, read-only. */
  readonly library: () => Promise<Library>
  /** What repairs ask of the recordings. */
  readonly recordings: () => Promise<Pick<Recordings, 'keyOf' | 'flush'>>
  /** Opens what these modes need: the proxies, and the recordings. */
  openFor(modes: ModeSettings): Promise<void>
}

export type Assemblies = ReturnType<typeof createAssemblies>

export function createAssemblies(first: PreparedConfig, runtime: Runtime) {
  let current = assemble(first, runtime)
  return {
    current: () => current,
    open: () => current.openFor(runtime.modes.current()),
    async prepare(next: PreparedConfig) {
      const assembly = assemble(next, runtime)
      await assembly.openFor(runtime.modes.after(next.loaded))
      const continueCounting = assembly.replies.continuing(current.replies)
      return () => {
        continueCounting()
        assembly.applyChanges(runtime.settings.changes())
        runtime.sinceSave.note(current, assembly)
        current = assembly
      }
    },
  }
}

function assemble(prepared: PreparedConfig, runtime: Runtime): Assembly {
  const { loaded, resources } = prepared
  const { config } = loaded
  const { state, clock } = runtime
  const origins = createOrigins({ host: config.host, origins: config.cors.origins })
  const own = assembleAuth(prepared, runtime, origins)
  const chat = assembleChat(prepared, runtime)
  const { replies } = chat
  let changed = chat.changeable({})
  const sources = [
    mcpSourceOf(prepared, { replies, origins, part: runtime.mcp, pace: () => changed.pace }),
    resources.length > 0 ? createResourceSource(resources, { state: state.state, now: clock.now }) : undefined,
    prepared.openApi,
  ].filter(source => source !== undefined)
  // Rules for paths come first, and can be added and removed at run time.
  const ownPaths = () => (replies.http ? [rulePaths(replies.http, changed.pace), ...sources] : sources)
  const platform = assemblePlatform(prepared, runtime, { origins, own, chat })

  return {
    ...prepared,
    replies,
    authenticator: own.authenticator,
    backend: own.backend,
    async openFor(modes) {
      await Promise.all([platform.openFor(modes), config.auth.mode === 'proxy' && own.proxy()])
    },
    endpoints: changed.endpoints,
    library: platform.library,
    recordings: platform.recordings,
    ownPaths: () => pathsOf(ownPaths()),
    ownPathsAt: path => ownPaths().flatMap(source => source.at(path)),
    line: () => ({ platform: platform.surface(changed, ownPaths()), ...besidePlatform(runtime, own, changed) }),
    applyChanges(changes) {
      changed = chat.changeable(changes)
    },
  }
}

/** What the line has beside the platform's paths. */
function besidePlatform(runtime: Runtime, own: AssemblyParts['own'], { limits, faults }: AdjustedParts) {
  const { scopes, holds } = runtime
  return {
    ...own.onLine,
    tables: runtime.tables.surface(own.tables),
    scopes,
    isScoped: scopes.dependOnCaller(),
    limits,
    faults,
    mayFail: faults.mayApply(),
    holds: holds.areWaiting() ? holds : undefined,
    contractHeaders: runtime.violations.headers,
  }
}

interface AssemblyParts {
  readonly origins: Origins
  readonly own: ReturnType<typeof assembleAuth>
  readonly chat: ReturnType<typeof assembleChat>
}

type AdjustedParts = ReturnType<AssemblyParts['chat']['changeable']>

/** The platform's paths, with the live platform and the recordings behind them. */
function assemblePlatform(prepared: PreparedConfig, runtime: Runtime, { origins, own, chat }: AssemblyParts) {
  const { config } = prepared.loaded
  const cors = createCors(origins.local)
  const liveCors = createCors(origins.live)
  const { use: recordings, read } = runtime.recordings.of(prepared)
  const proxy = once(() => openLive(config, liveCors.headersFor, own.proxy))

  return {
    library: async () => (await read()).library,
    recordings: read,
    surface(changed: AdjustedParts, sources: readonly PathSource[]) {
      const chosen = runtime.modes.current()
      // Without configured paths, the routes stay unchanged.
      const routes = sources.length > 0 ? withOwnPaths(changed.routes, sources) : changed.routes
      const local = { ...changed, routes, cors, identify: identifyIn(chosen, config, own.authenticator) }
      if (allModes(chosen).every(mode => mode === 'emulate')) return platformSurface(local)
      return platformSurface(local, {
        modeOf: chosen.of,
        isRecordedNow: exchange => runtime.recordings.repairs.isRecorded(exchange),
        answersOwn: chat.replies.answersOwn,
        onOwn: runtime.recordings.countOwn,
        onMiss: config.recordings.onMiss,
        errors: config.upstream.errors,
        isMcp: mcpPathsOf(config),
        onForward: runtime.recordings.countForward,
        faultByRule: chat.replies.faultFor,
        recordings,
        origins,
        liveCors,
        proxy,
      })
    },
    async openFor(modes: ModeSettings) {
      if (mistakesWithoutLive({ ...config, ...modes }).length > 0) await proxy()
      if (allModes(modes).some(usesRecordings)) await (await recordings()).ready()
    },
  }
}

async function openLive(config: Config, corsFor: Cors['headersFor'], openAuth: () => Promise<Upstream>) {
  const live = await openProxy(config, corsFor)
  if (config.auth.mode !== 'proxy') return live
  // Rows are where the users are.
  const auth = await openAuth()
  return { forward: context => (isRest(context.exchange.path) ? auth : live).forward(context) } satisfies Upstream
}

/** With `upstream.credentials: pass`, the live platform checks the callers of requests that are forwarded. */
function identifyIn(chosen: ModeSettings, { upstream }: Config, { identify }: Authenticator) {
  if (upstream.credentials !== 'pass' || allModes(chosen).every(mode => mode === 'emulate')) return identify
  return (authorization: string | undefined, exchange: Exchange) =>
    usesLive(chosen.of(exchange)) ? identifyForLive(authorization) : identify(authorization)
}

/** Identifies callers, and creates the auth backend: our own, or the proxy to the live one. */
function assembleAuth({ loaded, tokens, accessTokenHook }: PreparedConfig, runtime: Runtime, origins: Origins) {
  const { apiKeys, clock, url, announce, scopes } = runtime
  const isOfOtherTest = scopes.users.isOfOther
  const { state } = runtime.state
  const { auth, upstream } = loaded.config
  const { now } = clock
  const authUrl = () => `${url()}${AUTH}`
  const common = { state, now, url: authUrl, origins, announce, isOfOtherTest }
  const backend: Backend = { ...common, tokens, accessTokenHook, settings: auth }
  const isLive = auth.mode === 'proxy'
  const live = isLive ? upstream : undefined
  const authenticator = createAuthenticator({ tokens: createTokenHolders({ tokens, state, live, now }), apiKeys, now })
  const liveCors = createAuthCors(origins.live)
  const proxy = once(() => openAuthProxy(loaded.config, tokens, liveCors.headersFor, () => authenticator.forget()))
  const gateway = createGateway({ ...auth, kind: auth.gateway, tokens })
  const surface = isLive
    ? liveAuthSurface({ cors: liveCors, origins, proxy })
    : localAuthSurface({
        routes: once(async () => createRoutes((await import('../supabase/endpoints/index.js')).authEndpoints(backend))),
        gateway,
        cors: createAuthCors(origins.local),
      })
  const disturb = async (exchange: Exchange, what: SessionFault) => {
    const { disturbSession } = await import('../supabase/disturbed.js')
    const isDisturbed = await disturbSession(backend, exchange, what)
    authenticator.forget()
    return isDisturbed
  }
  const { identify } = authenticator
  const tables = { gateway, cors: createCors(origins.local), identify }
  const onLine = { auth: surface, ...(!isLive && { disturb, identifyAnyway: identify }) }
  return { backend, authenticator, proxy, tables, onLine }
}

/** The replies, and the endpoints that send them. */
function assembleChat({ loaded, rules, tokenizer }: PreparedConfig, { rules: added, counters, faults }: Runtime) {
  const { config } = loaded
  const { memory, atRunTime } = added
  const replies = createReplies({ rules, seed: config.seed, strict: config.strict, memory, atRunTime })

  const usedModels = new Set<string>()

  /** The parts that can change at run time. They are rebuilt on a change, so that requests need not check for changes. */
  function changeable(changes: Changes) {
    const { pace, limits, random } = settingsInForce(config, changes)
    const models = config.models.map(model => ({ ...model, pace: ownPace(pace.models, model.id) }))
    const endpoints = createEndpoints({ ...config, models, usedModels, pace, replies, tokenizer })
    return {
      endpoints,
      pace,
      routes: createRoutes(endpoints),
      bodyLimitBytes: limits.bodyBytes,
      limits: createLimits({
        settings: limits,
        maxPromptTokensOf: maxPromptTokensOf(config),
        counters,
        promptTokens: request => promptTokens(request, tokenizer),
      }),
      faults: createFaults({ ...config.faults, random, seed: config.seed, ...faults }),
    }
  }

  return { replies, changeable }
}

/** `undefined` if no model has its own. */
const ownPace = (paces: Readonly<Record<string, PaceInput>>, id: string) =>
  Object.hasOwn(paces, id) ? paces[id] : undefined

/** The prompt limits of all models, if one of them has a limit. */
const maxPromptTokensOf = ({ models }: Config): ReadonlyMap<string, number> =>
  models.some(({ maxPromptTokens: most }) => most !== undefined)
    ? new Map(models.map(({ id, maxPromptTokens: most = Number.POSITIVE_INFINITY }) => [id, most]))
    : new Map()
