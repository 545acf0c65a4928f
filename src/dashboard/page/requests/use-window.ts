/** Which rows of a long list are on the screen, as the page is scrolled. */
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** So many more above and below, so that scrolling does not run into nothing. */
const MARGIN_ROWS = 8
/** Below this width a row takes two lines. */
const NARROW_PX = 760
const ROW_PX = 40
const TWO_LINES_PX = 62

interface Window {
  readonly first: number
  readonly last: number
  readonly rowPx: number
  readonly isNarrow: boolean
  /** Whether the beginning of the list is out of sight. */
  readonly isAway: boolean
}

const atFirst: Window = { first: 0, last: 40, rowPx: ROW_PX, isNarrow: false, isAway: false }

export function useWindow(list: RefObject<HTMLElement | null>): Window {
  const [window, setWindow] = useState(atFirst)
  useEffect(() => {
    const element = list.current
    if (!element) return
    const measure = () => {
      const { top, width } = element.getBoundingClientRect()
      // It is not shown, beside an exchange that has the page to itself.
      if (width === 0) return
      const isNarrow = width < NARROW_PX
      const rowPx = isNarrow ? TWO_LINES_PX : ROW_PX
      const first = Math.max(0, Math.floor(-top / rowPx) - MARGIN_ROWS)
      const last = Math.max(first, Math.ceil((innerHeight - top) / rowPx)) + MARGIN_ROWS
      const next = { first, last, rowPx, isNarrow, isAway: top < -rowPx }
      setWindow(now => (JSON.stringify(now) === JSON.stringify(next) ? now : next))
    }
    const resized = new ResizeObserver(measure)
    resized.observe(element)
    addEventListener('scroll', measure, { passive: true })
    addEventListener('resize', measure)
    return () => {
      resized.disconnect()
      removeEventListener('scroll', measure)
      removeEventListener('resize', measure)
    }
  }, [list])
  return window
}
