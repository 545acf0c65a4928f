/** Ways to do work: all at once and its problems together, a few things at a time, in time, once, or in order. */
import { ProblemsError } from '../check/problem.js'

/**
 * Waits for all of the work, even if some of it fails. Rejects with one ProblemsError that has the problems of all, or
 * with the first other error.
 */
export async function allOrProblems<const T extends readonly unknown[]>(work: T) {
  const settled = await Promise.allSettled(work)
  const errors = settled.flatMap(result => (result.status === 'rejected' ? [result.reason as unknown] : []))
  const expected = errors.filter(error => error instanceof ProblemsError)
  if (expected.length < errors.length) throw errors.find(error => !(error instanceof ProblemsError))
  if (expected.length > 0)
    throw new ProblemsError(
      // Work that waits for the same thing fails with the same problems.
      [...new Set(expected.flatMap(({ problems }) => problems))],
      expected.flatMap(({ files }) => files),
    )
  return Promise.all(work)
}

/** At most this many items at once, because each may hold a file open. */
const MOST_AT_ONCE = 32

/** Returns the results of `work` in the order of the items. */
export async function mapInParallel<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  const waiting = items.entries()
  const worker = async () => {
    for (const [i, item] of waiting) results[i] = await work(item)
  }
  await Promise.all(Array.from({ length: MOST_AT_ONCE }, worker))
  return results
}

/**
 * Rejects with a TimeoutError, and aborts the work, if it takes longer; `stop` aborts it too. The timer holds all of it:
 * garbage collection can remove AbortSignal.timeout() and AbortSignal.any() before they abort.
 */
export async function withDeadline<T>(
  ms: number,
  work: (signal: AbortSignal) => Promise<T>,
  stop?: AbortSignal,
): Promise<T> {
  const controller = new AbortController()
  const { signal } = controller
  const end = () => controller.abort(stop?.reason)
  const timer = setTimeout(() => controller.abort(new DOMException('It took too long.', 'TimeoutError')), ms)
  stop?.addEventListener('abort', end)
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason))
  })
  try {
    return await Promise.race([aborted, work(signal)])
  } finally {
    clearTimeout(timer)
    stop?.removeEventListener('abort', end)
  }
}

/** Does the work at the first call, and only once. If it rejects, the next call tries again. */
export function once<T>(work: () => T): () => T {
  let done: { readonly value: T } | undefined
  return () => {
    if (done) return done.value
    const value = work()
    const result = { value }
    done = result
    if (value instanceof Promise) {
      value.catch(() => {
        if (done === result) done = undefined
      })
    }
    return value
  }
}

/** Returns a function that makes the value for each key once. When there are `most` values, all are forgotten. */
export function memoized<K, V>(make: (key: K) => V, most?: number): (key: K) => V {
  const known = new Map<K, V>()
  return key => {
    if (!known.has(key)) {
      if (known.size === most) known.clear()
      known.set(key, make(key))
    }
    return known.get(key) as V
  }
}

/** Runs pieces of work one at a time, in the order of the calls. */
export type SerialQueue = <T>(work: () => Promise<T>) => Promise<T>

export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const result = last.then(work)
    last = result.catch(() => {})
    return result
  }
}
