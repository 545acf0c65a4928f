/**
 * Ways to work without blocking the event loop: in slices, a few things at a time, once, within a time limit, and in
 * worker threads.
 */
import { closeSync, openSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, devNull } from 'node:os'
import { type Context, createContext, Script } from 'node:vm'
import type { Worker } from 'node:worker_threads'
import { ProblemsError } from '../check/problem.js'
import { hasNoDescriptor, noFileDescriptors } from './errors.js'

/**
 * Work that pauses at each `yield` and returns its result. Pausing is very cheap, so it may be done for every line of a
 * file.
 */
export type Sliced<T> = Generator<void, T, void>

/** Far less than the pause between two pieces of a stream. */
const SLICE_MS = 2

/**
 * Does the work in slices of a few milliseconds, with a pause after each, so that other work gets its turn. Short work
 * is done before this returns.
 */
export async function inSlices<T>(work: Sliced<T>, pause: () => Promise<void> = othersTurn): Promise<T> {
  for (;;) {
    const endMs = performance.now() + SLICE_MS
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < endMs)
    await pause()
  }
}

/** Resolves when other requests have had their turn. */
export const othersTurn = () => new Promise<void>(resolve => void setImmediate(resolve))

/**
 * Starts each piece of work in a turn of its own and waits for all of them: Node 24 loads all modules of an import in
 * one go, and requests must not wait for several imports.
 */
export function inTurns<const T extends readonly (() => unknown)[]>(pieces: T) {
  let turn = Promise.resolve()
  const begun = pieces.map(work => {
    turn = turn.then(othersTurn)
    return turn.then(work)
  })
  return together(begun) as Promise<{ -readonly [Piece in keyof T]: Awaited<ReturnType<T[Piece]>> }>
}

/** Waits for all of the work, also after a failure. Rejects with one ProblemsError that has the mistakes of all of them. */
export async function together<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
  const settled = await Promise.allSettled(work)
  const errors = settled.flatMap(one => (one.status === 'rejected' ? [one.reason as unknown] : []))
  const all = errors.filter(error => error instanceof ProblemsError)
  if (all.length < errors.length) throw errors.find(error => !(error instanceof ProblemsError))
  if (all.length > 0)
    throw new ProblemsError(
      // Work that waits for the same thing fails with the same problems.
      [...new Set(all.flatMap(({ problems }) => problems))],
      all.flatMap(({ files }) => files),
    )
  return Promise.all(work)
}

/** Pauses of work that has time, until someone waits for it. */
export interface Pauses {
  of(ms: number): Promise<void>
  /** Ends the pause, and leaves out all others until `work` has settled. */
  without(work: () => Promise<void>): Promise<void>
}

