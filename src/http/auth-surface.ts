/** The paths below /auth/v1: answered by our own auth backend, or forwarded to the live one. */
import { notFound } from '../core/errors.js'
import { anonymous } from '../core/exchange.js'
import type { Routes } from '../platform-api/index.js'
import { authErrorReply } from '../supabase/error-reply.js'
import { codeOfStatus } from '../supabase/errors.js'
import { type Gateway, isOpenAtGateway } from '../supabase/gateway.js'
import { type Cors, everyMethod } from './cors.js'
import type { Live, Surface } from './stage.js'

/** Supabase's own limit. */
export const AUTH_BODY_BYTES = 1_048_576
/** The live auth backend enforces its own limit. This one only keeps a client from filling the memory. */
const LIVE_AUTH_BODY_BYTES = 10 * AUTH_BODY_BYTES

const common = {
  errorReply: authErrorReply,
  // Supabase's server parses a body as JSON whatever its headers say.
  requiresJson: false,
  hasRequestIds: false,
  failsBeforehand: true,
  faultCode: codeOfStatus,
} as const

interface Backend {
  /** Loaded at the first sign-in, or earlier when the process is idle. */
  readonly routes: () => Promise<Routes>
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
  methodsOf: async ({ path }) => (await routes()).methodsOf(path),
  async enter(exchange) {
    const { method, path } = exchange
    const found = await routes()
    exchange.endpoint = found.find(method, path)
    exchange.authorization = await gateway.admit(exchange)
    exchange.endpoint = found.get(method, path)
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
  methodsOf: () => everyMethod,
  enter: () => anonymous,
  answer: () => ({ kind: 'forward' }),
})
