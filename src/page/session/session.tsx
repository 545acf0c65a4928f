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
  /** With the reason if a session ended without the user signing out. */
  | { readonly kind: 'signed-out'; readonly because?: string }
  | { readonly kind: 'user'; readonly email: string }

interface SessionAccess extends ReturnType<typeof accessTo> {
  readonly session: Session
}

const NOT_LOADED = 'Signing in could not be loaded. Load the page again.'

const Context = createContext<SessionAccess | undefined>(undefined)

export function useSession(): SessionAccess {
  const access = useContext(Context)
  if (!access) throw new Error('The session is asked for outside of its provider.')
  return access
}

/** What happens when the client has no session any more: the page says why, if there was one. */
function useEnd(setSession: Dispatch<StateUpdater<Session>>) {
  const hadSession = useRef(localStorage.getItem(STORAGE_KEY) !== null)
  const isEnding = useRef(false)
  const refusedWith = useRef('')
  async function lose(): Promise<void> {
    if (isEnding.current) return
    // No user was signed in, or the user has just signed out. A reason that is shown stays.
    if (!hadSession.current) return setSession(now => (now.kind === 'signed-out' ? now : { kind: 'signed-out' }))
    isEnding.current = true
    hadSession.current = false
    const because = await whyEnded(refusedWith.current)
    isEnding.current = false
    // Unless a user has signed in meanwhile.
    if (!hadSession.current) setSession({ kind: 'signed-out', because })
  }
  // Also when another tab has found that the session is over. The client itself only tells of a sign-out.
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
  const { hadSession, refusedWith, lose } = useEnd(setSession)
  const users = useRef(config.users)
  users.current = config.users

  // Creates a new client for another backend, but not when only the models change.
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
  // The clock may have been moved.
  const check = useMemo(() => () => void (hadSession.current && access.renew()), [access])
  useConfigChanges(check)

  return <Context.Provider value={{ ...access, session }}>{children}</Context.Provider>
}

/** Makes a refused session valid again if it has only expired. Otherwise ends it, unless the backend does not answer. */
async function renewed(auth: Promise<Auth>, lose: () => Promise<void>): Promise<boolean> {
  const client = await auth
  const { error } = await client.getUser()
  if (!error) return true
  // A clock that was moved makes tokens expire; the session goes on.
  if (error.code === 'bad_jwt' && !(await client.refreshSession()).error) return true
  if (error.name === 'AuthRetryableFetchError') return false
  keepReason(error.code)
  // Without asking the backend to end what it does not know.
  localStorage.removeItem(STORAGE_KEY)
  await lose()
  return false
}

/** What can be done with the session of a client. `lose` ends a session that the backend does not accept. */
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
    /** Signs out at the user's request. Rejects with a Failure if the backend does not answer. */
    async signOut(): Promise<void> {
      hadSession.current = false
      // Signs out in this browser only; other sessions of the user continue.
      const answer = await (await auth).signOut({ scope: 'local' })
      hadSession.current = answer.error !== null
      requireSuccess(answer)
      announce('Signed out.')
    },
    /** Renews a session that was refused. Returns whether it goes on. */
    async renew(): Promise<boolean> {
      // A request that was sent before the session ended may be refused after it has.
      if (!hadSession.current) return false
      // Requests that are refused together wait for the same renewal, so that the first reason for the end is the one shown.
      renewal ??= renewed(auth, lose).finally(() => {
        renewal = undefined
      })
      return renewal
    },
  }
}

/** The user's API. A request that is refused is repeated if the session only had to be renewed. */
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

/** Keeps what the server was when this user signed in, to tell a restart from a sign-out later. */
function keepOrigin(signIn: string, users: ConfigJson['users']): void {
  if (origin().signIn !== signIn) localStorage.setItem(ORIGIN_KEY, JSON.stringify({ signIn, ...users }))
}

/** Keeps the code of a refusal for the other tabs. */
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
    return 'Standin was reset, and its sessions with it. Sign in again.'
  }
  return reasons[code || (before.refusedWith ?? '')] ?? 'You were signed out elsewhere. Sign in again.'
}

const reasons: Readonly<Record<string, string>> = {
  '': 'You signed out in another tab.',
  user_not_found: 'Your account was deleted.',
  user_banned: 'Your account is banned.',
  bad_jwt: 'Standin does not accept your session any more. Sign in again.',
}
