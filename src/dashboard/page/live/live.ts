/** What is happening right now: the newest requests, those in flight, and what decides the next answer. The same for all views. */
import { useEffect } from 'preact/hooks'
import type { JournalBrief, JournalFlight } from '../../../journal/operations.js'
import type { SituationJson } from '../../../situation/operations.js'
import { type Failure, serviceKey } from '../api.js'
import { reportAnswer } from '../widgets/resource.js'
import { announce, createShared } from '../widgets/shared.js'
import { type FeedReader, followJournal } from './feed.js'
import { createHistory } from './history.js'

/** The time between updates. More than ten a second would not be visible. */
const SHOWN_EVERY_MS = 100
/** The same while so many requests come that nobody can read them. */
const SHOWN_IN_FLOOD_MS = 500
const FLOOD_ROWS = 30

export interface LiveList {
  /** Newest first. */
  readonly rows: readonly JournalBrief[]
  /** The requests in flight, the oldest first. */
  readonly flights: readonly JournalFlight[]
  /** What decides the next answer; undefined until it is known. */
  readonly situation: SituationJson | undefined
  /** The number of requests that are not in the list, because too many came at once. */
  readonly skipped: number
  readonly problems: number
  /** How many of the rows no rule answered, although there are rules. */
  readonly unruled: number
  /** Increases when Standin is restarted or the list is cleared. */
  readonly era: number
  /** `opening` until it has been open once. */
  readonly connection: 'opening' | 'open' | 'lost'
  readonly failure?: Failure | undefined
}

const live = createShared<LiveList>({
  rows: [],
  flights: [],
  situation: undefined,
  skipped: 0,
  problems: 0,
  unruled: 0,
  era: 0,
  connection: 'opening',
})

/** A part of what is happening, kept up to date. */
export const useLive = live.useSelected

/** Follows the feed as long as the page is open. There is one on the page. */
export function WatchLive() {
  const key = serviceKey.use()
  useEffect(() => {
    const leaving = new AbortController()
    const history = createHistory()
    const { showSoon, stop } = whileVisible(() => {
      const before = live.get().rows[0]?.id ?? 0
      live.set({ ...live.get(), ...history.now() })
      return Number(live.get().rows[0]?.id ?? 0) - Number(before) > FLOOD_ROWS ? SHOWN_IN_FLOOD_MS : SHOWN_EVERY_MS
    })
    followJournal(readerOf(history, showSoon), leaving.signal)
    return () => {
      leaving.abort()
      stop()
    }
  }, [key])
  return null
}

function readerOf(history: ReturnType<typeof createHistory>, changed: () => void): FeedReader {
  const change = (changes: Partial<LiveList>) => {
    live.set({ ...live.get(), ...changes })
    changed()
  }
  const nextEra = () => live.get().era + 1
  return {
    began({ run, after, cleared }) {
      reportAnswer(true)
      const isNew = history.began(run, after)
      if (isNew) announce('Standin was restarted. The list starts over.')
      const isOver = history.clearUntil(cleared) || isNew
      change({ connection: 'open', failure: undefined, ...(isOver && { era: nextEra() }) })
    },
    exchanges(briefs) {
      history.add(briefs)
      changed()
    },
    flights(flights) {
      live.set({ ...live.get(), flights })
    },
    situation(situation) {
      live.set({ ...live.get(), situation })
    },
    cleared({ scope }) {
      history.clear(scope)
      change(scope === undefined ? { era: nextEra() } : {})
    },
    lost(failure) {
      if (failure.status === 0) reportAnswer(false)
      change({ connection: live.get().connection === 'opening' ? 'opening' : 'lost', failure, flights: [] })
    },
  }
}

/** Throttles `show`, which says how long to wait, and does not call it while the page is hidden. */
function whileVisible(show: () => number) {
  let waitMs = SHOWN_EVERY_MS
  let timer: ReturnType<typeof setTimeout> | undefined
  let frame: number | undefined
  const showSoon = () => {
    if (timer !== undefined || document.hidden) return
    timer = setTimeout(() => {
      frame = requestAnimationFrame(() => {
        timer = undefined
        waitMs = show()
      })
    }, waitMs)
  }
  document.addEventListener('visibilitychange', showSoon)
  const stop = () => {
    clearTimeout(timer)
    if (frame !== undefined) cancelAnimationFrame(frame)
    document.removeEventListener('visibilitychange', showSoon)
  }
  return { showSoon, stop }
}
