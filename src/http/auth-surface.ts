/** Serves the paths below /auth/v1 with the emulated auth backend, or forwards them to the live one. */
import { notFound } from '../core/errors.js'
import { anonymous } from '../core/exchange.js'
import type { Routes } from '../endpoints/index.js'
import { type Gateway, isOpenAtGateway } from '../supabase/callers.js'
import { authErrorReply, codeOfStatus } from '../supabase/errors.js'
import { allMethods, type Cors } from './cors.js'
import type { Live, Surface } from './stage.js'

/** Supabase's own limit. */
export const AUTH_BODY_BYTES = 1_048_576
/** The live auth backend enforces its own limit. This one only keeps a client from filling the memory. */
const LIVE_AUTH_BODY_BYTES = 10 * AUTH_BODY_BYTES

const common = {
  errorReply: authErrorReply,
  // Supabase's server parses every body as JSON, whatever its Content-Type.
  requiresJsonType: false,
  hasRequestIds: false,
  drawsFaultsFirst: true,
  faultCode: codeOfStatus,
} as const

interface Backend {
  readonly routes: Routes
  readonly gateway: Gateway
  readonly cors: Cors
}

/**
 * For the emulated backend. Its endpoints identify the caller; the gateway in front of them requires an API key first.
 */
export const localAuthSurface = ({ routes, gateway, cors }: Backend): Surface => ({
  ...common,
  cors,
  bodyLimitBytes: AUTH_BODY_BYTES,
  methodsOf: ({ path }) => routes.methodsOf(path),
  enter(exchange) {
    const { method, path } = exchange
    exchange.endpoint = routes.find(method, path)
    exchange.authorization = gateway.admit(exchange)
    exchange.endpoint = routes.get(method, path)
    return anonymous
  },
  answer(exchange) {
    if (!exchange.endpoint) throw notFound()
    return exchange.endpoint.reply(exchange)
  },
})

/** For the live backend. Only it knows its paths and its users. */
export const liveAuthSurface = (live: Pick<Live, 'cors' | 'origins' | 'proxy'>): Surface => ({
  ...common,
  cors: live.cors,
  live: { ...live, mayReach: () => true, mayBeLinked: isOpenAtGateway },
  bodyLimitBytes: LIVE_AUTH_BODY_BYTES,
  methodsOf: () => allMethods,
  enter: () => anonymous,
  answer: () => ({ kind: 'forward' }),
})
