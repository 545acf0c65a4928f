/** Data that is loaded and kept up to date, and whether Standin is running at all. */
import { type Inputs, useCallback, useEffect, useRef, useState } from 'preact/hooks'
import { type Failure, failureOf, serviceKey } from '../api.js'
import { createShared } from './shared.js'

export interface Resource<Value> {
  /** The last value that was loaded. It stays while later attempts fail. */
  readonly value: Value | undefined
  /** Why the last load failed; undefined if it succeeded. */
  readonly failure: Failure | undefined
  reload(): void
}

type State<Value> = Pick<Resource<Value>, 'value' | 'failure'>

/** How often views reload, because apps, tests and other tabs change what they show. */
export const EVERY_MS = 5000
/** How soon a request without a response is repeated. */
const RETRY_MS = 2000

/**
 * Loads at once, when `inputs` change, when the user returns to the page, and every `everyMs`, if given, while the page is visible.
 * Also when another service key is entered. Retries while Standin is not running.
 */
export function useResource<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  inputs: Inputs,
  everyMs?: number,
): Resource<Value> {
  const [state, setState] = useState<State<Value>>({ value: undefined, failure: undefined })
  const [round, setRound] = useState(0)
  const latest = useRef(0)
  const key = serviceKey.use()
  const reload = useCallback(() => setRound(++latest.current), [])

  useEffect(() => {
    const leaving = new AbortController()
    let next: ReturnType<typeof setTimeout> | undefined
    const settle = (result: Partial<State<Value>>) => {
      const { failure } = result
      if (leaving.signal.aborted) return
      reportAnswer(failure?.status !== 0)
      // A response to a request from before the last reload may be outdated.
      if (round !== latest.current) return
      setState(before => ({ ...before, ...result }))
      const waitMs = failure?.status === 0 ? Math.min(everyMs ?? RETRY_MS, RETRY_MS) : everyMs
      // Counted from the response, so that requests never overlap.
      if (waitMs !== undefined && !document.hidden) next = setTimeout(reload, waitMs)
    }
    load(leaving.signal).then(
      value => settle({ value, failure: undefined }),
      thrown => settle({ failure: failureOf(thrown) }),
    )
    return () => {
      leaving.abort()
      clearTimeout(next)
    }
    // A new round triggers a reload.
  }, [...inputs, everyMs, round, key])

  useReturn(reload)
  return { ...state, reload }
}

/** Calls `reload` when the user returns to the page. */
function useReturn(reload: () => void): void {
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
  /** Undefined if there is nothing to load. */
  readonly load: ((signal: AbortSignal) => Promise<Value>) | undefined
  readonly take: (value: Value) => void
  readonly failed: (failure: Failure) => void
  /** How long to wait first, such as for the next key press. */
  readonly afterMs?: number
}

/** Loads something once each time `inputs` change. Results that arrive after the next change are dropped. */
export function useOnce<Value>({ load, take, failed, afterMs = 0 }: OnceParts<Value>, inputs: Inputs): void {
  const key = serviceKey.use()
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
  }, [...inputs, key])
}

const answering = createShared(true)

/** Reports whether a request got a response. Until one does, the frame shows a banner for all views. */
export const reportAnswer = answering.set

/** Whether Standin is running, kept up to date. */
export const useIsAnswering = answering.use
