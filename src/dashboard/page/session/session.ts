/** The session of the signed-in user, for all parts of the page. */
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import type { ConfigJson } from '../../operations.js'
import { type DashboardApi, dashboardApi } from '../api.js'
import { useConfig, useConfigChanges } from '../config.jsx'
import { failureOf, signedOut } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'
import { createShared } from '../widgets/shared.js'
import { type Auth, openAuth, requireSuccess, STORAGE_KEY } from './auth-client.js'

type Session =
  | { readonly kind: 'unknown' }
  /** `because` says why, if the session ended without the user signing out. */
  | { readonly kind: 'signed-out'; readonly because?: string }
  | { readonly kind: 'user'; readonly email: string }

const NOT_LOADED = 'Sign-in could not be loaded. Reload the page.'

const session = createShared<Session>({ kind: 'unknown' })

export const useSession = session.use

let client: Promise<Auth>
let hadSession = localStorage.getItem(STORAGE_KEY) !== null
let isEnding = false
/** The backend's last error code. */
let refusedWith = ''
let renewal: Promise<boolean> | undefined

/** Supabase's auth client for the current backend. */
export const auth = () => client

/** Opens the client, and keeps the session up to date. There is one on the page. */
export function WatchSession() {
  const config = useConfig()
  const { url, auth_url, anon_key } = config
  const users = useRef(config.users)
  users.current = config.users
  // A new client for another backend, but not when other parts of the configuration change. A layout effect, so that the client is there
  // before any view loads something.
  useLayoutEffect(() => {
    let stop = () => {}
    const listen = (opened: Auth) => {
      const { data } = opened.onAuthStateChange((_event, found) => {
        if (!found) return void lose()
        hadSession = true
        refusedWith = ''
        keepOrigin(`${found.user.id} ${found.user.last_sign_in_at}`, users.current)
        session.set({ kind: 'user', email: found.user.email || 'Anonymous user' })
      })
      stop = () => data.subscription.unsubscribe()
    }
    client = openAuth(config, code => {
      refusedWith = code
    })
    client.then(listen).catch(() => session.set({ kind: 'signed-out', because: NOT_LOADED }))
    return () => stop()
  }, [url, auth_url, anon_key])
  // Another tab may find out that the session has ended. The client itself only reports sign-outs.
  useEffect(() => {
    const removed = ({ key, newValue }: StorageEvent) => {
      if (key === STORAGE_KEY && newValue === null) void lose()
    }
    addEventListener('storage', removed)
    return () => removeEventListener('storage', removed)
  }, [])
  // The clock may have been adjusted.
  useConfigChanges(renew)
  return null
}

/** Handles the end of the client's session. The page then says why it ended. */
async function lose(): Promise<void> {
  if (isEnding) return
  if (!hadSession) {
    // No user was signed in, or the user has just signed out. If a reason is shown already, it stays.
    if (session.get().kind !== 'signed-out') session.set({ kind: 'signed-out' })
    return
  }
  isEnding = true
  hadSession = false
  const because = await whyEnded(refusedWith)
  isEnding = false
  // Unless a user has signed in again by now.
  if (!hadSession) session.set({ kind: 'signed-out', because })
}

/** A valid token. Rejects with a Failure if no user is signed in. */
export async function token(): Promise<string> {
  const answer = await (await client).getSession()
  requireSuccess(answer)
  if (!answer.data.session) throw signedOut()
  return answer.data.session.access_token
}

/** Signs out at the user's request. Rejects with a Failure if the backend does not respond. */
export async function signOut(): Promise<void> {
  hadSession = false
  // Signs out in this browser only; other sessions of the user continue.
  const answer = await (await client).signOut({ scope: 'local' })
  hadSession = answer.error !== null
  requireSuccess(answer)
  announce('Signed out.')
}

/** Renews a session that was refused. Resolves with whether it is valid again. */
async function renew(): Promise<boolean> {
  // A request that was sent before the session ended may be refused after it has.
  if (!hadSession) return false
  // Requests that are refused together share one renewal, so that the first reason for the end is the one shown.
  renewal ??= renewed().finally(() => {
    renewal = undefined
  })
  return renewal
}

/** Refreshes a refused session if its token has only expired. Otherwise ends it, unless the backend does not respond. */
async function renewed(): Promise<boolean> {
  const opened = await client
  const { error } = await opened.getUser()
  if (!error) return true
  // Adjusting the clock makes tokens expire, but not the session.
  if (error.code === 'bad_jwt' && !(await opened.refreshSession()).error) return true
  if (error.name === 'AuthRetryableFetchError') return false
  keepReason(error.code)
  // No sign-out request, since the backend does not know this session.
  localStorage.removeItem(STORAGE_KEY)
  await lose()
  return false
}

const api = dashboardApi(token)

async function call(...request: Parameters<typeof api>) {
  try {
    return await api(...request)
  } catch (thrown) {
    if (failureOf(thrown).status !== 401 || !(await renew())) throw thrown
    return api(...request)
  }
}

/** The user's API. A refused request is repeated if renewing the session helps. */
export const userApi = Object.assign(call, { open: api.open }) as DashboardApi

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
