/** The live list: updated a few times a second, paused while the page is hidden, and held while it is being read. */
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { JournalBrief, Tick } from '../../journal/operations.js'
import type { Control } from '../api.js'
import type { Failure } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'
import { followJournal } from './feed.js'
import { createHistory } from './history.js'

/** Updates at most ten times a second; more would not be visible. */
const SHOWN_EVERY_MS = 100
/** The chart covers two minutes. */
export const MOST_TICKS = 120

export interface LiveList {
  /** The newest first. */
  readonly rows: readonly JournalBrief[]
  readonly ticks: readonly Tick[]
  /** How many were skipped and only counted. */
  readonly skipped: number
  /** Increases each time Standin is restarted or the list is cleared. */
  readonly era: number
  readonly connection: 'opening' | 'open' | 'lost'
  /** Why the connection was lost. */
  readonly failure?: Failure | undefined
}

const before: LiveList = { rows: [], ticks: [], skipped: 0, era: 0, connection: 'opening' }

export function useLive(control: Control): { readonly live: LiveList; forget(): void } {
  const [live, setLive] = useState(before)
  const history = useRef(createHistory()).current
  const era = useRef(0)
  const showNow = useRef(() => {})

  useEffect(() => {
    const leaving = new AbortController()
    let ticks: readonly Tick[] = []
    let connection: LiveList['connection'] = 'opening'
    let failure: Failure | undefined
    let timer: ReturnType<typeof setTimeout> | undefined
    let frame: number | undefined

    const show = () => {
      timer = undefined
      frame = undefined
      const { skipped } = history.counts()
      setLive({ rows: history.newestFirst(), skipped, era: era.current, ticks, connection, failure })
    }
    const showSoon = () => {
      if (timer !== undefined || document.hidden) return
      timer = setTimeout(() => {
        frame = requestAnimationFrame(show)
      }, SHOWN_EVERY_MS)
    }
    showNow.current = show
    const seen = () => document.hidden || showSoon()
    document.addEventListener('visibilitychange', seen)

    const reader = {
      began(run: string, after: string) {
        if (history.began(run, after)) {
          era.current++
          announce('Standin was restarted. The list is empty again.')
        }
        connection = 'open'
        failure = undefined
        showSoon()
      },
      exchanges(briefs: readonly JournalBrief[]) {
        history.add(briefs)
        showSoon()
      },
      tick(tick: Tick) {
        ticks = [...ticks, tick].slice(-MOST_TICKS)
        showSoon()
      },
      lost(why: Failure) {
        connection = 'lost'
        failure = why
        showSoon()
      },
    }
    followJournal(control, reader, leaving.signal)
    return () => {
      leaving.abort()
      clearTimeout(timer)
      if (frame !== undefined) cancelAnimationFrame(frame)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [control, history])

  const forget = useCallback(() => {
    history.clear()
    era.current++
    showNow.current()
  }, [history])
  return { live, forget }
}

/** Waits this long after the last key press. */
const TYPING_MS = 300
/** The most results of one query to the journal. */
const MOST_FOUND = 1000

/** The ids of exchanges whose bodies contain `text`, updated each second if new ones came; undefined without a text. */
export function useTextMatches(control: Control, text: string | undefined, { rows, ticks }: LiveList) {
  const [found, setFound] = useState<ReadonlySet<string> | undefined>(undefined)
  // A tick comes each second.
  const newestId = useMemo(() => rows[0]?.id, [ticks, rows.length === 0])
  useEffect(() => {
    if (text === undefined) return setFound(undefined)
    const leaving = new AbortController()
    const timer = setTimeout(() => {
      control('GET /journal', { query: { text, brief: true, limit: MOST_FOUND }, signal: leaving.signal }).then(
        ({ data }) => setFound(new Set(data.map(({ id }) => id))),
        () => leaving.signal.aborted || setFound(nothingYet),
      )
    }, TYPING_MS)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, [control, text, newestId])
  return text === undefined ? undefined : (found ?? nothingYet)
}

const nothingYet: ReadonlySet<string> = new Set()

/** Why the rows are held. */
type Reason = 'pressed' | 'reading' | 'away' | 'pointing'

export interface Held {
  /** The rows to show, as they were when they were first held. */
  readonly rows: readonly JournalBrief[]
  readonly reason: Reason | undefined
  /** How many new rows the filter would show. */
  readonly fresh: number
  setPressed(isPressed: boolean): void
  setReading(isReading: boolean): void
  setAway(isAway: boolean): void
  /** The pointer moves over the rows, so the row under it must not move away. */
  point(): void
}

/** How long rows are held after the pointer stops moving. */
const POINTED_MS = 1500

/** Keeps rows in place while they are being read, and counts the new ones. */
export function useHeld({ rows, era }: Pick<LiveList, 'rows' | 'era'>, fits: (brief: JournalBrief) => boolean): Held {
  const [pressed, setPressed] = useState(false)
  const [reading, setReading] = useState(false)
  const [away, setAway] = useState(false)
  const { pointing, point } = usePointing()
  const reason = pressed ? 'pressed' : reading ? 'reading' : away ? 'away' : pointing ? 'pointing' : undefined
  const held = useRef<{ readonly rows: readonly JournalBrief[]; readonly era: number } | undefined>(undefined)
  if (reason === undefined || held.current?.era !== era) held.current = undefined
  if (reason !== undefined) held.current ??= { rows, era }
  const base = held.current?.rows ?? rows
  const shown = useMemo(() => base.filter(fits), [base, fits])
  const newest = Number(base[0]?.id ?? 0)
  const fresh = useMemo(() => {
    const known = base === rows ? 0 : rows.findIndex(({ id }) => Number(id) <= newest)
    return rows.slice(0, known < 0 ? rows.length : known).filter(fits).length
  }, [base, rows, newest, fits])
  return { rows: shown, reason, fresh, setPressed, setReading, setAway, point }
}

function usePointing() {
  const [pointing, setPointing] = useState(false)
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const point = useCallback(() => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setPointing(false), POINTED_MS)
    setPointing(true)
  }, [])
  return { pointing, point }
}
