/** Keys that work on a whole view, outside of text fields and dialogs. */
import { useEffect, useRef } from 'preact/hooks'

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
