/** Who is signed in, for every part of the page. */
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { useConfig } from '../config.jsx'
import { signedOut } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'
import { type Auth, openAuth, requireSuccess, STORAGE_KEY } from './auth-client.js'

type Session =
  | { readonly kind: 'unknown' }
  /** With the reason, where somebody was signed in and did not leave by themselves. */
  | { readonly kind: 'nobody'; readonly because?: string }
  | { readonly kind: 'user'; readonly email: string }

interface SessionAccess {
  readonly session: Session
  readonly auth: Promise<Auth>
  /** A token that is good now. Rejects with a Failure when nobody is signed in. */
  token(): Promise<string>
  /** Signs out because somebody wants to. Rejects with a Failure when the backend does not answer. */
  signOut(): Promise<void>
  /** Signs out because the session opens nothing any more. */
  end(): Promise<void>
}

const ENDED = 'Your session has ended: it was closed elsewhere, or Standin has begun anew since. Sign in again.'
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
  /** Whether there is a session to lose: then whoever finds it gone is told why. */
  const hadSession = useRef(localStorage.getItem(STORAGE_KEY) !== null)

  // A new client for another backend only, not for other models.
  const auth = useMemo(() => openAuth(config), [url, auth_url, anon_key])

  useEffect(() => {
    let stop = () => {}
    const listen = (client: Auth) => {
      const { data } = client.onAuthStateChange((_event, found) => {
        if (found) {
          hadSession.current = true
          return setSession({ kind: 'user', email: found.user.email || 'Anonymous user' })
        }
        const lost: Session = hadSession.current ? { kind: 'nobody', because: ENDED } : { kind: 'nobody' }
        hadSession.current = false
        setSession(before => (before.kind === 'nobody' ? before : lost))
      })
      stop = () => data.subscription.unsubscribe()
    }
    auth.then(listen).catch(() => setSession({ kind: 'nobody', because: NOT_LOADED }))
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
        // Of this browser alone: whoever works with the same user elsewhere goes on.
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
