/** The shapes of error bodies: the platform's `{ error }`, with `path` where the document says so, and the auth backend's. */
import type { PlatformError } from '../core/errors.js'
import type { Reply } from '../core/exchange.js'
import { isAuth } from '../core/reserved.js'

/** A reply whose body is a text. */
type TextReply = Reply & { readonly body: string }

/** The reply that tells `error` to whoever asked for `path`. */
export function errorReply({ status, code, message, headers }: PlatformError, path: string): TextReply {
  if (isAuth(path) && code === 'not_found') {
    // Supabase Auth leaves unknown paths to its router, which answers in plain text.
    return { kind: 'reply', status, contentType: 'text/plain; charset=utf-8', body: '404 page not found\n' }
  }
  const body = JSON.stringify(code === 'not_found' ? { error: message, path } : { error: message })
  return { kind: 'reply', status, contentType: 'application/json', body, headers }
}
