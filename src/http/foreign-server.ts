/** Adapts the requests and responses of another server, in which the platform is mounted, to the line. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { bodyIsGone, type PlatformError } from '../core/errors.js'
import { setWriter, type Writer } from './writer.js'

/** The key for the body of a request that other middleware has already read, or for the error if it is not available. */
export const READ_BODY = Symbol('body')
export type ForeignRequest = IncomingMessage & { readonly [READ_BODY]?: Buffer | PlatformError }

/** Keeps the body of a request that other middleware has read, and lets the response be written as middleware expects. */
export function markForeign(request: IncomingMessage, response: ServerResponse): void {
  if (request.readableDidRead) Object.assign(request, { [READ_BODY]: alreadyReadBody(request) })
  setWriter(response, foreignWriter(response))
}

function alreadyReadBody(request: IncomingMessage): Buffer | PlatformError {
  const { body } = request as { body?: unknown }
  if (Buffer.isBuffer(body)) return body
  if (typeof body === 'string') return Buffer.from(body)
  const type = request.headers['content-type'] ?? 'application/json'
  // express.json() has parsed the body. No other parsed form can be turned back into bytes.
  if (body !== undefined && /[/+]json\b/i.test(type)) return Buffer.from(JSON.stringify(body))
  return bodyIsGone()
}

/**
 * Sets headers one by one instead of as node's flat array, which some middleware cannot read. Headers that an app has set
 * on the response are kept, unless the answer sets them too.
 */
const foreignWriter = (response: ServerResponse): Writer => ({
  writeHead(status, reason, headers) {
    for (let i = 0; i < headers.length; i += 2) response.removeHeader(headers[i] ?? '')
    for (let i = 0; i < headers.length; i += 2) response.appendHeader(headers[i] ?? '', headers[i + 1] ?? '')
    return reason === undefined ? response.writeHead(status) : response.writeHead(status, reason)
  },
  flushHeaders: () => response.flushHeaders(),
  write: (chunk, encoding = 'utf8') => response.write(chunk, encoding),
  end: (chunk = '', encoding = 'utf8') => response.end(chunk, encoding),
  get writableNeedDrain() {
    return response.writableNeedDrain
  },
})
