/** The session of the signed-in user, kept in this browser: a few requests to the auth backend, as an app makes them. */
import { useEffect } from 'preact/hooks'
import type { NewApiKey } from '../../../keys/operations.js'
import type { ConfigJson } from '../../operations.js'
import { askAuth, dashboardApi, failureOf } from '../api.js'
import { useConfig } from '../config.jsx'
import { parsed } from '../widgets/json.js'
import { announce, createShared } from '../widgets/shared.js'

type Session =
  | { readonly kind: 'unknown' }
  /** `because` says why, if the session ended without the user signing out. */
  | { readonly kind: 'signed-out'; readonly because?: string }
  | { readonly kind: 'user'; readonly email: string }

interface Granted {
  readonly access_token: string
  readonly refresh_token: string
  readonly user?: { readonly email?: string }
}

/** What the browser keeps: also by which state of the server it was granted, to tell a restart from a sign-out later. */
interface Kept extends Granted {
  readonly users?: ConfigJson['users']
}

const STORAGE_KEY = 'standin-dashboard'

const kept = () => parsed(localStorage.getItem(STORAGE_KEY) ?? '') as Kept | undefined

/** After a link of a message, the session is in the address. */
const fromLink = location.hash.includes('access_token=')

const session = createShared<Session>(fromLink ? { kind: 'unknown' } : known())
export const useSession = session.use

/** The key that was just created: in the page's memory only, until it is revoked or its user signs out. */
export const freshKey = createShared<NewApiKey | undefined>(undefined)

let config: ConfigJson

function known(): Session {
  const user = kept()
  return user ? { kind: 'user', email: user.user?.email || 'Anonymous user' } : { kind: 'signed-out' }
}

function keep(granted: Granted): void {
  localStorage.setItem(STORAGE_KEY, JSON.stringify({ users: config.users, ...kept(), ...granted }))
  session.set(known())
}

/** Begins a session in place of another. */
function begin(granted: Granted): void {
  localStorage.removeItem(STORAGE_KEY)
  keep(granted)
}

function end(because?: string): void {
  localStorage.removeItem(STORAGE_KEY)
  freshKey.set(undefined)
  session.set(because === undefined ? { kind: 'signed-out' } : { kind: 'signed-out', because })
}

const ask = <T>(path: string, more: Partial<Parameters<typeof askAuth>[1]> = {}) =>
  askAuth<T>(path, { ...more, key: config.anon_key })

/** Keeps the session up to date. There is one on the page. */
export function WatchSession() {
  config = useConfig()
  const { users, clock } = config
  useEffect(() => {
    if (fromLink) void followLink()
    // Another tab may sign in or out.
    const changed = ({ key }: StorageEvent) => key === STORAGE_KEY && session.set(known())
    addEventListener('storage', changed)
    return () => removeEventListener('storage', changed)
  }, [])
  useEffect(() => {
    // A restart, a reset and a change of the clock may each have ended it.
    void renew()
  }, [users.run, users.replaced, clock.frozen, clock.offsetMs])
  return null
}

async function followLink(): Promise<void> {
  const granted = Object.fromEntries(new URLSearchParams(location.hash.slice(1))) as unknown as Granted
  history.replaceState(null, '', location.pathname + location.search)
  try {
    const user = await ask<{ email?: string }>('user', { method: 'GET', bearer: granted.access_token })
    begin({ ...granted, user })
  } catch (thrown) {
    end(failureOf(thrown).message)
  }
}

interface Credentials {
  readonly email: string
  readonly password: string
}

export async function signIn({ email, password }: Credentials): Promise<void> {
  const granted = await ask<Granted>('token?grant_type=password', { body: { email, password } })
  begin(granted)
}

/** Resolves with whether the new account is signed in; if not, its address has to be confirmed first. */
export async function signUp({ email, password }: Credentials, returnTo: string): Promise<boolean> {
  const answer = await ask<Partial<Granted>>(`signup?${new URLSearchParams({ redirect_to: returnTo })}`, {
    body: { email, password },
  })
  if (!answer.access_token) return false
  begin(answer as Granted)
  return true
}

/** Signs out in this browser only; other sessions of the user continue. */
export async function signOut(): Promise<void> {
  await ask('logout?scope=local', { bearer: kept()?.access_token ?? '' })
  end()
  announce('Signed out.')
}

let renewal: Promise<boolean> | undefined

/** Renews a session whose token has only expired, and ends one that the backend refuses. Resolves with whether it is valid. */
function renew(): Promise<boolean> {
  // Requests that are refused together share one renewal.
  renewal ??= renewed().finally(() => {
    renewal = undefined
  })
  return renewal
}

async function renewed(): Promise<boolean> {
  const was = kept()
  if (!was) return false
  const { access_token, refresh_token, users } = was
  try {
    await ask('user', { method: 'GET', bearer: access_token })
    keep(was)
    return true
  } catch (thrown) {
    const { status, about } = failureOf(thrown)
    if (status === 0) return false
    // A change of the clock makes tokens expire, but not the session.
    const again =
      about.code === 'bad_jwt'
        ? await ask<Granted>('token?grant_type=refresh_token', { body: { refresh_token } }).catch(() => undefined)
        : undefined
    if (again) keep(again)
    else end(await whyEnded(about.code, users))
    return again !== undefined
  }
}

async function whyEnded(code = '', granted: ConfigJson['users'] | undefined): Promise<string> {
  const { users } = await dashboardApi()('GET /config').catch(() => config)
  if (granted && granted.run !== users.run)
    return 'Standin was restarted, and keeps users and sessions in memory only. Sign in again.'
  if (granted && granted.replaced !== users.replaced)
    return 'Standin was reset, which ended all sessions. Sign in again.'
  return reasons[code] ?? 'Your session has ended. Sign in again.'
}

const reasons: Readonly<Record<string, string>> = {
  user_not_found: 'Your account was deleted.',
  user_banned: 'Your account is banned.',
}

const api = dashboardApi(() => kept()?.access_token)

/** Creates a key of the user, if need be with a renewed token. */
export async function createKey(body: { readonly name: string; readonly expires_in?: number }): Promise<void> {
  const create = () => api('POST /keys', { body })
  const created = await create().catch(async thrown => {
    if (failureOf(thrown).status !== 401 || !(await renew())) throw thrown
    return create()
  })
  freshKey.set(created)
}
