/** Ways to work without blocking the event loop: in slices, a few things at a time, once, and within a time limit. */
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { type Context, createContext, Script } from 'node:vm'
import { ProblemsError } from '../check/problem.js'
import { isOutOfDescriptors, noFileDescriptors } from './errors.js'

/**
 * Work that pauses at each `yield` and returns its result. Pausing is very cheap, so it may be done for every line of a
 * file.
 */
export type Sliced<T> = Generator<void, T, void>

/** Far less than the pause between two pieces of a stream. */
const SLICE_MS = 2

/**
 * Does the work in slices of a few milliseconds, with a pause after each, so that other work gets its turn. Work that
 * fits into one slice is done before this returns.
 */
export async function inSlices<T>(work: Sliced<T>, pause: () => Promise<void> = nextTurn): Promise<T> {
  for (;;) {
    const endMs = performance.now() + SLICE_MS
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < endMs)
    await pause()
  }
}

/** Resolves in a later turn of the event loop, after other requests had theirs. */
export const nextTurn = () => new Promise<void>(resolve => void setImmediate(resolve))

/**
 * Starts each piece of work in a turn of its own and waits for all of them: Node 24 loads all modules of an import in
 * one go, and requests must not wait for several imports. Rejects as `allOrProblems` does.
 */
export function inTurns<const T extends readonly (() => unknown)[]>(pieces: T) {
  let turn = Promise.resolve()
  const results = pieces.map(work => {
    turn = turn.then(nextTurn)
    return turn.then(work)
  })
  return allOrProblems(results) as Promise<{ -readonly [Piece in keyof T]: Awaited<ReturnType<T[Piece]>> }>
}

/**
 * Waits for all of the work, even if some of it fails. Rejects with one ProblemsError that has the problems of all, or
 * with the first other error.
 */
export async function allOrProblems<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
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

/** Pauses of background work, which are skipped while something waits for that work. */
export interface Pauses {
  of(ms: number): Promise<void>
  /** Ends the current pause, and skips all others until `work` has settled. */
  without(work: () => Promise<void>): Promise<void>
}

export function createPauses(): Pauses {
  let without = 0
  let wake = () => {}
  return {
    of: ms =>
      without > 0
        ? nextTurn()
        : new Promise(resolve => {
            const timer = setTimeout(resolve, ms)
            wake = () => {
              clearTimeout(timer)
              resolve()
            }
          }),
    async without(work) {
      without++
      wake()
      try {
        await work()
      } finally {
        without--
      }
    },
  }
}

/** Does the work without pauses. */
export function runAtOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
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

/** One import reads at most this many files at the same time. */
const DESCRIPTORS = 16
/** How long a check is valid. Each start imports several things, and checking each time would take a tenth of it. */
const CHECKED_MS = 20

let checkedMs = -CHECKED_MS

/**
 * As `once`, for work that imports modules. Node never retries a module that it could not read. So while no files can
 * be opened, this imports nothing and rejects with a 503, and the next call tries again.
 */
export const importOnce = <T>(load: () => Promise<T>): (() => Promise<T>) =>
  once(async () => {
    requireDescriptors()
    return load()
  })

/** The same, but returns the value itself once it is loaded, because awaiting a promise costs each request a turn. */
export function importOnceDirect<T>(load: () => Promise<T>): () => T | Promise<T> {
  let loaded: { readonly value: T } | undefined
  const loading = importOnce(async () => {
    const value = await load()
    loaded = { value }
    return value
  })
  return () => (loaded ? loaded.value : loading())
}

function requireDescriptors(): void {
  if (performance.now() - checkedMs < CHECKED_MS) return
  const opened: number[] = []
  try {
    while (opened.length < DESCRIPTORS) opened.push(openSync(devNull, 'r'))
    checkedMs = performance.now()
  } catch (error) {
    if (isOutOfDescriptors((error as NodeJS.ErrnoException).code)) throw noFileDescriptors()
  } finally {
    opened.forEach(closeSync)
  }
}

const script = new Script('work()')
const sandbox: { work: () => unknown } = { work: () => undefined }
let context: Context | undefined

/** Thrown when work was ended because it used too much time or memory. */
export class TimeLimitError extends Error {
  override readonly name = 'TimeLimitError'
}

/** How often work is tried while other processes use the processor. */
const TRIES = 5

/**
 * Returns the result of `work`. Throws a TimeLimitError after `mostMs`. Uses the timeout of `node:vm`, because nothing
 * else can interrupt a regular expression; it also works for functions of this realm. It costs about 50 µs, and cannot
 * be nested. On a busy machine, it may interrupt work that has hardly run; such work is tried again, until all tries
 * together have used half of `mostMs` of CPU time.
 */
export function withTimeLimit<T>(work: () => T, mostMs: number): T {
  context ??= createContext(sandbox)
  sandbox.work = work
  try {
    const before = process.cpuUsage()
    for (let tries = 1; ; tries++) {
      try {
        return script.runInContext(context, { timeout: mostMs }) as T
      } catch (error) {
        if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
        if (tries === TRIES || cpuMsSince(before) > mostMs / 2)
          throw new TimeLimitError(`It took longer than ${mostMs} ms.`)
      }
    }
  } finally {
    sandbox.work = () => undefined
  }
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
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
