/** Asks the live auth backend whose token it is: only it knows which sessions have ended. */
import { refusedByLive, upstreamTimeout, upstreamUnreachable } from '../core/errors.js'
import { type Caller, userCaller } from '../core/exchange.js'
import { fetchFrom } from '../core/fetch-from.js'

export interface LiveBackend {
  /** Without `/auth/v1`. */
  readonly authUrl: string
  readonly anonKey: string
  readonly firstByteTimeoutMs: number
  /** Whether certificates that nobody vouches for are accepted. */
  readonly insecure: boolean
}

/** How long its word is taken; a session that ends there is dead here soon afterwards. */
const BELIEVED_MS = 5000

/** Who holds a live token, and until when that is believed (milliseconds since 1970). */
interface Believed {
  readonly caller: Caller
  readonly expiresAtMs: number
}

/** The user of a live token. Rejects with a 401 when there is none, with a 502 or 504 when the backend does not say. */
export async function askLive(live: LiveBackend, token: string, nowMs: number): Promise<Believed> {
  const expiresAtMs = nowMs + BELIEVED_MS
  // The live anon key means nobody; it needs no question.
  if (live.anonKey !== '' && token === live.anonKey) return { caller: { kind: 'anon' }, expiresAtMs }
  const { status, body } = await answerOf(live, token)
  const { id, email, error_code: older, code: newer } = body
  if (status === 200 && typeof id === 'string') {
    return {
      caller: userCaller(id, email),
      expiresAtMs,
    }
  }
  const code = [older, newer].find(code => typeof code === 'string')
  // Only a refusal in the backend's own form is one; a gateway that does not know us says nothing about the token.
  if (typeof code === 'string' && [400, 401, 403].includes(status))
    throw refusedByLive({ kind: 'token', reason: 'live' }, `It says ${code}.`)
  throw upstreamUnreachable(`status ${status} of the auth backend`)
}

async function answerOf(live: LiveBackend, token: string) {
  const { authUrl, anonKey, firstByteTimeoutMs } = live
  try {
    const response = await fetchFrom(live)(`${authUrl.replace(/\/+$/, '')}/auth/v1/user`, {
      headers: { apikey: anonKey, authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(firstByteTimeoutMs),
      redirect: 'error',
    })
    return { status: response.status, body: objectIn(await response.text()) }
  } catch (error) {
    const { name, message, cause } = error as Error & { cause?: { code?: string } }
    if (name === 'TimeoutError') throw upstreamTimeout(firstByteTimeoutMs)
    throw upstreamUnreachable(cause?.code ?? message)
  }
}

/** What a text says as a JSON object; an empty one where it is none. */
function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}
