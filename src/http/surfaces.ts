/** Serves the paths of the platform and of the auth backend: finds endpoint and caller, and emulates, forwards or replays. */
import { noRecording, notFound, notFoundWithDots, notFoundWithoutCredential, PlatformError } from '../core/errors.js'
import { anonymous, type Caller, type Exchange, type Mode, usesLive } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import type { Origins } from '../core/origins.js'
import type { Answer, Forward, Reply } from '../core/reply.js'
import { type Routes, undocumentedEndpoint } from '../endpoints/index.js'
import { authorize, type Identify } from '../keys/identify.js'
import type { NamedObserver, Recordings } from '../recordings/index.js'
import { type Gateway, isOpenAtGateway } from '../supabase/callers.js'
import { authErrorReply, codeOfStatus } from '../supabase/errors.js'
import { allMethods, type Cors } from './cors.js'
import { jsonRpcError, platformErrorReply } from './error-bodies.js'
import { type ModeOf, mayUseLive, type OnMiss } from './modes.js'
import { isTraversal } from './proxy/headers.js'
import type { Live, Surface } from './surface.js'

/** The fault that a rule sets for the answer to a request, wherever the answer comes from. */
type FaultByRule = (exchange: Exchange) => Promise<Fault | undefined> | undefined

interface LocalPlatform {
  readonly routes: Routes
  /** Identifies the caller. Throws or rejects with a 401. */
  readonly identify: (authorization: string | undefined, exchange: Exchange) => ReturnType<Identify>
  readonly bodyLimitBytes: number
  readonly cors: Cors
}

/** What is needed if not everything is emulated. */
interface LiveOptions {
  readonly modeOf: ModeOf
  readonly faultByRule?: FaultByRule | undefined
  /** The recordings to replay and to write. Only called in modes that use them. */
  readonly recordings: () => Promise<Recordings>
  /** Whether live errors with an undocumented body are changed to the documented form. */
  readonly errors: 'documented' | 'untouched'
  /** Whether an MCP server is at a path. MCP errors have their own form. */
  readonly isMcp?: ((path: string) => boolean) | undefined
  /** Whether this one request is recorded, whatever the mode: somebody repairs its miss. */
  readonly isRecordedNow: (exchange: Pick<Exchange, 'headers'>) => boolean
  /** Whether a reply of the test's own answers, whatever the mode. */
  readonly answersOwn: (exchange: Exchange) => boolean | Promise<boolean>
  /** Called for each such request that would otherwise be answered from elsewhere. */
  readonly onOwn: () => void
  /** What replay does with a request that has no recording. */
  readonly onMiss: OnMiss
  /** Which pages may reach the live platform, and which MCP servers. */
  readonly origins: Pick<Origins, 'requireOwn' | 'requireOwnPage'>
  readonly liveCors: Cors
  readonly proxy: Live['proxy']
  /** Called for each request that is forwarded to the live platform. */
  readonly onForward: () => void
}

/** Creates the surface. `mixed` is needed if answers may also come from the live platform or from recordings. */
export function platformSurface(local: LocalPlatform, mixed?: LiveOptions): Surface {
  const { bodyLimitBytes, cors } = local
  const common = {
    bodyLimitBytes,
    cors,
    errorReply: platformErrorReply,
    requiresJsonType: true,
    hasRequestIds: true,
    drawsFaultsFirst: false,
    // The platform's 404 names the path (platform-api.md, "Errors").
    faultCode: (status: number) => (status === 404 ? 'not_found' : 'fault'),
  }
  return mixed ? { ...common, ...mixedSurface(local, mixed) } : { ...common, ...emulatedSurface(local) }
}

type SurfaceMethods = Pick<Surface, 'enter' | 'methodsOf' | 'answer'>

