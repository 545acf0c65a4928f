/** The live list. It is not updated while the page is hidden, and rows stay in place while the user reads them. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { JournalBrief } from '../../../journal/operations.js'
import { control, serviceKey } from '../api.js'
import type { Failure } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'
import { reportAnswer, useOnce } from '../widgets/resource.js'
import { type FeedReader, followJournal } from './feed.js'
import { createHistory } from './history.js'

/** The time between updates. More than ten a second would not be visible. */
const SHOWN_EVERY_MS = 100

export interface LiveList {
  /** Newest first. */
  readonly rows: readonly JournalBrief[]
  /** The number of requests that are not in the list, because too many came at once. */
  readonly skipped: number
  /** Increases when Standin is restarted or the list is cleared. */
  readonly era: number
  /** `opening` until it has been open once. */
  readonly connection: 'opening' | 'open' | 'lost'
  readonly failure?: Failure | undefined
}

const before: LiveList = { rows: [], skipped: 0, era: 0, connection: 'opening' }

export function useLive(): LiveList {
  const key = serviceKey.use()
  const [live, setLive] = useState(before)
  const [list] = useState(createList)
  useEffect(() => {
    const leaving = new AbortController()
    const { showSoon, stop } = whileVisible(() => setLive(list.now()))
    followJournal(list.reader(showSoon), leaving.signal)
    return () => {
      leaving.abort()
      stop()
    }
  }, [key, list])
  return live
}

/** Collects the list from the feed. It outlives a connection, so that a new one can continue it. */
function createList() {
  const history = createHistory()
  let latest = before
  const reader = (changed: () => void): FeedReader => {
    const change = (changes: Partial<LiveList>) => {
      latest = { ...latest, ...changes }
      changed()
    }
    return {
      began({ run, after, cleared }) {
        reportAnswer(true)
        const isNew = history.began(run, after)
        if (isNew) announce('Standin was restarted. The list starts over.')
        const isOver = history.clearUntil(cleared) || isNew
        change({ connection: 'open', failure: undefined, era: isOver ? latest.era + 1 : latest.era })
      },
      exchanges(briefs) {
        history.add(briefs)
        changed()
      },
      cleared({ scope }) {
        history.clear(scope)
        change({ era: scope === undefined ? latest.era + 1 : latest.era })
      },
      lost(failure) {
        if (failure.status === 0) reportAnswer(false)
        change({ connection: latest.connection === 'opening' ? 'opening' : 'lost', failure })
      },
    }
  }
  const now = (): LiveList => ({ ...latest, rows: history.newestFirst(), skipped: history.counts().skipped })
  return { reader, now }
}

/** Throttles `show`, and does not call it while the page is hidden. */
function whileVisible(show: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined
  let frame: number | undefined
  const showSoon = () => {
    if (timer !== undefined || document.hidden) return
    timer = setTimeout(() => {
      frame = requestAnimationFrame(() => {
        timer = undefined
        show()
      })
    }, SHOWN_EVERY_MS)
  }
  document.addEventListener('visibilitychange', showSoon)
  const stop = () => {
    clearTimeout(timer)
    if (frame !== undefined) cancelAnimationFrame(frame)
    document.removeEventListener('visibilitychange', showSoon)
  }
  return { showSoon, stop }
}

const SETTLED_EVERY_MS = 1000

/** The rows as of the last second. For searches through all rows, which would be too slow on every update. */
export function useSettledRows({ rows }: LiveList): readonly JournalBrief[] {
  const [settled, setSettled] = useState(rows)
  const latest = useRef(rows)
  latest.current = rows
  useEffect(() => {
    const timer = setInterval(() => setSettled(latest.current), SETTLED_EVERY_MS)
    return () => clearInterval(timer)
  }, [])
  return settled.length === 0 || rows.length === 0 ? rows : settled
}

/** How long to wait after the last key press. */
const TYPING_MS = 300
/** The most results that a search returns. */
const MOST_FOUND = 1000

/** The ids of the exchanges whose request or answer contains `text`; undefined without a text. Searches again when `newestId` changes. */
export function useTextMatches(text: string | undefined, newestId: string | undefined) {
  // Keeps the previous results until the new ones arrive.
  const [found, setFound] = useState(nothingYet)
  const find = async (signal: AbortSignal): Promise<ReadonlySet<string>> => {
    const search = (where: object) =>
      control('GET /journal', { query: { ...where, brief: true, limit: MOST_FOUND }, signal })
    const pages = await Promise.all([search({ text }), search({ answer: text })])
    return new Set(pages.flatMap(({ data }) => data.map(({ id }) => id)))
  }
  const load = text === undefined ? undefined : find
  const failed = () => setFound(nothingYet)
  useOnce({ load, take: setFound, failed, afterMs: TYPING_MS }, [text, newestId])
  return text === undefined ? undefined : found
}

const nothingYet: ReadonlySet<string> = new Set()

export type Held = ReturnType<typeof useHeld>

/** Keeps rows in place while they are being read, and counts the new ones. */
export function useHeld({ rows, era }: LiveList, fits: (brief: JournalBrief) => boolean) {
  const [isPressed, setPressed] = useState(false)
  const [isUsed, setUsed] = useState(false)
  const held = useRef<{ readonly rows: readonly JournalBrief[]; readonly era: number } | undefined>(undefined)
  /** Paused by the button, or only while the list is in use. */
  const paused = isPressed ? 'pressed' : isUsed ? 'used' : undefined
  if (!paused || held.current?.era !== era) held.current = undefined
  if (paused) held.current ??= { rows, era }
  const base = held.current?.rows ?? rows
  // While the list is paused, `base` stays the same.
  const shown = useMemo(() => base.filter(fits), [base, fits])
  const newest = Number(base[0]?.id ?? 0)
  /** The number of new rows that pass the filter. */
  const fresh = useMemo(() => {
    const known = base === rows ? 0 : rows.findIndex(({ id }) => Number(id) <= newest)
    return rows.slice(0, known < 0 ? rows.length : known).filter(fits).length
  }, [base, rows, newest, fits])
  const pause = () => {
    announce('Paused.')
    setPressed(true)
  }
  const resume = () => {
    announce('Resumed.')
    setPressed(false)
    setUsed(false)
    scrollTo({ top: 0 })
  }
  return { rows: shown, paused, fresh, pause, resume, setUsed }
}
