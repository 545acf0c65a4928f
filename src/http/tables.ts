/** Serves the tables below /rest/v1, behind the same gateway as the auth backend: loaded if there are any. */
import type { PlatformError } from '../core/errors.js'
import type { Endpoint, Exchange } from '../core/exchange.js'
import { jsonReply, type Reply, type TextReply } from '../core/reply.js'
import type { Identify } from '../keys/identify.js'
import type { Gateway } from '../supabase/callers.js'
import { authErrorReply, isOfGateway } from '../supabase/errors.js'
import { allMethods, type Cors } from './cors.js'
import type { Surface } from './surface.js'

/** A request to the tables may have many rows. */
const TABLES_BODY_BYTES = 100 * 1_048_576

export interface TablesParts {
  readonly gateway: Gateway
  readonly cors: Cors
  readonly identify: Identify
  readonly answer: (exchange: Exchange) => Promise<Reply>
}

export const tablesSurface = ({ gateway, cors, identify, answer }: TablesParts): Surface => ({
  cors,
  errorReply: restErrorReply,
  requiresJsonType: false,
  hasRequestIds: false,
  drawsFaultsFirst: true,
  faultCode: status => `PGRST${status}`,
  bodyLimitBytes: TABLES_BODY_BYTES,
  methodsOf: () => allMethods,
  enter(exchange) {
    exchange.endpoint = tablesEndpoint(exchange, answer)
    const admitted = gateway.admit(exchange)
    exchange.authorization = admitted?.replace(/^(?=[^ ]+\.[^ ]+\.[^ ]*$)/, 'Bearer ')
    // Without a token, PostgREST answers as the anon role.
    if (!exchange.authorization?.includes(' ')) return { kind: 'anon' }
    return identify(exchange.authorization)
  },
  answer(exchange) {
    exchange.mode = 'emulate'
    return answer(exchange)
  },
})

const tablesEndpoint = ({ method, path }: Exchange, reply: TablesParts['answer']): Endpoint => ({
  method,
  path,
  access: ['anon', 'service', 'user'],
  takesBody: true,
  isConfigured: true,
  reply,
})

/** The reply in PostgREST's format, which the tables have; errors of the gateway have its own. */
function restErrorReply(error: PlatformError, request: Pick<Exchange, 'headers'>): TextReply {
  const { status, code, message, headers, more } = error
  if (isOfGateway(error)) return authErrorReply(error, request)
  const details = { details: null, hint: null, ...more.details }
  const restCode = more.details ? code : status === 401 ? 'PGRST301' : `PGRST${status}`
  return { ...jsonReply({ code: restCode, ...details, message }), status, headers }
}
