/** The session of the signed-in user, for all parts of the page. */
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useConfig } from '../config.jsx'
import { signedOut } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'
import { type Auth, openAuth, requireSuccess, STORAGE_KEY } from './auth-client.js'

type Session =
  | { readonly kind: 'unknown' }
  /** With the reason if a session ended without the user signing out. */
  | { readonly kind: 'signed-out'; readonly because?: string }
  | { readonly kind: 'user'; readonly email: string }

interface SessionAccess {
  readonly session: Session
  readonly auth: Promise<Auth>
  /** A valid token. Rejects with a Failure if no user is signed in. */
  token(): Promise<string>
  /** Signs out at the user's request. Rejects with a Failure if the backend does not answer. */
  signOut(): Promise<void>
  /** Ends a session that is no longer valid. */
  end(): Promise<void>
}

const ENDED = 'Your session has ended: it was ended elsewhere, or Standin was restarted. Sign in again.'
const NOT_LOADED = 'Signing in could not be loaded. Load the page again.'

const Context = createContext<SessionAccess | undefined>(undefined)

export function useSession(): SessionAccess {
  const access = useContext(Context)
  if (!access) throw new Error('The session is asked for outside of its provider.')
  return access
}

export function SessionProvider({ children }: { readonly children: ComponentChildren }) {
  const config = useConfig()
  const { url, auth_url, anon_key } = config
  const [session, setSession] = useState<Session>({ kind: 'unknown' })
  /** Whether there was a session. If it is gone, the page says why. */
  const hadSession = useRef(localStorage.getItem(STORAGE_KEY) !== null)

  // Creates a new client for another backend, but not when only the models change.
  const auth = useMemo(() => openAuth(config), [url, auth_url, anon_key])

  useEffect(() => {
    let stop = () => {}
    const listen = (client: Auth) => {
      const { data } = client.onAuthStateChange((_event, found) => {
        if (found) {
          hadSession.current = true
          return setSession({ kind: 'user', email: found.user.email || 'Anonymous user' })
        }
        const lost: Session = hadSession.current ? { kind: 'signed-out', because: ENDED } : { kind: 'signed-out' }
        hadSession.current = false
        setSession(before => (before.kind === 'signed-out' ? before : lost))
      })
      stop = () => data.subscription.unsubscribe()
    }
    auth.then(listen).catch(() => setSession({ kind: 'signed-out', because: NOT_LOADED }))
    return () => stop()
  }, [auth])

  const access = useMemo<Omit<SessionAccess, 'session'>>(
    () => ({
      auth,
      async token() {
        const answer = await (await auth).getSession()
        requireSuccess(answer)
        if (!answer.data.session) throw signedOut()
        return answer.data.session.access_token
      },
      async signOut() {
        hadSession.current = false
        // Signs out in this browser only; other sessions of the user continue.
        const answer = await (await auth).signOut({ scope: 'local' })
        hadSession.current = answer.error !== null
        requireSuccess(answer)
        announce('Signed out.')
      },
      async end() {
        await (await auth).signOut({ scope: 'local' })
      },
    }),
    [auth],
  )

  return <Context.Provider value={{ ...access, session }}>{children}</Context.Provider>
}
