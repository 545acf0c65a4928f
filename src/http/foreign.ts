/** Adapts the requests and responses of a foreign server to the line. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyIsGone, type PlatformError } from '../core/errors.js'

const FOREIGN = Symbol('foreign')
/**
 * The key under which a request keeps the body that another middleware has already read, or the reason why it is unavailable.
 */
export const BODY = Symbol('body')
export type AdoptedRequest = IncomingMessage & { readonly [BODY]?: Buffer | PlatformError }

/** Marks a request whose body was already read, and a response whose methods may have been replaced by middleware. */
export function adopt(request: IncomingMessage, response: ServerResponse): void {
  if (request.readableDidRead) Object.assign(request, { [BODY]: bodyReadBefore(request) })
  Object.assign(response, { [FOREIGN]: true, writeHead: oneByOne(response) })
}

/**
 * Whether a response may only be written through its own methods, because middleware that compresses or counts replaces
 * them.
 */
export const isForeign = (response: ServerResponse) => FOREIGN in response

function bodyReadBefore(request: IncomingMessage): Buffer | PlatformError {
  const { body } = request as { body?: unknown }
  if (Buffer.isBuffer(body)) return body
  if (typeof body === 'string') return Buffer.from(body)
  const type = request.headers['content-type'] ?? 'application/json'
  // The value that express.json() parsed. No other parsed form can be turned back into the original bytes.
  if (body !== undefined && /[/+]json\b/i.test(type)) return Buffer.from(JSON.stringify(body))
  return bodyIsGone()
}

type WriteHead = (status: number, ...rest: readonly (string | readonly string[])[]) => unknown

/**
 * Sets headers one by one instead of as node's flat array, which not every middleware can read. Headers that an app
 * sets on all of its responses are kept, unless the answer sets them too.
 */
function oneByOne(response: ServerResponse): WriteHead {
  const writeHead: (status: number, reason?: string) => unknown = response.writeHead.bind(response)
  return (status, ...rest) => {
    const headers = rest.find(part => Array.isArray(part)) ?? []
    const [reason] = rest.filter(part => typeof part === 'string')
    for (let i = 0; i < headers.length; i += 2) response.removeHeader(String(headers[i]))
    for (let i = 0; i < headers.length; i += 2) response.appendHeader(String(headers[i]), String(headers[i + 1]))
    return reason === undefined ? writeHead(status) : writeHead(status, reason)
  }
}
