/** The bodies of errors: `{ error }` for the platform, with `path` on a 404, and Supabase's format for the auth backend. */
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import { isObject, jsonOf } from '../core/json.js'
import { failureFrame, idOf } from '../core/json-rpc.js'
import { isAuth } from '../core/paths.js'
import { jsonReply, type TextReply } from '../core/reply.js'
import { authErrorReply } from '../supabase/errors.js'

interface ErrorContext extends Pick<Exchange, 'path' | 'headers'> {
  readonly endpoint?: Exchange['endpoint']
}

/** The reply to a request that failed before it reached the line. */
export function errorReply(error: PlatformError, request: ErrorContext): TextReply {
  return isAuth(request.path) ? authErrorReply(error, request) : platformErrorReply(error, request)
}

/** The reply in the platform's format, or in that of the caller's protocol if the error has such a frame. */
export function platformErrorReply(error: PlatformError, request: ErrorContext): TextReply {
  const { path, endpoint } = request
  const { status, code, message, more } = error
  const challenge = status === 401 ? endpoint?.challenge?.(request) : undefined
  const headers = challenge === undefined ? error.headers : ['www-authenticate', challenge]
  if (more.frame !== undefined) return { ...jsonReply(more.frame), headers }
  const body = JSON.stringify(code === 'not_found' ? { error: message, path } : { error: message })
  return { kind: 'reply', status, contentType: 'application/json', body, headers }
}

/** One of the codes that JSON-RPC reserves for servers. It is none of those that MCP defines in this range. */
const NO_ANSWER_CODE = -32004

/**
 * Adds the answer in JSON-RPC's format to an error, if the request is a call. That answer is sent with a 200, because
 * clients treat any other status as a broken connection.
 */
export function jsonRpcError(error: PlatformError, { body }: Pick<Exchange, 'body'>): PlatformError {
  const call = body && jsonOf(body)
  if (!isObject(call) || call.jsonrpc !== '2.0') return error
  const { status, code, message, headers, more } = error
  const frame = failureFrame(idOf(call) ?? null, { code: NO_ANSWER_CODE, message, data: { code } })
  return new PlatformError(status, code, message, headers, { ...more, frame })
}
