/** Data that is loaded, shown and reloaded, and whether Standin answers at all. */
import { type Inputs, useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, failureOf } from '../failure.js'
import { createShared } from './shared.js'

export interface Resource<Value> {
  /** The last value that was loaded. It stays while newer ones fail to load. */
  readonly value: Value | undefined
  /** Why the last load failed; undefined if it succeeded. */
  readonly failure: Failure | undefined
  reload(): void
}

type State<Value> = Pick<Resource<Value>, 'value' | 'failure'>

/** How often views load again, because apps, tests and other tabs change what they show. */
export const EVERY_MS = 5000
/** How soon a request that was not answered is repeated. */
const RETRY_MS = 2000

/**
 * Loads at once, when `inputs` change, when the page becomes visible again, and every `everyMs` while it is visible, if given.
 * While Standin does not run, it tries again by itself.
 */
export function useResource<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: Inputs,
  everyMs?: number,
): Resource<Value> {
  const [state, setState] = useState<State<Value>>({ value: undefined, failure: undefined })
  const [round, setRound] = useState(0)
  const latest = useRef(0)
  const reload = useCallback(() => setRound(++latest.current), [])

  useEffect(() => {
    const leaving = new AbortController()
    let next: ReturnType<typeof setTimeout> | undefined
    const settle = (failure: Failure | undefined, change: (before: State<Value>) => State<Value>) => {
      if (leaving.signal.aborted) return
      reportAnswer(failure?.status !== 0)
      // An answer from before the last reload was requested may be outdated.
      if (round !== latest.current) return
      setState(change)
      const waitMs = failure?.status === 0 ? Math.min(everyMs ?? RETRY_MS, RETRY_MS) : everyMs
      // Counted from the answer, so that a slow answer never overlaps with the next request.
      if (waitMs !== undefined && !document.hidden) next = setTimeout(reload, waitMs)
    }
    load(leaving.signal).then(
      value => settle(undefined, () => ({ value, failure: undefined })),
      thrown => {
        const failure = failureOf(thrown)
        settle(failure, before => ({ ...before, failure }))
      },
    )
    return () => {
      leaving.abort()
      clearTimeout(next)
    }
    // A new round triggers a reload.
  }, [...inputs, everyMs, round])

  useComingBack(reload)
  return { ...state, reload }
}

/** Calls `reload` when the user comes back to the page. */
function useComingBack(reload: () => void): void {
  useEffect(() => {
    const comeBack = () => document.hidden || reload()
    addEventListener('focus', comeBack)
    document.addEventListener('visibilitychange', comeBack)
    return () => {
      removeEventListener('focus', comeBack)
      document.removeEventListener('visibilitychange', comeBack)
    }
  }, [reload])
}

interface OnceParts<Value> {
  /** Undefined if there is nothing to be loaded. */
  readonly load: ((signal: AbortSignal) => Promise<Value>) | undefined
  readonly take: (value: Value) => void
  readonly failed: (failure: Failure) => void
  /** Waits this long before, such as for the next key press. */
  readonly afterMs?: number
}

/** Loads something once each time `inputs` change. What comes after they have changed again is dropped. */
export function useOnce<Value>({ load, take, failed, afterMs = 0 }: OnceParts<Value>, inputs: Inputs): void {
  useEffect(() => {
    if (!load) return
    const leaving = new AbortController()
    const timer = setTimeout(() => {
      load(leaving.signal).then(
        value => leaving.signal.aborted || take(value),
        thrown => leaving.signal.aborted || failed(failureOf(thrown)),
      )
    }, afterMs)
    return () => {
      clearTimeout(timer)
      leaving.abort()
    }
  }, inputs)
}

const answering = createShared(true)

/** Tells the frame whether a request was answered. It shows one banner for all views while none is. */
export const reportAnswer = answering.set

/** Whether Standin answers, kept up to date. */
export const useIsAnswering = answering.use
