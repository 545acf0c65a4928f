/** The error bodies: the platform's `{ error }`, with `path` where its document says so, and the auth backend's. */
import type { PlatformError } from '../core/errors.js'
import { type Exchange, jsonReply, type TextReply } from '../core/exchange.js'
import { isAuth } from '../core/paths.js'
import { authErrorReply } from '../supabase/error-reply.js'

type Asked = Pick<Exchange, 'path' | 'headers'>

/** The reply to a request that failed before it reached the line. */
export function errorReply(error: PlatformError, asked: Asked): TextReply {
  return isAuth(asked.path) ? authErrorReply(error, asked) : platformErrorReply(error, asked)
}

/** The reply in the platform's format. */
export function platformErrorReply(error: PlatformError, { path }: Asked): TextReply {
  const { status, code, message, headers, more } = error
  if (more.frame !== undefined) return { ...jsonReply(more.frame), headers }
  const body = JSON.stringify(code === 'not_found' ? { error: message, path } : { error: message })
  return { kind: 'reply', status, contentType: 'application/json', body, headers }
}
