/** The session of the signed-in user. Supabase's auth client is large, so it is loaded only when there is a session, or someone signs in. */
import type { AuthClient } from '@supabase/auth-js'
import { useEffect, useRef } from 'preact/hooks'
import { DASHBOARD_HEADER } from '../../../core/paths.js'
import type { NewApiKey } from '../../../keys/operations.js'
import type { ConfigJson } from '../../operations.js'
import { type DashboardApi, dashboardApi, Failure, failureOf, noAnswer, refusal } from '../api.js'
import { useConfig } from '../config.jsx'
import { announce, createShared } from '../widgets/shared.js'

type Auth = InstanceType<typeof AuthClient>

type Session =
  | { readonly kind: 'unknown' }
  /** `because` says why, if the session ended without the user signing out. */
  | { readonly kind: 'signed-out'; readonly because?: string }
  | { readonly kind: 'user'; readonly email: string }

const STORAGE_KEY = 'standin-dashboard'
/** Where the run of the server at the sign-in is kept, to tell a restart from a sign-out later. */
const ORIGIN_KEY = 'standin-dashboard-origin'
/** Whether there is one from before, or in the address after a link of a message. */
const mayHaveSession = localStorage.getItem(STORAGE_KEY) !== null || location.hash.includes('access_token=')

const session = createShared<Session>({ kind: mayHaveSession ? 'unknown' : 'signed-out' })
export const useSession = session.use

/** The key that was just created: in the page's memory only, until it is revoked or its user signs out. */
export const freshKey = createShared<NewApiKey | undefined>(undefined)

let config: ConfigJson
let client: Promise<Auth> | undefined
let isLeaving = false
/** The backend's last error code. */
let refusedWith = ''

/** Supabase's auth client. */
export function auth(): Promise<Auth> {
  client ??= openAuth(config).catch(() => {
    // The next attempt loads it again.
    client = undefined
    throw new Failure(0, 'Sign-in could not be loaded. Reload the page.')
  })
  return client
}

async function openAuth({ url, auth_url, anon_key }: ConfigJson): Promise<Auth> {
  const { AuthClient } = await import('@supabase/auth-js')
  // The platform has several host names; the page uses the one it was opened under.
  const address = auth_url === url ? location.origin : auth_url
  const opened = new AuthClient({
    url: `${address}/auth/v1`,
    headers: {
      // As supabase-js sends them.
      apikey: anon_key,
      Authorization: `Bearer ${anon_key}`,
      // On another origin, the header would cause a preflight, and there is no journal.
      ...(address === location.origin && { [DASHBOARD_HEADER]: 'yes' }),
    },
    storageKey: STORAGE_KEY,
    async fetch(input, init) {
      const response = await fetch(input, init)
      if (!response.ok)
        refusedWith = String(
          (
            await response
              .clone()
              .json()
              .catch(() => {})
          )?.code ?? '',
        )
      return response
    },
  })
  opened.onAuthStateChange((_event, found) => void (found ? begin(found.user) : end()))
  return opened
}

interface AuthAnswer {
  readonly error: (Error & { readonly status?: number | undefined; readonly code?: string | undefined }) | null
}

/** Throws a Failure with the backend's own message if a call of the client failed. */
export function requireSuccess({ error }: AuthAnswer): void {
  if (error?.name === 'AuthRetryableFetchError') throw noAnswer()
  if (error) throw refusal(error.status ?? -1, error.message, error.code)
}

/** Keeps the session up to date. There is one on the page. */
export function WatchSession() {
  config = useConfig()
  const { auth_url, anon_key, users, clock } = config
  const isFirst = useRef(true)
  useEffect(() => {
    if (mayHaveSession) auth().catch(({ message }) => session.set({ kind: 'signed-out', because: message }))
  }, [])
  useEffect(() => {
    // The client keeps the address and the key with which it was opened.
    if (client && !isFirst.current) location.reload()
  }, [auth_url, anon_key])
  useEffect(() => {
    // A restart, a reset and a change of the clock may each have ended it.
    if (!isFirst.current) void renew()
    isFirst.current = false
  }, [users.run, users.replaced, clock.frozen, clock.offsetMs])
  return null
}

function begin({ id, email, last_sign_in_at }: { id: string; email?: string; last_sign_in_at?: string }): void {
  const signIn = `${id} ${last_sign_in_at}`
  if (origin().signIn !== signIn) localStorage.setItem(ORIGIN_KEY, JSON.stringify({ signIn, ...config.users }))
  refusedWith = ''
  session.set({ kind: 'user', email: email || 'Anonymous user' })
}

const origin = () => JSON.parse(localStorage.getItem(ORIGIN_KEY) ?? '{}')

async function end(): Promise<void> {
  // If a reason is shown already, it stays.
  if (session.get().kind === 'signed-out') return
  freshKey.set(undefined)
  session.set({ kind: 'signed-out' })
  if (isLeaving) return
  const because = await whyEnded()
  // The user may have signed in again by now.
  if (session.get().kind === 'signed-out') session.set({ kind: 'signed-out', because })
}

async function whyEnded(): Promise<string> {
  const { run, replaced } = origin()
  const { users } = await dashboardApi()('GET /config').catch(() => config)
  if (run !== undefined && run !== users.run)
    return 'Standin was restarted, and keeps users and sessions in memory only. Sign in again.'
  if (replaced !== undefined && replaced !== users.replaced)
    return 'Standin was reset, which ended all sessions. Sign in again.'
  return reasons[refusedWith] ?? 'Your session has ended. Sign in again.'
}

const reasons: Readonly<Record<string, string>> = {
  user_not_found: 'Your account was deleted.',
  user_banned: 'Your account is banned.',
}

export async function signIn(credentials: { readonly email: string; readonly password: string }): Promise<void> {
  requireSuccess(await (await auth()).signInWithPassword(credentials))
}

/** Signs out in this browser only; other sessions of the user continue. Rejects with a Failure if the backend does not respond. */
export async function signOut(): Promise<void> {
  isLeaving = true
  const answer = await (await auth()).signOut({ scope: 'local' })
  isLeaving = false
  requireSuccess(answer)
  announce('Signed out.')
}

const noSession = { data: { session: null } } as const

/** A valid token. Rejects with a Failure if no user is signed in. */
export async function token(): Promise<string> {
  const { data } = session.get().kind === 'signed-out' ? noSession : await (await auth()).getSession()
  if (!data.session) throw new Failure(401, 'You are not signed in.')
  return data.session.access_token
}

let renewal: Promise<boolean> | undefined

/** Refreshes a session whose token has only expired, and ends one that the backend refuses. Resolves with whether it is valid. */
async function renew(): Promise<boolean> {
  if (session.get().kind !== 'user') return false
  // Requests that are refused together share one renewal.
  renewal ??= renewed().finally(() => {
    renewal = undefined
  })
  return renewal
}

async function renewed(): Promise<boolean> {
  const opened = await auth()
  const { error } = await opened.getUser()
  if (!error) return true
  // Adjusting the clock makes tokens expire, but not the session.
  if (error.code === 'bad_jwt' && !(await opened.refreshSession()).error) return true
  if (error.name !== 'AuthRetryableFetchError') await opened.signOut({ scope: 'local' })
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
