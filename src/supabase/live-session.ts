/**
 * The user token from the session that `standin login` stored. It is renewed for as long as the live auth backend
 * allows.
 */
import { statSync } from 'node:fs'
import { fetchFrom } from '../core/http.js'
import { keepSession, keptSession, type StoredSession } from './session-file.js'

export interface LiveSession {
  /**
   * Returns the access token, or `undefined` if no user is signed in any more. Never throws or rejects: `report` gets
   * the reason.
   */
  token(): string | undefined | Promise<string | undefined>
}

/** The live auth backend from the configuration. */
export interface LiveBackend {
  /** Without `/auth/v1`. */
  readonly authUrl: string
  readonly anonKey: string
  readonly firstByteTimeoutMs: number
  /** Whether untrusted certificates are accepted. */
  readonly insecure: boolean
}

export interface LiveSessionParts extends LiveBackend {
  /** The path that `sessionsFile()` returns. */
  readonly file: string
  /** Called once, with a sentence that says why there is no token although a user has signed in. */
  readonly report: (sentence: string) => void
  readonly now?: () => number
  readonly refresh?: Refresh
}

/** A token that expires sooner could do so on the way. */
const FRESH_MS = 60_000

/** A backend that does not answer is not asked again for every request. */
const PAUSE_MS = 5000

export function createLiveSession(parts: LiveSessionParts): LiveSession {
  const { now = Date.now, refresh = refreshAt(parts) } = parts
  const reporter = createReporter(parts.report)
  const kept = createKeptSession(parts, reporter.report)
  const { isWorthAsking, renew } = createRenewal({ ...parts, now, refresh }, kept, reporter)
  let renewing: Promise<string | undefined> | undefined
  return {
    token() {
      if (renewing) return renewing
      const session = kept.look()
      if (!session || lifeMs(session, now()) > FRESH_MS || !isWorthAsking(session)) return usable(session, now())
      renewing = renew(session).finally(() => {
        renewing = undefined
      })
      return renewing
    },
  }
}

const lifeMs = ({ expiresAt }: StoredSession, nowMs: number) => Date.parse(expiresAt) - nowMs

const usable = (session: StoredSession | undefined, nowMs: number) =>
  session && lifeMs(session, nowMs) > 0 ? session.accessToken : undefined

/** Asks the backend for new tokens, unless it has refused or did not answer a moment ago. */
function createRenewal(
  { authUrl, now, refresh }: Pick<Required<LiveSessionParts>, 'authUrl' | 'now' | 'refresh'>,
  kept: ReturnType<typeof createKeptSession>,
  { report, forget }: ReturnType<typeof createReporter>,
) {
  /** The refresh token that the backend has refused. */
  let refused: string | undefined
  let askAgainMs = 0
  return {
    isWorthAsking: ({ refreshToken }: StoredSession) => refreshToken !== refused && now() >= askAgainMs,
    async renew(old: StoredSession): Promise<string | undefined> {
      const answer = await refresh(old.refreshToken)
      // Another process may have renewed or ended the session in the meantime.
      const current = kept.look()
      if (current?.refreshToken !== old.refreshToken) return usable(current, now())
      switch (answer.kind) {
        case 'renewed': {
          const { kind, lifeMs, ...tokens } = answer
          forget()
          kept.keep({ ...old, ...tokens, expiresAt: new Date(now() + lifeMs).toISOString() })
          return tokens.accessToken
        }
        case 'refused':
          refused = old.refreshToken
          report(`The session at ${authUrl} has ended (${answer.why}). Run standin login again.`)
          return usable(old, now())
        case 'unanswered':
          askAgainMs = now() + PAUSE_MS
          report(`The session at ${authUrl} could not be renewed (${answer.why}).`, answer.kind)
          return usable(old, now())
      }
    },
  }
}

/** Reports a sentence unless it is about the same as the previous one. */
function createReporter(tell: (sentence: string) => void) {
  let reported = ''
  return {
    report(sentence: string, about = sentence): void {
      if (about !== reported) tell(sentence)
      reported = about
    },
    forget(): void {
      reported = ''
    },
  }
}

/** The session in a file, which other processes may change. */
function createKeptSession(
  { file, authUrl }: Pick<LiveSessionParts, 'file' | 'authUrl'>,
  report: (sentence: string) => void,
) {
  let trace: string | undefined
  let session: StoredSession | undefined
  return {
    /** Reads the file. Returns `undefined` if it cannot be used. */
    look(): StoredSession | undefined {
      try {
        const seen = traceOf(file)
        if (seen === trace) return session
        trace = seen
        session = keptSession(file, authUrl)
      } catch (error) {
        session = undefined
        report((error as Error).message)
      }
      return session
    },
    keep(renewed: StoredSession): void {
      try {
        keepSession(file, authUrl, renewed)
        trace = traceOf(file)
      } catch (error) {
        report(`The renewed session could not be kept: ${(error as Error).message}`)
      }
      session = renewed
    },
  }
}

/** A fingerprint of a file, which differs after every write. */
function traceOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` : 'none'
}

export type LiveRefreshResult =
  | { readonly kind: 'renewed'; readonly accessToken: string; readonly refreshToken: string; readonly lifeMs: number }
  /** The backend refuses the token. Asking again would not help. */
  | { readonly kind: 'refused'; readonly why: string }
  /** No clear answer. The backend may be asked again. */
  | { readonly kind: 'unanswered'; readonly why: string }

/** Exchanges a refresh token. Never rejects. */
export type Refresh = (refreshToken: string) => Promise<LiveRefreshResult>

/** Asks a live auth backend for new tokens. */
export const refreshAt =
  ({ authUrl, anonKey, firstByteTimeoutMs, insecure }: LiveBackend): Refresh =>
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

/** The backend's response (`AccessTokenResponse` and `HTTPError` of supabase/auth). */
interface TokenResponse {
  readonly access_token?: unknown
  readonly refresh_token?: unknown
  readonly expires_in?: unknown
  readonly msg?: unknown
  readonly error_description?: unknown
}

function readAnswer(status: number, answer: unknown): LiveRefreshResult {
  const { access_token, refresh_token, expires_in, msg, error_description }: TokenResponse = {
    ...(answer as TokenResponse | null),
  }
  const isWhole = typeof access_token === 'string' && typeof refresh_token === 'string' && Number(expires_in) > 0
  if (status === 200 && isWhole) {
    // The lifetime and not `expires_at`, since the backend's clock may differ from ours.
    const lifeMs = Number(expires_in) * 1000
    return { kind: 'renewed', accessToken: access_token, refreshToken: refresh_token, lifeMs }
  }
  const words = [msg, error_description].find(text => typeof text === 'string') as string | undefined
  // Only an error in the backend's own format refuses the token. An error of a gateway says nothing about it.
  if (status === 400 && words !== undefined) return { kind: 'refused', why: words }
  return { kind: 'unanswered', why: words ?? `status ${status}` }
}