/** Everything is emulated. */
const emulatedSurface = ({ routes, identify }: LocalPlatform): SurfaceMethods => ({
  // An own path may answer OPTIONS itself.
  methodsOf: ({ path }) => (routes.find('OPTIONS', path) ? undefined : routes.methodsOf(path)),
  enter(exchange) {
    const endpoint = routes.get(exchange.method, exchange.path, exchange.scope)
    exchange.endpoint = endpoint
    return endpoint.access === 'anyone' ? anonymous : identify(exchange.authorization, exchange)
  },
  answer(exchange) {
    exchange.mode = 'emulate'
    return emulate(exchange)
  },
})

function emulate(exchange: Exchange): Reply | Promise<Reply> {
  if (!exchange.endpoint) throw notFound(exchange.path)
  return exchange.endpoint.reply(exchange)
}

/** Some answers come from the live platform or from recordings. */
function mixedSurface(local: LocalPlatform, mixed: LiveOptions): SurfaceMethods & Pick<Surface, 'modeOf' | 'live'> {
  const { routes } = local
  const { modeOf } = mixed
  const emulatedMethods = emulatedSurface(local)

  /** Whether only the live platform, or a recording, can know the path. */
  const isUndocumented = (exchange: Exchange) =>
    !routes.has(exchange.path) && exchange.path !== '*' && modeOf(exchange) !== 'emulate'

  function modeNow(exchange: Exchange): Mode | Promise<Mode> {
    if (mixed.isRecordedNow(exchange)) return 'record'
    const mode = modeOf(exchange)
    if (exchange.endpoint?.isLocal || mode === 'emulate') return 'emulate'
    const unlessOwn = (isOwn: boolean) => {
      if (isOwn) mixed.onOwn()
      return isOwn ? 'emulate' : mode
    }
    const isOwn = mixed.answersOwn(exchange)
    return isOwn instanceof Promise ? isOwn.then(unlessOwn) : unlessOwn(isOwn)
  }

  function answerIn(mode: Mode, exchange: Exchange): Answer | Promise<Answer> {
    exchange.mode = mode
    switch (mode) {
      case 'emulate':
        return emulate(exchange)
      case 'proxy':
        return forward(mixed, exchange)
      case 'record':
        return exchange.isWebSocket ? forward(mixed, exchange) : record(mixed, exchange)
      case 'replay':
        return replay(mixed, exchange)
    }
  }

  return {
    modeOf,
    live: liveOptions(routes, mixed),
    methodsOf: exchange => (isUndocumented(exchange) ? undefined : emulatedMethods.methodsOf(exchange)),
    enter: exchange =>
      isUndocumented(exchange) ? enterUndocumented(local, exchange) : emulatedMethods.enter(exchange),
    answer(exchange) {
      const mode = modeNow(exchange)
      return mode instanceof Promise ? mode.then(found => answerIn(found, exchange)) : answerIn(mode, exchange)
    },
  }
}

/** Without a valid credential, the client gets the 404 of an unknown path. */
async function enterUndocumented({ identify }: LocalPlatform, exchange: Exchange): Promise<Caller> {
  const endpoint = undocumentedEndpoint(exchange.method, exchange.path)
  try {
    const caller = await identify(exchange.authorization, exchange)
    authorize(caller, endpoint)
    exchange.endpoint = endpoint
    return caller
  } catch (error) {
    throw error instanceof PlatformError && error.status === 401 ? notFoundWithoutCredential(error) : error
  }
}

const liveOptions = (
  { has }: Routes,
  { modeOf, onMiss, origins, proxy, liveCors, isRecordedNow }: LiveOptions,
): Surface['live'] => ({
  cors: liveCors,
  origins,
  proxy,
  mayBeLinked: () => false,
  forwardsWebSocket: request => usesLive(modeOf(request)) && !has(request.path),
  /** A preflight counts as the request for which it asks. */
  mayReach({ method, path, headers }) {
    const requestedMethod = method === 'OPTIONS' ? headers['access-control-request-method'] : undefined
    return isRecordedNow({ headers }) || mayUseLive(modeOf({ method: requestedMethod ?? method, path }), onMiss)
  },
})

