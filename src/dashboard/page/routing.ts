/** The page's address, and navigation without a reload. */
import { useEffect, useState } from 'preact/hooks'

/** Navigates to an address of the page. */
export function navigate(to: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', to)
  // Browsers only fire this event for back and forward.
  dispatchEvent(new PopStateEvent('popstate'))
}

/** Calls `arrived` each time the address has changed. */
export function useNavigation(arrived: () => void): void {
  useEffect(() => {
    addEventListener('popstate', arrived)
    return () => removeEventListener('popstate', arrived)
  }, [])
}

/** The current address of the page, kept up to date. */
export function useAddress(): { readonly path: string; readonly query: URLSearchParams } {
  const [address, setAddress] = useState(location.href)
  const update = () => setAddress(location.href)
  // It may have changed since the component was rendered.
  useEffect(update, [])
  useNavigation(update)
  const { pathname, searchParams } = new URL(address)
  return { path: pathname, query: searchParams }
}
