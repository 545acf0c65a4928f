/** The key that was just created. Kept in the page's memory only. */
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useEffect, useState } from 'preact/hooks'
import type { NewApiKey } from '../../keys/operations.js'
import { useSession } from '../session/session.jsx'

interface FreshKey {
  readonly fresh: NewApiKey | undefined
  setFresh(key: NewApiKey | undefined): void
}

const Context = createContext<FreshKey>({ fresh: undefined, setFresh: () => {} })

export const useFreshKey = () => useContext(Context)

export function FreshKeyProvider({ children }: { readonly children: ComponentChildren }) {
  const { session } = useSession()
  const [fresh, setFresh] = useState<NewApiKey>()
  // The next user must not see it.
  useEffect(() => {
    if (session.kind === 'signed-out') setFresh(undefined)
  }, [session.kind])
  return <Context.Provider value={{ fresh, setFresh }}>{children}</Context.Provider>
}
