/** What is happening right now: the newest requests, those in flight, and what decides the next answer. The same for all views. */
import { useEffect } from 'preact/hooks'
import type { JournalBrief } from '../../../journal/operations.js'
import { serviceKey } from '../api.js'
import type { Failure } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'
import { reportAnswer } from '../widgets/resource.js'
import { createShared } from '../widgets/shared.js'
import { type FeedReader, followJournal } from './feed.js'
import { createHistory } from './history.js'

/** The time between updates. More than ten a second would not be visible. */
const SHOWN_EVERY_MS = 100

export interface Live {
  /** Newest first. */
  readonly rows: readonly JournalBrief[]
  /** The number of requests that are not in the list, because too many came at once. */
  readonly skipped: number
  /** How many of the rows are problems. */
  readonly problems: number
  /** Increases when Standin is restarted or the list is cleared. */
  readonly era: number
  /** `opening` until it has been open once. */
  readonly connection: 'opening' | 'open' | 'lost'
  readonly failure?: Failure | undefined
}

const live = createShared<Live>({ rows: [], skipped: 0, problems: 0, era: 0, connection: 'opening' })

/** A part of what is happening, kept up to date. */
export const useLive = live.useSelected

/** Follows the feed as long as the page is open. There is one on the page. */
export function WatchLive() {
  const key = serviceKey.use()
  useEffect(() => {
    const leaving = new AbortController()
    const history = createHistory()
    const { showSoon, stop } = whileVisible(() => live.set({ ...live.get(), ...history.now() }))
    followJournal(readerOf(history, showSoon), leaving.signal)
    return () => {
      leaving.abort()
      stop()
    }
  }, [key])
  return null
}

function readerOf(history: ReturnType<typeof createHistory>, changed: () => void): FeedReader {
  const change = (changes: Partial<Live>) => {
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
    cleared({ scope }) {
      history.clear(scope)
      change(scope === undefined ? { era: nextEra() } : {})
    },
    lost(failure) {
      if (failure.status === 0) reportAnswer(false)
      change({ connection: live.get().connection === 'opening' ? 'opening' : 'lost', failure })
    },
  }
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
