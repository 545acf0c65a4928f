/** The list of requests, newest first. Only visible rows are rendered, and arrow keys move between them. */
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { JournalBrief } from '../../../journal/operations.js'
import { routes } from '../../routes.js'
import { Link } from '../widgets/link.jsx'
import { Empty } from '../widgets/states.jsx'
import { focusHeading } from '../widgets/view.jsx'
import { type Filter, queryOf } from './filter.js'
import { RequestRow, scaleFor } from './request-row.jsx'

interface Props {
  readonly rows: readonly JournalBrief[]
  readonly filter: Filter
  readonly open: string | undefined
  readonly isFiltered: boolean
  /** Called with true while rows must not move: they have the focus or the pointer, or the top of the list is out of view. */
  readonly onUsed: (isUsed: boolean) => void
}

export function RequestList({ rows, filter, open, isFiltered, onUsed }: Props) {
  const list = useRef<HTMLOListElement>(null)
  const { first, last, rowPx, isNarrow, isAway } = useWindow(list)
  const { active, isReading, on } = useRowFocus(list, rows, open)
  const { isPointing, point } = usePointing()
  const isUsed = isAway || isReading || isPointing
  useLayoutEffect(() => onUsed(isUsed), [isUsed, onUsed])
  const indexes = shownIndexes(rows.length, first, last, active)
  const scaleMs = scaleFor(indexes.flatMap(index => rows[index] ?? []))
  return (
    <div class={isNarrow ? 'requests-list requests-list-narrow' : 'requests-list'}>
      {rows.length === 0 ? <NoRequests isFiltered={isFiltered} /> : <Head />}
      <ol
        ref={list}
        class="requests-rows"
        aria-label="Requests, the newest first"
        style={{ height: `${rows.length * rowPx}px` }}
        {...on}
        onPointerMove={point}
        onPointerDown={point}
      >
        {indexes.map(index => {
          const brief = rows[index]
          if (!brief) return null
          return (
            <li
              // Keyed by position, not by id: reusing the elements of visible rows is cheaper than creating new ones.
              key={index}
              data-index={index}
              aria-setsize={rows.length}
              aria-posinset={index + 1}
              style={{ top: `${index * rowPx}px`, height: `${rowPx}px` }}
            >
              <RequestRow
                of={brief}
                query={queryOf(filter, brief.id)}
                isOpen={brief.id === open}
                isReachable={index === Math.min(active, rows.length - 1)}
                scaleMs={scaleMs}
              />
            </li>
          )
        })}
      </ol>
    </div>
  )
}

const columns = ['Time', 'Status', 'Request', 'Model', 'Caller', 'Why this response', 'Tokens', 'Duration']

const Head = () => (
  <p class="requests-head quiet small" aria-hidden="true">
    {columns.map(name => (
      <span key={name}>{name}</span>
    ))}
  </p>
)

/** The row that has the focus, or gets it once it is rendered. When an exchange is closed, its row gets the focus. */
function useActiveRow(list: RefObject<HTMLElement | null>, rows: readonly JournalBrief[], open: string | undefined) {
  const [active, setActive] = useState(0)
  const wanted = useRef<number | undefined>(undefined)
  const focusWanted = () => {
    const row = list.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"] a`)
    if (!row) return
    wanted.current = undefined
    row.focus({ preventScroll: true })
    row.scrollIntoView({ block: 'nearest' })
  }
  const goTo = (index: number) => {
    wanted.current = Math.max(0, Math.min(rows.length - 1, index))
    setActive(wanted.current)
    focusWanted()
  }
  const wasOpen = useRef(open)
  useLayoutEffect(() => {
    const closed = open === undefined ? wasOpen.current : undefined
    wasOpen.current = open
    if (closed === undefined) return
    const index = rows.findIndex(({ id }) => id === closed)
    if (index >= 0) goTo(index)
    else focusHeading()
  })
  useLayoutEffect(() => {
    if (wanted.current !== undefined) focusWanted()
  })
  return { active, setActive, goTo }
}

