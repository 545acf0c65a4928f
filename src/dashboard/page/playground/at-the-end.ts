/** Keeps the end of a growing page in view while the user is there, and moves the focus to settings. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { SettingName } from './settings.js'

/** How many pixels from the end still count as the end. */
const NEAR = 48

const isNearEnd = () => {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement
  return scrollHeight - clientHeight - scrollTop <= NEAR
}

const goToEnd = () => scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })

/** `growing` must be a new value each time the page has grown. */
export function useFollowEnd(growing: unknown) {
  const isThere = useRef(true)
  const seen = useRef(growing)
  /** Whether the user has scrolled away. */
  const [isAway, setAway] = useState(false)
  useEffect(() => {
    const look = () => {
      isThere.current = isNearEnd()
      setAway(!isThere.current)
    }
    // A reopened conversation starts at the top.
    look()
    addEventListener('scroll', look, { passive: true })
    return () => removeEventListener('scroll', look)
  }, [])
  useLayoutEffect(() => {
    if (growing === seen.current) return
    seen.current = growing
    if (isThere.current) goToEnd()
  }, [growing])
  /** Scrolls to the end and follows it again. */
  const catchUp = useCallback(() => {
    isThere.current = true
    setAway(false)
    goToEnd()
  }, [])
  return { isAway, catchUp }
}

type Place = SettingName | 'credential' | 'pastedKey'

export const placeOf = (place: Place) => `setting-${place}`

/** Moves the focus to a setting, and opens the sections that hide it. */
export function goTo(place: Place): void {
  const field = document.getElementById(placeOf(place))
  for (let fold = field?.closest('details'); fold; fold = fold.parentElement?.closest('details')) fold.open = true
  field?.focus()
}