export function createPauses(): Pauses {
  let without = 0
  let wake = () => {}
  return {
    of: ms =>
      without > 0
        ? othersTurn()
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

/** Does the work in one go. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** At most this many items at once, because each may hold a file open. */
const AT_ONCE = 32

/** Returns the results of `work` in the order of the items. */
export async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  const waiting = items.entries()
  const worker = async () => {
    for (const [i, item] of waiting) results[i] = await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}

/** Does the work at the first call, and only once. If it rejects, the next call tries again. */
export function once<T>(work: () => T): () => T {
  let done: { readonly value: T } | undefined
  return () => {
    if (done) return done.value
    const value = work()
    const mine = { value }
    done = mine
    if (value instanceof Promise) {
      value.catch(() => {
        if (done === mine) done = undefined
      })
    }
    return value
  }
}

/** Makes the value for each key once. When there are more than `most`, all are forgotten. */
export function remembered<K, V>(make: (key: K) => V, most?: number): (key: K) => V {
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
/** How long a check holds. Each start of a platform loads several things, and opening the files takes a tenth of it. */
const CHECKED_MS = 20

let checkedMs = -CHECKED_MS

/**
 * The same for work that imports modules. Node never retries a module that it could not read, so nothing is imported
 * while no files can be opened: this rejects then, and the next call tries again.
 */
export const onceLoaded = <T>(load: () => Promise<T>): (() => Promise<T>) =>
  once(async () => {
    requireDescriptors()
    return load()
  })

/** The same, but what was loaded is then returned itself: a promise would cost each request a turn. */
export function atHandOnceLoaded<T>(load: () => Promise<T>): () => T | Promise<T> {
  let loaded: { readonly value: T } | undefined
  const loading = onceLoaded(async () => {
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
    if (hasNoDescriptor((error as NodeJS.ErrnoException).code)) throw noFileDescriptors()
  } finally {
    opened.forEach(closeSync)
  }
}

const script = new Script('work()')
const box: { work: () => unknown } = { work: () => undefined }
let context: Context | undefined

/** Work was ended because it used too much time or memory. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong'
}

/** How often work is tried while other processes use the processor. */
const TRIES = 5

/**
 * Returns the result of `work`. Throws a TookTooLong after `mostMs`. Node's watchdog is the only thing that can
 * interrupt a regular expression, and it also works for functions of this realm. It costs about 50 µs, and cannot be
 * nested. On a busy machine, the watchdog may interrupt work that has hardly run; such work is tried again, until all
 * tries together have used half of `mostMs` of CPU time.
 */
export function bounded<T>(work: () => T, mostMs: number): T {
  context ??= createContext(box)
  box.work = work
  try {
    const before = process.cpuUsage()
    for (let tries = 1; ; tries++) {
      try {
        return script.runInContext(context, { timeout: mostMs }) as T
      } catch (error) {
        if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
        if (tries === TRIES || cpuMsSince(before) > mostMs / 2)
          throw new TookTooLong(`It took longer than ${mostMs} ms.`)
      }
    }
  } finally {
    box.work = () => undefined
  }
}

function cpuMsSince(before: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** The messages to and from a worker: a job request; then that the job has begun, and its result. */
export interface JobRequest {
  readonly job: string
  readonly input: unknown
}
/** Runs long work outside of the event loop, in a few worker threads that start when they are needed. */
export type JobMessage = 'begun' | { readonly output: unknown } | { readonly error: unknown }

interface Job extends JobRequest {
  readonly mostMs: number
  readonly resolve: (output: unknown) => void
  readonly reject: (error: unknown) => void
}

/** At least two, so that one slow job does not hold up quick ones. */
const MOST_WORKERS = Math.max(2, Math.min(4, availableParallelism() - 1))
/** An idle worker uses about 10 MB. */
const IDLE_MS = 10_000
/** More than any real job needs. Without a limit, one job could use all of the process's memory. */
const MOST_MEMORY_MB = 512

const waiting: Job[] = []
const idle: Thread[] = []
let threads = 0

/**
 * Returns the result of the `job` of src/worker.ts for `input`; both are copied. Rejects with a TookTooLong after
 * `mostMs`, not counting the wait for a worker, or with the error that the job threw.
 */
export function inWorker<Output>(job: string, input: unknown, mostMs: number): Promise<Output> {
  return new Promise((resolve, reject) => {
    waiting.push({ job, input, mostMs, resolve: resolve as (output: unknown) => void, reject })
    startNext()
  })
}

/** Ends idle workers. */
export async function endIdleWorkers(): Promise<void> {
  await Promise.all(idle.splice(0).map(thread => thread.end()))
}

function startNext(): void {
  if (waiting.length === 0) return
  const thread = idle.pop() ?? (threads < MOST_WORKERS ? new Thread() : undefined)
  const job = thread && waiting.shift()
  if (job) thread.run(job)
}

/** A worker, which may end at any step. */
class Thread {
  // Most platforms never need one, and importing it takes time of every start.
  private readonly worker = new (process.getBuiltinModule('node:worker_threads').Worker)(...entry())
  private job: Job | undefined
  private timer: NodeJS.Timeout | undefined

  constructor() {
    threads++
    this.worker.unref()
    this.worker.on('message', (message: JobMessage) => {
      if (message !== 'begun') return this.settle(message)
      const mostMs = this.job?.mostMs ?? 0
      this.timer = setTimeout(() => this.end(new TookTooLong(`It took longer than ${mostMs} ms.`)), mostMs)
    })
    this.worker.on('error', (error: { readonly code?: unknown }) => {
      const tooMuch = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
      void this.end(tooMuch ? new TookTooLong(`It took more than ${MOST_MEMORY_MB} MB of memory.`) : error)
    })
    this.worker.on('exit', () => this.end())
  }

  run(next: Job): void {
    clearTimeout(this.timer)
    this.job = next
    this.worker.ref()
    try {
      this.worker.postMessage({ job: next.job, input: next.input } satisfies JobRequest)
    } catch (error) {
      // What cannot be copied.
      this.settle({ error })
    }
  }

  /** The worker cannot be used any more. */
  end(error: unknown = new Error('A worker thread ended unexpectedly.')): Promise<unknown> {
    const { worker } = this
    if (worker.listenerCount('exit') === 0) return Promise.resolve()
    worker.removeAllListeners()
    // What still comes from a worker that is ending has no reader.
    worker.on('error', () => {})
    threads--
    if (idle.includes(this)) idle.splice(idle.indexOf(this), 1)
    clearTimeout(this.timer)
    this.job?.reject(error)
    this.job = undefined
    startNext()
    return worker.terminate()
  }

  private settle(message: Exclude<JobMessage, 'begun'>): void {
    clearTimeout(this.timer)
    if ('output' in message) this.job?.resolve(message.output)
    else this.job?.reject(message.error)
    this.job = undefined
    this.worker.unref()
    idle.push(this)
    this.timer = setTimeout(() => this.end(), IDLE_MS).unref()
    startNext()
  }
}

/** The built worker. The source has none, and compiles its workers when they start; our tests set it, since that takes a second. */
export const builtWorker: { url?: URL } = import.meta.url.endsWith('.ts')
  ? {}
  : { url: new URL('../worker.js', import.meta.url) }

function entry(): ConstructorParameters<typeof Worker> {
  const options = { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB } }
  if (builtWorker.url) return [builtWorker.url, options]
  const loader = createRequire(import.meta.url)
    .resolve('tsx/esm/api')
    .replace(/cjs$/, 'mjs')
  const source = JSON.stringify(new URL('../worker.ts', import.meta.url))
  return [
    `import(${JSON.stringify(loader)}).then(({ register }) => (register(), import(${source})))`,
    { ...options, eval: true },
  ]
}

/** Lets one piece of work begin only when the one before it is over. */
export type Turns = <T>(work: () => Promise<T>) => Promise<T>

export function createTurns(): Turns {
  let last: Promise<unknown> = Promise.resolve()
  return work => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
