/** Asks the live auth backend whose token it is: only it knows which sessions have ended. */
import { upstreamTimeout, upstreamUnreachable, wronglySignedToken } from '../core/errors.js'
import type { Caller } from '../core/exchange.js'

export interface LiveBackend {
  /** Without `/auth/v1`. */
  readonly authUrl: string
  readonly anonKey: string
  readonly firstByteTimeoutMs: number
}

/** How long its word is taken; a session that ends there is dead here soon afterwards. */
const BELIEVED_MS = 5000

/** The user of a live token. Rejects with a 401 when there is none, with a 502 or 504 when the backend does not say. */
export async function askLive({ authUrl, anonKey, firstByteTimeoutMs }: LiveBackend, token: string, nowMs: number) {
  // The live anon key means nobody; it needs no question.
  if (anonKey !== '' && token === anonKey)
    return { caller: { kind: 'anon' } as Caller, expiresAtMs: nowMs + BELIEVED_MS }
  const response = await fetch(`${authUrl.replace(/\/+$/, '')}/auth/v1/user`, {
    headers: { apikey: anonKey, authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(firstByteTimeoutMs),
    redirect: 'error',
  }).catch(error => {
    if (error.name === 'TimeoutError') throw upstreamTimeout(firstByteTimeoutMs)
    throw upstreamUnreachable(String(error.cause?.code ?? error.message))
  })
  if (response.status >= 500) throw upstreamUnreachable(`status ${response.status} of the auth backend`)
  const user: unknown = response.ok ? await response.json().catch(() => undefined) : await response.body?.cancel()
  const { id, email } = (user ?? {}) as { id?: unknown; email?: unknown }
  if (typeof id !== 'string') throw wronglySignedToken()
  const caller: Caller = typeof email === 'string' && email !== '' ? { kind: 'user', id, email } : { kind: 'user', id }
  return { caller, expiresAtMs: nowMs + BELIEVED_MS }
}
