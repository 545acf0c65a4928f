/** The user token of whoever has signed in with `standin login`, fresh for as long as the live auth backend renews it. */
import { statSync } from 'node:fs'
import { type KeptSession, keepSession, keptSession } from './session-file.js'
import { type Refresh, refreshAt } from './token-refresh.js'

export interface LiveSession {
  /** The access token; nothing where nobody is signed in, or not any more. It does not throw or reject: `report` is told. */
  token(): string | undefined | Promise<string | undefined>
}

export interface LiveSessionParts {
  /** What `sessionsFile()` names. */
  readonly file: string
  /** Without `/auth/v1`. */
  readonly authUrl: string
  readonly anonKey: string
  readonly firstByteTimeoutMs: number
  /** Whether certificates that nobody vouches for are accepted. */
  readonly insecure: boolean
  /** Told, in a sentence and once, why there is no token although somebody has signed in. */
  readonly report: (sentence: string) => void
  readonly now?: () => number
  readonly refresh?: Refresh
}

/** A token that expires sooner could do so on its way. */
const FRESH_MS = 60_000

/** A backend that does not answer is not asked for every request. */
const PAUSE_MS = 5000

export function createLiveSession(parts: LiveSessionParts): LiveSession {
  const { file, authUrl, now = Date.now, refresh = refreshAt(parts) } = parts
  let trace: string | undefined
  let session: KeptSession | undefined
  /** The refresh token that the backend does not take any more. */
  let refused: string | undefined
  let askAgainMs = 0
  let refreshing: Promise<string | undefined> | undefined
  let reported = ''

  function report(sentence: string, about = sentence) {
    if (about !== reported) parts.report(sentence)
    reported = about
  }

  /** What the file says now. A file that cannot be used says nothing. */
  function look(): KeptSession | undefined {
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
  }

  function keep(renewed: KeptSession): void {
    try {
      keepSession(file, authUrl, renewed)
      trace = traceOf(file)
    } catch (error) {
      report(`The renewed session could not be kept: ${(error as Error).message}`)
    }
    session = renewed
  }

  const lifeMs = ({ expiresAt }: KeptSession) => Date.parse(expiresAt) - now()
  const usable = (kept: KeptSession | undefined) => (kept && lifeMs(kept) > 0 ? kept.accessToken : undefined)

  async function renewed(old: KeptSession): Promise<string | undefined> {
    const answer = await refresh(old.refreshToken)
    // Meanwhile another process may have renewed it, or somebody signed out.
    const current = look()
    if (current?.refreshToken !== old.refreshToken) return usable(current)
    switch (answer.kind) {
      case 'renewed': {
        const { accessToken, refreshToken, lifeMs } = answer
        reported = ''
        keep({ ...old, accessToken, refreshToken, expiresAt: new Date(now() + lifeMs).toISOString() })
        return accessToken
      }
      case 'refused':
        refused = old.refreshToken
        report(`The session at ${authUrl} is over (${answer.why}): run standin login again.`)
        return usable(old)
      case 'unanswered':
        askAgainMs = now() + PAUSE_MS
        report(`The session at ${authUrl} could not be renewed (${answer.why}).`, answer.kind)
        return usable(old)
    }
  }

  return {
    token() {
      if (refreshing) return refreshing
      const kept = look()
      const isRenewable = kept?.refreshToken !== refused && now() >= askAgainMs
      if (!kept || lifeMs(kept) > FRESH_MS || !isRenewable) return usable(kept)
      refreshing = renewed(kept).finally(() => {
        refreshing = undefined
      })
      return refreshing
    },
  }
}

/** What changes about a file whenever it is written. */
function traceOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` : 'none'
}
