/** Runs what may take long beside the event loop: in a few worker threads that start when first needed. */
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { TookTooLong } from './work.js'

/** How a worker is asked for one job, and what it says: first that it has begun, then how that went. */
export interface JobRequest {
  readonly job: string
  readonly input: unknown
}
export type JobMessage = 'begun' | { readonly output: unknown } | { readonly error: unknown }

interface Job extends JobRequest {
  readonly mostMs: number
  readonly resolve: (output: unknown) => void
  readonly reject: (error: unknown) => void
}

/** At least two, so that one slow job does not hold up the quick ones behind it. */
const MOST_WORKERS = Math.max(2, Math.min(4, availableParallelism() - 1))
/** An idle worker costs some 10 MB. */
const IDLE_MS = 10_000
/** More than any honest job needs; without it one could take all of the process's memory. */
const MOST_MEMORY_MB = 512

const waiting: Job[] = []
const idle: Thread[] = []
let threads = 0

/**
 * What the `job` of src/worker.ts makes of `input`; both are copied. Rejects with a TookTooLong when it has run for `mostMs`, which
 * does not include waiting for a worker; else with what the job has thrown.
 */
export function inWorker<Output>(job: string, input: unknown, mostMs: number): Promise<Output> {
  return new Promise((resolve, reject) => {
    waiting.push({ job, input, mostMs, resolve: resolve as (output: unknown) => void, reject })
    startNext()
  })
}

/** Ends the workers that have nothing to do. */
export async function endIdleWorkers(): Promise<void> {
  await Promise.all(idle.splice(0).map(thread => thread.end()))
}

function startNext(): void {
  if (waiting.length === 0) return
  const thread = idle.pop() ?? (threads < MOST_WORKERS ? createThread() : undefined)
  const job = thread && waiting.shift()
  if (job) thread.run(job)
}

type Thread = ReturnType<typeof createThread>

function createThread() {
  threads++
  const worker = new Worker(...entry())
  worker.unref()
  let job: Job | undefined
  let timer: NodeJS.Timeout | undefined

  /** The worker cannot be used any more. */
  function end(error: unknown = new Error('A worker thread ended unexpectedly.')): Promise<unknown> {
    if (worker.listenerCount('exit') === 0) return Promise.resolve()
    worker.removeAllListeners()
    // What still comes from a worker that is ending has no reader.
    worker.on('error', () => {})
    threads--
    if (idle.includes(thread)) idle.splice(idle.indexOf(thread), 1)
    clearTimeout(timer)
    job?.reject(error)
    job = undefined
    startNext()
    return worker.terminate()
  }

  function settle(message: Exclude<JobMessage, 'begun'>): void {
    clearTimeout(timer)
    if ('output' in message) job?.resolve(message.output)
    else job?.reject(message.error)
    job = undefined
    worker.unref()
    idle.push(thread)
    timer = setTimeout(() => end(), IDLE_MS).unref()
    startNext()
  }

  worker.on('message', (message: JobMessage) => {
    if (message !== 'begun') return settle(message)
    const mostMs = job?.mostMs ?? 0
    timer = setTimeout(() => end(new TookTooLong(`It took longer than ${mostMs} ms.`)), mostMs)
  })
  worker.on('error', (error: { readonly code?: unknown }) => {
    const tooMuch = error.code === 'ERR_WORKER_OUT_OF_MEMORY'
    void end(tooMuch ? new TookTooLong(`It took more than ${MOST_MEMORY_MB} MB of memory.`) : error)
  })
  worker.on('exit', () => end())

  const thread = {
    end,
    run(next: Job): void {
      clearTimeout(timer)
      job = next
      worker.ref()
      try {
        worker.postMessage({ job: next.job, input: next.input } satisfies JobRequest)
      } catch (error) {
        // What cannot be copied.
        settle({ error })
      }
    },
  }
  return thread
}

/** The built file, or the source with what reads it. */
function entry(): ConstructorParameters<typeof Worker> {
  const options = { execArgv: [], resourceLimits: { maxOldGenerationSizeMb: MOST_MEMORY_MB } }
  if (!import.meta.url.endsWith('.ts')) return [new URL('../worker.js', import.meta.url), options]
  const loader = createRequire(import.meta.url)
    .resolve('tsx/esm/api')
    .replace(/cjs$/, 'mjs')
  const source = JSON.stringify(new URL('../worker.ts', import.meta.url))
  return [
    `import(${JSON.stringify(loader)}).then(({ register }) => (register(), import(${source})))`,
    { ...options, eval: true },
  ]
}
