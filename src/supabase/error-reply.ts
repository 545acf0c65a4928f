/** The error bodies of the auth backend, of its router, and of the gateway in front of it. */
import { randomUUID } from 'node:crypto'
import type { PlatformError } from '../core/errors.js'
import type { Exchange, TextReply } from '../core/exchange.js'
import { GATEWAY } from './errors.js'

type WithHeaders = Pick<Exchange, 'headers'>

/** From this version on, a request states which error format it understands (supabase-auth.md, §2.1). */
const VERSION = '2024-01-01'

/** Returns the error in the auth backend's format. */
export function authErrorReply(error: PlatformError, request: WithHeaders): TextReply {
  const { status, headers } = error
  const textReply = (contentType: string, body: string): TextReply => ({
    kind: 'reply',
    status,
    contentType,
    body,
    headers,
  })
  switch (error.code) {
    // Errors without a code of Supabase Auth: those of its router and of the gateway.
    case 'not_found':
      return textReply('text/plain; charset=utf-8', '404 page not found\n')
    case 'method_not_allowed':
      return textReply('', '')
    case GATEWAY:
      return textReply('application/json; charset=utf-8', `{\n  "message":${JSON.stringify(error.message)}\n}`)
    default:
      return replyWithCode(error, request)
  }
}

/** Supabase's names for errors of our own. */
const supabaseNames: Readonly<Record<string, { readonly code: string; readonly message?: string }>> = {
  state_unavailable: { code: 'unexpected_failure' },
  internal_error: {
    code: 'unexpected_failure',
    message: 'Unexpected failure, please check server logs for more information',
  },
  invalid_json: { code: 'bad_json' },
  unmet_expectation: { code: 'validation_failed' },
  not_one_host: { code: 'validation_failed' },
  body_too_large: {
    code: 'request_entity_too_large',
    message: 'Request body too large (max 1048576 bytes)',
  },
}

function replyWithCode(error: PlatformError, request: WithHeaders): TextReply {
  const { status, headers, more } = error
  const { code, message = error.message } = supabaseNames[error.code] ?? error
  const version = request.headers['x-supabase-api-version']
  const isNew = typeof version === 'string' && version >= VERSION
  const body = isNew
    ? { code, message, ...more.details }
    : {
        code: status,
        error_code: code,
        msg: message,
        ...(status >= 500 && { error_id: randomUUID() }),
        ...more.details,
      }
  return {
    kind: 'reply',
    status,
    contentType: 'application/json',
    body: JSON.stringify(body),
    headers: [
      ...headers,
      ...(isNew ? ['x-supabase-api-version', VERSION] : []),
      ...(isNew && code === 'weak_password' ? [] : ['x-sb-error-code', code]),
    ],
  }
}
