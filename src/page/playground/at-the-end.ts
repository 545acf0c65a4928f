/** Where the playground looks: the end of a growing page while its reader is there, and a setting that is named. */
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { SettingName } from './settings.js'

/** How far from the end still counts as the end. */
const NEAR = 48

const isNearEnd = () => {
  const { scrollHeight, clientHeight, scrollTop } = document.documentElement
  return scrollHeight - clientHeight - scrollTop <= NEAR
}

const goToEnd = () => scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' })

interface AtTheEnd {
  /** Whether the reader has gone elsewhere. */
  readonly isAway: boolean
  /** Brings them back, to stay. */
  catchUp(): void
}

/** `growing` is another value each time the page has grown. */
export function useAtTheEnd(growing: unknown): AtTheEnd {
  const isThere = useRef(true)
  const seen = useRef(growing)
  const [isAway, setAway] = useState(false)
  useEffect(() => {
    const look = () => {
      isThere.current = isNearEnd()
      setAway(!isThere.current)
    }
    // A conversation that is opened again begins at its top.
    look()
    addEventListener('scroll', look, { passive: true })
    return () => removeEventListener('scroll', look)
  }, [])
  useLayoutEffect(() => {
    if (growing === seen.current) return
    seen.current = growing
    if (isThere.current) goToEnd()
  }, [growing])
  const catchUp = useCallback(() => {
    isThere.current = true
    setAway(false)
    goToEnd()
  }, [])
  return { isAway, catchUp }
}

type Place = SettingName | 'credential'

/** The id of the element where a setting is filled in. */
export const placeOf = (place: Place) => `setting-${place}`

/** Brings the keyboard to a setting, wherever it is folded away. */
export function goTo(place: Place): void {
  const field = document.getElementById(placeOf(place))
  for (let fold = field?.closest('details'); fold; fold = fold.parentElement?.closest('details')) fold.open = true
  field?.focus()
}
