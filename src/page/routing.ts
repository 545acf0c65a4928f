/** Where the page is, and how it goes elsewhere without being loaded anew. */
import { useEffect, useState } from 'preact/hooks'

/** Goes to an address of the page. */
export function navigate(to: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  // The browser tells of its own steps only.
  dispatchEvent(new PopStateEvent('popstate'))
}

/** The address of the page, kept up to date. */
export function useAddress(): { readonly path: string; readonly query: URLSearchParams } {
  const [address, setAddress] = useState(location.href)
  useEffect(() => {
    const update = () => setAddress(location.href)
    addEventListener('popstate', update)
    return () => removeEventListener('popstate', update)
  }, [])
  const { pathname, searchParams } = new URL(address)
  return { path: pathname, query: searchParams }
}
