/** The page's address, and navigation without a reload. */
import { useEffect, useState } from 'preact/hooks'

/** Navigates to an address of the page. */
export function navigate(to: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  // Browsers only fire this event for back and forward.
  dispatchEvent(new PopStateEvent('popstate'))
}

/** The current address of the page, kept up to date. */
export function useAddress(): { readonly path: string; readonly query: URLSearchParams } {
  const [address, setAddress] = useState(location.href)
  useEffect(() => {
    const update = () => setAddress(location.href)
    // It may have changed since the component was drawn.
    update()
    addEventListener('popstate', update)
    return () => removeEventListener('popstate', update)
  }, [])
  const { pathname, searchParams } = new URL(address)
  return { path: pathname, query: searchParams }
}
