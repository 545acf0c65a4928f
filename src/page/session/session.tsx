/** The session of the signed-in user, for all parts of the page. */
import { type ComponentChildren, createContext } from 'preact'
import { type Dispatch, type StateUpdater, useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { ConfigJson } from '../../dashboard/operations.js'
import { type DashboardApi, dashboardApi } from '../api.js'
import { useConfig, useConfigChanges } from '../config.jsx'
import { failureOf, signedOut } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'
import { type Auth, openAuth, requireSuccess, STORAGE_KEY } from './auth-client.js'

type Session =
  | { readonly kind: 'unknown' }
  /** `because` says why, if the session ended without the user signing out. */
  | { readonly kind: 'signed-out'; readonly because?: string }
  | { readonly kind: 'user'; readonly email: string }

interface SessionAccess extends ReturnType<typeof accessTo> {
  readonly session: Session
}

const NOT_LOADED = 'Sign-in could not be loaded. Reload the page.'

const Context = createContext<SessionAccess | undefined>(undefined)

export function useSession(): SessionAccess {
  const access = useContext(Context)
  if (!access) throw new Error('useSession was called outside of SessionProvider.')
  return access
}

/** Handles the end of the client's session. The page then says why it ended. */
function useSessionEnd(setSession: Dispatch<StateUpdater<Session>>) {
  const hadSession = useRef(localStorage.getItem(STORAGE_KEY) !== null)
  const isEnding = useRef(false)
  const refusedWith = useRef('')
  async function lose(): Promise<void> {
    if (isEnding.current) return
    // No user was signed in, or the user has just signed out. If a reason is shown already, it stays.
    if (!hadSession.current) return setSession(now => (now.kind === 'signed-out' ? now : { kind: 'signed-out' }))
    isEnding.current = true
    hadSession.current = false
    const because = await whyEnded(refusedWith.current)
    isEnding.current = false
    // Unless a user has signed in again by now.
    if (!hadSession.current) setSession({ kind: 'signed-out', because })
  }
  // Another tab may find out that the session has ended. The client itself only reports sign-outs.
  useEffect(() => {
    const removed = ({ key, newValue }: StorageEvent) => {
      if (key === STORAGE_KEY && newValue === null) void lose()
    }
    addEventListener('storage', removed)
    return () => removeEventListener('storage', removed)
  }, [])
  return { hadSession, refusedWith, lose }
}

export function SessionProvider({ children }: { readonly children: ComponentChildren }) {
  const config = useConfig()
  const { url, auth_url, anon_key } = config
  const [session, setSession] = useState<Session>({ kind: 'unknown' })
  const { hadSession, refusedWith, lose } = useSessionEnd(setSession)
  const users = useRef(config.users)
  users.current = config.users

  // A new client for another backend, but not when other parts of the configuration change.
  const auth = useMemo(
    () =>
      openAuth(config, code => {
        refusedWith.current = code
      }),
    [url, auth_url, anon_key],
  )

  useEffect(() => {
    let stop = () => {}
    const listen = (client: Auth) => {
      const { data } = client.onAuthStateChange((_event, found) => {
        if (!found) return void lose()
        hadSession.current = true
        refusedWith.current = ''
        keepOrigin(`${found.user.id} ${found.user.last_sign_in_at}`, users.current)
        setSession({ kind: 'user', email: found.user.email || 'Anonymous user' })
      })
      stop = () => data.subscription.unsubscribe()
    }
    auth.then(listen).catch(() => setSession({ kind: 'signed-out', because: NOT_LOADED }))
    return () => stop()
  }, [auth])

  const access = useMemo(() => accessTo(auth, hadSession, lose), [auth])
  // The clock may have been adjusted.
  const check = useMemo(() => () => void (hadSession.current && access.renew()), [access])
  useConfigChanges(check)

  return <Context.Provider value={{ ...access, session }}>{children}</Context.Provider>
}

/** Refreshes a refused session if its token has only expired. Otherwise ends it, unless the backend does not respond. */
async function renewed(auth: Promise<Auth>, lose: () => Promise<void>): Promise<boolean> {
  const client = await auth
  const { error } = await client.getUser()
  if (!error) return true
  // Adjusting the clock makes tokens expire, but not the session.
  if (error.code === 'bad_jwt' && !(await client.refreshSession()).error) return true
  if (error.name === 'AuthRetryableFetchError') return false
  keepReason(error.code)
  // No sign-out request, since the backend does not know this session.
  localStorage.removeItem(STORAGE_KEY)
  await lose()
  return false
}

/** The functions that use the client's session. `lose` ends a session that the backend does not accept. */
function accessTo(auth: Promise<Auth>, hadSession: { current: boolean }, lose: () => Promise<void>) {
  let renewal: Promise<boolean> | undefined
  return {
    auth,
    /** A valid token. Rejects with a Failure if no user is signed in. */
    async token(): Promise<string> {
      const answer = await (await auth).getSession()
      requireSuccess(answer)
      if (!answer.data.session) throw signedOut()
      return answer.data.session.access_token
    },
    /** Signs out at the user's request. Rejects with a Failure if the backend does not respond. */
    async signOut(): Promise<void> {
      hadSession.current = false
      // Signs out in this browser only; other sessions of the user continue.
      const answer = await (await auth).signOut({ scope: 'local' })
      hadSession.current = answer.error !== null
      requireSuccess(answer)
      announce('Signed out.')
    },
    /** Renews a session that was refused. Resolves with whether it is valid again. */
    async renew(): Promise<boolean> {
      // A request that was sent before the session ended may be refused after it has.
      if (!hadSession.current) return false
      // Requests that are refused together share one renewal, so that the first reason for the end is the one shown.
      renewal ??= renewed(auth, lose).finally(() => {
        renewal = undefined
      })
      return renewal
    },
  }
}

/** The user's API. A refused request is repeated if renewing the session helps. */
export function useUserApi(): DashboardApi {
  const { token, renew } = useSession()
  return useMemo(() => {
    const api = dashboardApi(token)
    const call = async (...request: Parameters<typeof api>) => {
      try {
        return await api(...request)
      } catch (thrown) {
        if (failureOf(thrown).status !== 401 || !(await renew())) throw thrown
        return api(...request)
      }
    }
    return Object.assign(call, { open: api.open }) as DashboardApi
  }, [token, renew])
}

const ORIGIN_KEY = 'standin-dashboard-origin'

/** Remembers the server's run at the sign-in, to tell a restart from a sign-out later. */
function keepOrigin(signIn: string, users: ConfigJson['users']): void {
  if (origin().signIn !== signIn) localStorage.setItem(ORIGIN_KEY, JSON.stringify({ signIn, ...users }))
}

/** Remembers the code of a refusal for the other tabs. */
const keepReason = (refusedWith: string | undefined) =>
  localStorage.setItem(ORIGIN_KEY, JSON.stringify({ ...origin(), refusedWith }))

const origin = () => JSON.parse(localStorage.getItem(ORIGIN_KEY) ?? '{}')

/** Why a session has ended. `code` is the auth backend's last refusal; empty if another tab ended the session. */
async function whyEnded(code: string): Promise<string> {
  const before = origin()
  const now = await dashboardApi()('GET /config').catch(() => undefined)
  if (now && before.run !== undefined && before.run !== now.users.run) {
    return 'Standin was restarted, and keeps users and sessions in memory only. Sign in again.'
  }
  if (now && before.replaced !== undefined && before.replaced !== now.users.replaced) {
    return 'Standin was reset, which ended all sessions. Sign in again.'
  }
  return reasons[code || (before.refusedWith ?? '')] ?? 'You were signed out elsewhere. Sign in again.'
}

const reasons: Readonly<Record<string, string>> = {
  '': 'You signed out in another tab.',
  user_not_found: 'Your account was deleted.',
  user_banned: 'Your account is banned.',
  bad_jwt: 'Your session is no longer valid. Sign in again.',
}
