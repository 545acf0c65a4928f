/** What the page is told as it happens, shown a few times a second however much it is, and not at all while nobody sees it. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { BriefJson, TickJson } from '../../journal-wire.js'
import type { Failure } from '../failure.js'
import { announce } from '../widgets/announcer.jsx'
import { followJournal } from './feed.js'
import { createHistory } from './history.js'
import type { JournalClient } from './journal-client.js'

/** At most ten times a second: no eye follows more. */
const SHOWN_EVERY_MS = 100
/** The chart goes back two minutes. */
export const MOST_TICKS = 120

export interface Live {
  /** The newest first. */
  readonly rows: readonly BriefJson[]
  readonly ticks: readonly TickJson[]
  /** How many were only counted. */
  readonly skipped: number
  /** Counts the starts of Standin that the page has seen, and how often the list was cleared. */
  readonly era: number
  readonly connection: 'opening' | 'open' | 'lost'
  /** Why it was lost. */
  readonly failure?: Failure | undefined
}

const before: Live = { rows: [], ticks: [], skipped: 0, era: 0, connection: 'opening' }

export function useLive(client: JournalClient): { readonly live: Live; forget(): void } {
  const [live, setLive] = useState(before)
  const history = useRef(createHistory()).current
  const era = useRef(0)
  const showNow = useRef(() => {})

  useEffect(() => {
    const leaving = new AbortController()
    let ticks: readonly TickJson[] = []
    let connection: Live['connection'] = 'opening'
    let failure: Failure | undefined
    let timer: number | undefined
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
          announce('Standin was started again. The list begins anew.')
        }
        connection = 'open'
        failure = undefined
        showSoon()
      },
      exchanges(briefs: readonly BriefJson[]) {
        history.add(briefs)
        showSoon()
      },
      tick(tick: TickJson) {
        ticks = [...ticks, tick].slice(-MOST_TICKS)
        showSoon()
      },
      lost(why: Failure) {
        connection = 'lost'
        failure = why
        showSoon()
      },
    }
    followJournal(client, reader, leaving.signal)
    return () => {
      leaving.abort()
      clearTimeout(timer)
      if (frame !== undefined) cancelAnimationFrame(frame)
      document.removeEventListener('visibilitychange', seen)
    }
  }, [client, history])

  const forget = useCallback(() => {
    history.clear()
    era.current++
    showNow.current()
  }, [history])
  return { live, forget }
}
