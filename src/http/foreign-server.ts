/** Adapts the requests and responses of another server, in which the platform is mounted, to the line. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyIsGone, type PlatformError } from '../core/errors.js'

const FOREIGN = Symbol('foreign')
/** The key for the body of a request that other middleware has already read, or for the error if it is not available. */
export const READ_BODY = Symbol('body')
export type ForeignRequest = IncomingMessage & { readonly [READ_BODY]?: Buffer | PlatformError }

/** Marks a request whose body was already read, and a response whose methods may have been replaced by middleware. */
export function markForeign(request: IncomingMessage, response: ServerResponse): void {
  if (request.readableDidRead) Object.assign(request, { [READ_BODY]: alreadyReadBody(request) })
  Object.assign(response, { [FOREIGN]: true, writeHead: writeHeadOneByOne(response) })
}

/**
 * Whether a response may only be written through its own methods, because middleware that compresses or counts replaces
 * them.
 */
export const isForeign = (response: ServerResponse) => FOREIGN in response

function alreadyReadBody(request: IncomingMessage): Buffer | PlatformError {
  const { body } = request as { body?: unknown }
  if (Buffer.isBuffer(body)) return body
  if (typeof body === 'string') return Buffer.from(body)
  const type = request.headers['content-type'] ?? 'application/json'
  // express.json() has parsed the body. No other parsed form can be turned back into bytes.
  if (body !== undefined && /[/+]json\b/i.test(type)) return Buffer.from(JSON.stringify(body))
  return bodyIsGone()
}

type WriteHead = (status: number, ...rest: readonly (string | readonly string[])[]) => unknown

/**
 * Returns a `writeHead` that sets headers one by one instead of as node's flat array, which some middleware cannot
 * read. Headers that an app has set on the response are kept, unless the answer sets them too.
 */
function writeHeadOneByOne(response: ServerResponse): WriteHead {
  const writeHead: (status: number, reason?: string) => unknown = response.writeHead.bind(response)
  return (status, ...rest) => {
    const headers = rest.find(part => Array.isArray(part)) ?? []
    const [reason] = rest.filter(part => typeof part === 'string')
    for (let i = 0; i < headers.length; i += 2) response.removeHeader(String(headers[i]))
    for (let i = 0; i < headers.length; i += 2) response.appendHeader(String(headers[i]), String(headers[i + 1]))
    return reason === undefined ? writeHead(status) : writeHead(status, reason)
  }
}
