/** The key that was just created. Kept in the page's memory only, and gone from all views once it stops working. */
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import type { NewApiKey } from '../../keys/operations.js'
import { useSession, useUserApi } from '../session/session.jsx'
import { useResource } from '../widgets/resource.js'

interface FreshKey {
  readonly fresh: NewApiKey | undefined
  setFresh(key: NewApiKey | undefined): void
  /** Forgets the key with this id: it was revoked. */
  forget(id: string): void
}

const Context = createContext<FreshKey>({ fresh: undefined, setFresh: () => {}, forget: () => {} })

export const useFreshKey = () => useContext(Context)

export function FreshKeyProvider({ children }: { readonly children: ComponentChildren }) {
  const { session } = useSession()
  const [fresh, setFresh] = useState<NewApiKey>()
  const forget = (id: string) => setFresh(now => (now?.id === id ? undefined : now))
  // The next user must not see it.
  useEffect(() => {
    if (session.kind === 'signed-out') setFresh(undefined)
  }, [session.kind])
  return (
    <Context.Provider value={{ fresh, setFresh, forget }}>
      {fresh && <Watch key={fresh.id} fresh={fresh} onEnd={() => forget(fresh.id)} />}
      {children}
    </Context.Provider>
  )
}

const EVERY_MS = 5000

interface WatchProps {
  readonly fresh: NewApiKey
  readonly onEnd: () => void
}

/** Looks whether the key still works: it may be revoked in another tab, or expire. */
function Watch({ fresh, onEnd }: WatchProps) {
  const api = useUserApi()
  const { value: keys } = useResource(async signal => (await api('GET /keys', { signal })).data, [api], EVERY_MS)
  const now = keys?.find(({ id }) => id === fresh.id)
  useEffect(() => {
    if (keys && now?.state !== 'active') onEnd()
  }, [keys])
  return null
}
