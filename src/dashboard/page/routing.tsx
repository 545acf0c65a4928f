/** The page's address, links and keys, and navigation without a reload. */

import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

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

interface Props {
  readonly to: string
  readonly class?: string
  readonly current?: boolean
  readonly reachable?: boolean
  /** What a click does, if not to navigate there. */
  readonly open?: () => void
  readonly children: ComponentChildren
}

export function Link({
  to,
  current = false,
  reachable = true,
  open = () => navigate(to),
  children,
  class: name,
}: Props) {
  const follow = (event: MouseEvent) => {
    // These keys open the link in another tab or window.
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    open()
  }
  return (
    <a
      href={to}
      class={name}
      aria-current={current ? 'page' : undefined}
      tabIndex={reachable ? undefined : -1}
      onClick={follow}
    >
      {children}
    </a>
  )
}

/** Elements that use these keys themselves. Checkboxes, radio buttons and sliders do not. */
const TYPING =
  'input:not([type=checkbox], [type=radio], [type=range]), textarea, select, [contenteditable], dialog, dialog *'

/** Calls the function of a key when it is pressed, such as `/`, `j` or `Escape`. */
export function useKeys(keys: Readonly<Record<string, (() => void) | undefined>>): void {
  const latest = useRef(keys)
  latest.current = keys
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const then = latest.current[event.key]
      const isTyped = event.target instanceof Element && event.target.matches(TYPING)
      // An open menu closes with Escape.
      const isTaken = isTyped || (event.key === 'Escape' && document.querySelector(':popover-open') !== null)
      if (!then || isTaken || event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return
      event.preventDefault()
      then()
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [])
}
