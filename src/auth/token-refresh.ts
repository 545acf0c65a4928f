/** Asks a live auth backend for new tokens. */
import { fetchFrom } from '../core/fetch-from.js'

export type Refreshed =
  | { readonly kind: 'renewed'; readonly accessToken: string; readonly refreshToken: string; readonly lifeMs: number }
  /** The backend takes the token for no good; asking again is of no use. */
  | { readonly kind: 'refused'; readonly why: string }
  /** Nobody knows: it may be asked again. */
  | { readonly kind: 'unanswered'; readonly why: string }

/** Exchanges a refresh token. It does not reject. */
export type Refresh = (refreshToken: string) => Promise<Refreshed>

interface Backend {
  /** Without `/auth/v1`. */
  readonly authUrl: string
  readonly anonKey: string
  readonly firstByteTimeoutMs: number
  /** Whether certificates that nobody vouches for are accepted. */
  readonly insecure: boolean
}

export const refreshAt =
  ({ authUrl, anonKey, firstByteTimeoutMs, insecure }: Backend): Refresh =>
  async refreshToken => {
    try {
      const response = await fetchFrom({ insecure })(
        `${authUrl.replace(/\/+$/, '')}/auth/v1/token?grant_type=refresh_token`,
        {
          method: 'POST',
          headers: { apikey: anonKey, authorization: `Bearer ${anonKey}`, 'content-type': 'application/json' },
          body: JSON.stringify({ refresh_token: refreshToken }),
          signal: AbortSignal.timeout(firstByteTimeoutMs),
          redirect: 'error',
        },
      )
      return readAnswer(response.status, await response.json().catch(() => null))
    } catch (error) {
      const { message, cause } = error as Error & { cause?: { code?: string } }
      return { kind: 'unanswered', why: cause?.code ?? message }
    }
  }

/** What the backend says (`AccessTokenResponse` and `HTTPError` of supabase/auth). */
interface Said {
  readonly access_token?: unknown
  readonly refresh_token?: unknown
  readonly expires_in?: unknown
  readonly msg?: unknown
  readonly error_description?: unknown
}

function readAnswer(status: number, said: unknown): Refreshed {
  const { access_token, refresh_token, expires_in, msg, error_description }: Said = { ...(said as Said | null) }
  const isWhole = typeof access_token === 'string' && typeof refresh_token === 'string' && Number(expires_in) > 0
  if (status === 200 && isWhole) {
    // Its life and not `expires_at`: the clock of the backend may be another one.
    const lifeMs = Number(expires_in) * 1000
    return { kind: 'renewed', accessToken: access_token, refreshToken: refresh_token, lifeMs }
  }
  const words = [msg, error_description].find(text => typeof text === 'string') as string | undefined
  // Only a refusal in the backend's own form is one; a gateway that does not know us says nothing about the token.
  if (status === 400 && words !== undefined) return { kind: 'refused', why: words }
  return { kind: 'unanswered', why: words ?? `status ${status}` }
}
