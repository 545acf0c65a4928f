/** The control token or service key entered on another machine. Kept in the page's memory only. */
import { type ComponentChildren, createContext } from 'preact'
import { useContext, useState } from 'preact/hooks'

interface ServiceKey {
  readonly serviceKey: string | undefined
  setServiceKey(key: string): void
}

const Context = createContext<ServiceKey>({ serviceKey: undefined, setServiceKey: () => {} })

export const useServiceKey = () => useContext(Context)

export function ServiceKeyProvider({ children }: { readonly children: ComponentChildren }) {
  const [serviceKey, setServiceKey] = useState<string>()
  return <Context.Provider value={{ serviceKey, setServiceKey }}>{children}</Context.Provider>
}
