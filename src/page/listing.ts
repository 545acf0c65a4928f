/** Data that is loaded, shown and reloaded. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, failureOf } from './failure.js'

export type Listing<Value> =
  | { readonly kind: 'loading' }
  /** With a failure if the last reload failed. */
  | { readonly kind: 'ready'; readonly value: Value; readonly failure?: Failure }
  | { readonly kind: 'failed'; readonly failure: Failure }

export interface Loaded<Value> {
  readonly listing: Listing<Value>
  reload(): void
}

/** Loads at once, when the page becomes visible again, and every `everyMs` while it is visible, if given. */
export function useListing<Value>(load: (signal: AbortSignal) => Promise<Value>, everyMs?: number): Loaded<Value> {
  const [listing, setListing] = useState<Listing<Value>>({ kind: 'loading' })
  const [round, setRound] = useState(0)
  const latest = useRef(0)
  const reload = useCallback(() => setRound(++latest.current), [])

  useEffect(() => {
    const leaving = new AbortController()
    let next: ReturnType<typeof setTimeout> | undefined
    const settle = (change: (before: Listing<Value>) => Listing<Value>) => {
      // An answer from before the last reload was requested may be outdated.
      if (leaving.signal.aborted || round !== latest.current) return
      setListing(change)
      // Counted from the answer, so that a slow answer never overlaps with the next request.
      if (everyMs !== undefined && !document.hidden) next = setTimeout(reload, everyMs)
    }
    load(leaving.signal).then(
      value => settle(() => ({ kind: 'ready', value })),
      thrown => settle(before => withFailure(before, failureOf(thrown))),
    )
    return () => {
      leaving.abort()
      clearTimeout(next)
    }
    // A new round triggers a reload.
  }, [load, everyMs, round])

  useEffect(() => {
    const comeBack = () => document.hidden || reload()
    addEventListener('focus', comeBack)
    document.addEventListener('visibilitychange', comeBack)
    return () => {
      removeEventListener('focus', comeBack)
      document.removeEventListener('visibilitychange', comeBack)
    }
  }, [reload])

  return { listing, reload }
}

const withFailure = <Value>(before: Listing<Value>, failure: Failure): Listing<Value> =>
  before.kind === 'ready' ? { ...before, failure } : { kind: 'failed', failure }
