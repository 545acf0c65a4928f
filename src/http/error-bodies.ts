/** The error bodies: the platform's `{ error }`, with `path` where its document says so, and the auth backend's. */
import type { PlatformError } from '../core/errors.js'
import type { Exchange, TextReply } from '../core/exchange.js'
import { jsonOf } from '../core/json.js'
import { isAuth } from '../core/paths.js'
import { authErrorReply } from '../supabase/error-reply.js'

interface Asked extends Pick<Exchange, 'path' | 'headers'> {
  readonly body?: Buffer | undefined
}

/** The reply to a request that failed before it reached the line. */
export function errorReply(error: PlatformError, asked: Asked): TextReply {
  return isAuth(asked.path) ? authErrorReply(error, asked) : platformErrorReply(error, asked)
}

/** The reply in the platform's format. */
export function platformErrorReply(error: PlatformError, { path, body: sent }: Asked): TextReply {
  const { status, code, message, headers } = error
  if (code === 'no_recording') {
    const call = callIn(sent)
    if (call) return callErrorReply(error, call)
  }
  const body = JSON.stringify(code === 'not_found' ? { error: message, path } : { error: message })
  return { kind: 'reply', status, contentType: 'application/json', body, headers }
}

/** A JSON-RPC call, or undefined for anything else. */
function callIn(body: Buffer | undefined): { readonly id: unknown } | undefined {
  const { jsonrpc, id } = ((body && jsonOf(body)) ?? {}) as { jsonrpc?: unknown; id?: unknown }
  return jsonrpc === '2.0' ? { id: id ?? null } : undefined
}

/** One of the codes that JSON-RPC leaves to servers; the other numbers near it have meanings in the Model Context Protocol. */
const NO_RECORDING = -32004

/** The answer to a call that cannot be answered. Its status is 200, since clients read no others as errors of the call. */
function callErrorReply({ code, message, headers }: PlatformError, { id }: { readonly id: unknown }): TextReply {
  const body = JSON.stringify({ jsonrpc: '2.0', id, error: { code: NO_RECORDING, message, data: { code } } })
  return { kind: 'reply', status: 200, contentType: 'application/json', body, headers }
}
