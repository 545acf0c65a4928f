/** Says which requests may be sent once more when a kept connection was closed before it carried any of the answer. */
import type { Exchange } from '../../core/exchange.js'
import { asksModel } from '../../core/paths.js'

// RFC 9110 §9.2.2: a proxy repeats by itself only what is idempotent.
const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/** How a connection ends that the live side has closed while the request was on its way; node's "socket hang up" is the first. */
const closed = new Set(['ECONNRESET', 'EPIPE'])

/** A connection that was closed already answers a request with its reset within one way there and back; later, a model has been at work. */
const AT_ONCE_MS = 1_000

/** `afterMs` is how long the request has been on its way. */
export const mayGoOnceMore = (
  { method, path }: Exchange,
  { code = '' }: NodeJS.ErrnoException,
  afterMs: number,
): boolean => closed.has(code) && (idempotent.has(method) || (afterMs < AT_ONCE_MS && asksModel(method, path)))