function forward(
  { faultByRule, onForward: passed }: LiveOptions,
  exchange: Exchange,
  observer?: NamedObserver,
): Forward | Promise<Forward> {
  passed()
  const answer = { kind: 'forward', observer, recordedAs: observer?.file } as const
  return faultByRule?.(exchange)?.then(fault => ({ ...answer, fault })) ?? answer
}

async function record(mixed: LiveOptions, exchange: Exchange): Promise<Forward> {
  const recordings = await mixed.recordings()
  await recordings.ready()
  return forward(mixed, exchange, recordings.observerOf(exchange))
}

async function replay(mixed: LiveOptions, exchange: Exchange): Promise<Answer> {
  const isMcp = mixed.isMcp?.(exchange.path) ?? false
  if (isMcp) mixed.origins.requireOwnPage(exchange.headers)
  const recordings = await mixed.recordings()
  const found = await recordings.find(exchange)
  if (found.kind === 'found') {
    const { reply, afterMs } = found.answer
    if (afterMs > 0) await pause(afterMs)
    if (reply.status >= 200 && reply.status < 400) return reply
    const errors = isMcp ? 'untouched' : mixed.errors
    return (await import('./documented-error.js')).replayedReply(reply, exchange, errors)
  }
  // Neither the emulated MCP server nor the live one knows a session that was replayed.
  const isInSession = exchange.headers['mcp-session-id'] !== undefined
  switch (isInSession ? 'fail' : mixed.onMiss) {
    case 'emulate':
      return emulate(exchange)
    case 'record':
      return record(mixed, exchange)
    case 'fail':
    case 'nearest':
    case 'any':
      // A path that is neither documented nor recorded counts as unknown.
      if (exchange.endpoint?.isUndocumented && !found.isKnownPath) {
        throw isTraversal(exchange.path) ? notFoundWithDots() : notFound(exchange.path)
      }
      throw jsonRpcError(noRecording(found.title, found.why), exchange)
  }
}

/** Unref'd, so that a pause does not keep the process alive. */
const pause = (ms: number) => new Promise<void>(resolve => void setTimeout(resolve, ms).unref())

/** Supabase's own limit. */
const AUTH_BODY_BYTES = 1_048_576
/** The live auth backend enforces its own limit. This one only keeps a client from filling the memory. */
const LIVE_AUTH_BODY_BYTES = 10 * AUTH_BODY_BYTES

const authSurface = {
  errorReply: authErrorReply,
  // Supabase's server parses every body as JSON, whatever its Content-Type.
  requiresJsonType: false,
  hasRequestIds: false,
  drawsFaultsFirst: true,
  faultCode: codeOfStatus,
} as const

interface Backend {
  /** Loaded with the first request. */
  readonly routes: () => Promise<Routes>
  readonly gateway: Gateway
  readonly cors: Cors
}

/**
 * For the emulated backend. Its endpoints identify the caller; the gateway in front of them requires an API key first.
 */
export const localAuthSurface = ({ routes, gateway, cors }: Backend): Surface => ({
  ...authSurface,
  cors,
  bodyLimitBytes: AUTH_BODY_BYTES,
  methodsOf: async ({ path }) => (await routes()).methodsOf(path),
  async enter(exchange) {
    const { method, path } = exchange
    const { find, get } = await routes()
    exchange.endpoint = find(method, path)
    exchange.authorization = gateway.admit(exchange)
    exchange.endpoint = get(method, path)
    return anonymous
  },
  answer(exchange) {
    if (!exchange.endpoint) throw notFound(exchange.path)
    return exchange.endpoint.reply(exchange)
  },
})

/** For the live backend. Only it knows its paths and its users. */
export const liveAuthSurface = (live: Pick<Live, 'cors' | 'origins' | 'proxy'>): Surface => ({
  ...authSurface,
  cors: live.cors,
  live: { ...live, mayReach: () => true, mayBeLinked: isOpenAtGateway },
  bodyLimitBytes: LIVE_AUTH_BODY_BYTES,
  methodsOf: () => allMethods,
  enter: () => anonymous,
  answer: () => ({ kind: 'forward' }),
})
