/** Requests and responses of a foreign server, made fit for the line. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyIsGone, type PlatformError } from '../core/errors.js'

const FOREIGN = Symbol('foreign')
/** Where the body of a request is kept that was read before it came here, or why it cannot be had. */
export const BODY = Symbol('body')
export type Adopted = IncomingMessage & { readonly [BODY]?: Buffer | PlatformError }

/** Takes note of a body that was read before, and of what may stand between a response and its socket. */
export function adopt(request: IncomingMessage, response: ServerResponse): void {
  if (request.readableDidRead) Object.assign(request, { [BODY]: bodyReadBefore(request) })
  Object.assign(response, { [FOREIGN]: true, writeHead: oneByOne(response) })
}

/** Whether a response may be written to by its own methods only: what compresses or counts replaces them. */
export const isForeign = (response: ServerResponse) => FOREIGN in response

function bodyReadBefore(request: IncomingMessage): Buffer | PlatformError {
  const { body } = request as { body?: unknown }
  if (Buffer.isBuffer(body)) return body
  if (typeof body === 'string') return Buffer.from(body)
  const type = request.headers['content-type'] ?? 'application/json'
  // What express.json() has made of it; any other form could not be put together as it was.
  if (body !== undefined && /[/+]json\b/i.test(type)) return Buffer.from(JSON.stringify(body))
  return bodyIsGone()
}

type WriteHead = (status: number, ...rest: readonly (string | readonly string[])[]) => unknown

/**
 * Sets headers one by one in place of node's flat array, which not every middleware that looks at headers knows how to read. Those that
 * an app has set for all of its answers stay, unless the answer says otherwise.
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
