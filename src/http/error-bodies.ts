/** The bodies of errors: `{ error }` for the platform, with `path` on a 404, and Supabase's format for the auth backend. */
import type { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
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