/** Arrow keys move between rows. */
function useRowFocus(list: RefObject<HTMLElement | null>, rows: readonly JournalBrief[], open: string | undefined) {
  const { active, setActive, goTo } = useActiveRow(list, rows, open)
  const [isReading, setReading] = useState(false)
  /** The element in the list that has the focus, or had it until it was removed. */
  const focused = useRef<HTMLElement | undefined>(undefined)

  useLayoutEffect(() => {
    if (!focused.current || document.activeElement !== document.body) return
    const isRemoved = !focused.current.isConnected
    focused.current = undefined
    // Otherwise the user has clicked somewhere else.
    if (!isRemoved) return
    setReading(false)
    focusHeading()
  })

  const press = (event: KeyboardEvent) => {
    const step = steps[event.key]
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    goTo(active + step)
  }
  const enter = (event: FocusEvent) => {
    focused.current = event.target as HTMLElement
    const index = focused.current.closest<HTMLElement>('[data-index]')?.dataset.index
    if (index !== undefined) setActive(Number(index))
    setReading(true)
  }
  const leave = ({ relatedTarget, currentTarget }: FocusEvent) => {
    if (relatedTarget instanceof Node && (currentTarget as HTMLElement).contains(relatedTarget)) return
    // While another window is active, the row keeps its place in the list for when the user returns.
    if (!document.hasFocus()) return
    if (relatedTarget !== null) focused.current = undefined
    setActive(0)
    setReading(false)
  }
  return { active, isReading, on: { onKeyDown: press, onFocusIn: enter, onFocusOut: leave } }
}

/** How long rows stay in place after the pointer stops moving. */
const POINTED_MS = 1500

/** Whether the pointer is moving over the rows. The row under it must stay in place. */
function usePointing() {
  const [isPointing, setPointing] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const point = () => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setPointing(false), POINTED_MS)
    setPointing(true)
  }
  return { isPointing, point }
}

/** The visible rows, and the focused one even if it is not visible. */
function shownIndexes(count: number, first: number, last: number, active: number): readonly number[] {
  const end = Math.min(last, count)
  const indexes = Array.from({ length: Math.max(0, end - first) }, (_, i) => first + i)
  const kept = Math.min(active, count - 1)
  if (kept < 0 || (kept >= first && kept < end)) return indexes
  return kept < first ? [kept, ...indexes] : [...indexes, kept]
}

const PAGE_ROWS = 10

const steps: Readonly<Record<string, number>> = {
  ArrowDown: 1,
  ArrowUp: -1,
  PageDown: PAGE_ROWS,
  PageUp: -PAGE_ROWS,
  Home: Number.NEGATIVE_INFINITY,
  End: Number.POSITIVE_INFINITY,
}

/** The empty state of the list. */
function NoRequests({ isFiltered }: { readonly isFiltered: boolean }) {
  if (isFiltered) {
    return <Empty title="No requests match these filters">“Show all” removes the filters.</Empty>
  }
  return (
    <Empty title="No requests yet">
      They appear here as apps send them. <Link to={routes.connect}>Connect</Link> shows how to point an app here.
    </Empty>
  )
}

/** How many extra rows are rendered above and below, so that scrolling shows no gaps. */
const MARGIN_ROWS = 8
/** Below this width a row has no columns. */
const NARROW_PX = 860
const ROW_PX = 44
const NARROW_ROW_PX = 54

/** The rows from `first` to before `last`. `isAway`: the top of the list is out of view. */
const atFirst = { first: 0, last: 40, rowPx: ROW_PX, isNarrow: false, isAway: false }

function useWindow(list: RefObject<HTMLElement | null>) {
  const [window, setWindow] = useState(atFirst)
  // A layout effect, so that a narrow list is never painted with columns.
  useLayoutEffect(() => {
    const element = list.current
    if (!element) return
    const measure = () => {
      const { top, width } = element.getBoundingClientRect()
      // The list is hidden while an open exchange takes the whole page.
      if (width === 0) return
      const isNarrow = width < NARROW_PX
      const rowPx = isNarrow ? NARROW_ROW_PX : ROW_PX
      const first = Math.max(0, Math.floor(-top / rowPx) - MARGIN_ROWS)
      const last = Math.max(first, Math.ceil((innerHeight - top) / rowPx)) + MARGIN_ROWS
      const next = { first, last, rowPx, isNarrow, isAway: top < -rowPx }
      setWindow(now => (JSON.stringify(now) === JSON.stringify(next) ? now : next))
    }
    measure()
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
