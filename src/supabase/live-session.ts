/**
 * The user token from the session that `standin login` stored. It is renewed for as long as the live auth backend
 * allows.
 */
import { statSync } from 'node:fs'
import { readSession, type StoredSession, saveSession } from './session-file.js'

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
  readonly timeoutMs: number
}

export interface LiveSessionParts extends LiveBackend {
  /** The path that `sessionsFile()` returns. */
  readonly file: string
  /** Called once, with a sentence that says why there is no token although a user has signed in. */
  readonly report: (sentence: string) => void
  readonly now?: () => number
  readonly refresh?: Refresh
}

/** A token that expires sooner could expire before it arrives. */
const MIN_LIFE_MS = 60_000

/** If the backend does not answer, it is not asked again for every request. */
const RETRY_AFTER_MS = 5000

export function createLiveSession(parts: LiveSessionParts): LiveSession {
  const { now = Date.now, refresh = refreshAt(parts) } = parts
  const reporter = createReporter(parts.report)
  const stored = createStoredSession(parts, reporter.report)
  const { canRenew, renew } = createRenewal({ ...parts, now, refresh }, stored, reporter)
  let renewing: Promise<string | undefined> | undefined
  return {
    token() {
      if (renewing) return renewing
      const session = stored.read()
      if (!session || lifeMs(session, now()) > MIN_LIFE_MS || !canRenew(session)) return usableToken(session, now())
      renewing = renew(session).finally(() => {
        renewing = undefined
      })
      return renewing
    },
  }
}

const lifeMs = ({ expiresAt }: StoredSession, nowMs: number) => Date.parse(expiresAt) - nowMs

const usableToken = (session: StoredSession | undefined, nowMs: number) =>
  session && lifeMs(session, nowMs) > 0 ? session.accessToken : undefined

/** Asks the backend for new tokens. `canRenew` is false if it has refused the token, or did not answer a moment ago. */
function createRenewal(
  { authUrl, now, refresh }: Pick<Required<LiveSessionParts>, 'authUrl' | 'now' | 'refresh'>,
  stored: ReturnType<typeof createStoredSession>,
  { report, forget }: ReturnType<typeof createReporter>,
) {
  /** The refresh token that the backend has refused. */
  let refused: string | undefined
  let retryAtMs = 0
  return {
    canRenew: ({ refreshToken }: StoredSession) => refreshToken !== refused && now() >= retryAtMs,
    async renew(old: StoredSession): Promise<string | undefined> {
      const answer = await refresh(old.refreshToken)
      // Another process may have renewed or ended the session in the meantime.
      const current = stored.read()
      if (current?.refreshToken !== old.refreshToken) return usableToken(current, now())
      switch (answer.kind) {
        case 'renewed': {
          const { kind, lifeMs, ...tokens } = answer
          forget()
          stored.save({ ...old, ...tokens, expiresAt: new Date(now() + lifeMs).toISOString() })
          return tokens.accessToken
        }
        case 'refused':
          refused = old.refreshToken
          report(`The session at ${authUrl} has ended (${answer.why}). Run standin login again.`)
          return usableToken(old, now())
        case 'unanswered':
          retryAtMs = now() + RETRY_AFTER_MS
          report(`The session at ${authUrl} could not be renewed (${answer.why}).`, answer.kind)
          return usableToken(old, now())
      }
    },
  }
}

/** Reports a sentence unless it has the same topic as the previous one. */
function createReporter(send: (sentence: string) => void) {
  let reported = ''
  return {
    report(sentence: string, topic = sentence): void {
      if (topic !== reported) send(sentence)
      reported = topic
    },
    forget(): void {
      reported = ''
    },
  }
}

/** The session in a file, which other processes may change. */
function createStoredSession(
  { file, authUrl }: Pick<LiveSessionParts, 'file' | 'authUrl'>,
  report: (sentence: string) => void,
) {
  let fingerprint: string | undefined
  let session: StoredSession | undefined
  return {
    /** Reads the file. Returns `undefined` if it cannot be used. */
    read(): StoredSession | undefined {
      try {
        const current = fingerprintOf(file)
        if (current === fingerprint) return session
        fingerprint = current
        session = readSession(file, authUrl)
      } catch (error) {
        session = undefined
        report((error as Error).message)
      }
      return session
    },
    save(renewed: StoredSession): void {
      try {
        saveSession(file, authUrl, renewed)
        fingerprint = fingerprintOf(file)
      } catch (error) {
        report(`The renewed session could not be kept: ${(error as Error).message}`)
      }
      session = renewed
    },
  }
}

/** A fingerprint of a file, which differs after every write. */
function fingerprintOf(file: string): string {
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
  ({ authUrl, anonKey, timeoutMs }: LiveBackend): Refresh =>
  async refreshToken => {
    try {
      const response = await fetch(`${authUrl.replace(/\/+$/, '')}/auth/v1/token?grant_type=refresh_token`, {
        method: 'POST',
        headers: { apikey: anonKey, authorization: `Bearer ${anonKey}`, 'content-type': 'application/json' },
        body: JSON.stringify({ refresh_token: refreshToken }),
        signal: AbortSignal.timeout(timeoutMs),
        redirect: 'error',
      })
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
  const isComplete = typeof access_token === 'string' && typeof refresh_token === 'string' && Number(expires_in) > 0
  if (status === 200 && isComplete) {
    // The lifetime and not `expires_at`, since the backend's clock may differ from ours.
    const lifeMs = Number(expires_in) * 1000
    return { kind: 'renewed', accessToken: access_token, refreshToken: refresh_token, lifeMs }
  }
  const message = [msg, error_description].find(text => typeof text === 'string') as string | undefined
  // Only an error in the backend's own format refuses the token. An error of a gateway says nothing about it.
  if (status === 400 && message !== undefined) return { kind: 'refused', why: message }
  return { kind: 'unanswered', why: message ?? `status ${status}` }
}
