/** Ways to do work: in slices, a few things at a time, once, and within a time limit. */
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { type Context, createContext, Script } from 'node:vm'
import { noFileDescriptors } from './errors.js'

/** Work that pauses at each `yield`, and returns what it made. Pausing costs next to nothing, so it may be done for every line of a file. */
export type Sliced<T> = Generator<void, T, void>

/** Well below the pause between two pieces of a stream. */
const SLICE_MS = 2

/** Does the work, and lets others have their turn after every few milliseconds of it. Short work is done before this returns. */
export async function inSlices<T>(work: Sliced<T>): Promise<T> {
  for (;;) {
    const endMs = performance.now() + SLICE_MS
    do {
      const step = work.next()
      if (step.done) return step.value
    } while (performance.now() < endMs)
    await new Promise<void>(resolve => void setImmediate(resolve))
  }
}

/** Does the work in one go. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next()
    if (step.done) return step.value
  }
}

/** More are not worked on at once: each may hold a file open. */
const AT_ONCE = 32

/** What `work` makes of each, in the order of the items. */
export async function eachOf<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<readonly R[]> {
  const results: R[] = []
  const waiting = items.entries()
  const worker = async () => {
    for (const [i, item] of waiting) results[i] = await work(item)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return results
}

/** Puts work off until it is first asked for, and does it once. Work that rejects is done again for the next caller. */
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

/** At most this many files are read at the same time for one import. */
const DESCRIPTORS = 16

/**
 * The same of work that imports something. Node never reads a module again that it could not read once, so nothing is imported while files
 * cannot be opened: that rejects, and the next caller tries again.
 */
export const onceLoaded = <T>(load: () => Promise<T>): (() => Promise<T>) =>
  once(async () => {
    requireDescriptors()
    return load()
  })

function requireDescriptors(): void {
  const opened: number[] = []
  try {
    while (opened.length < DESCRIPTORS) opened.push(openSync(devNull, 'r'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EMFILE' || code === 'ENFILE') throw noFileDescriptors()
  } finally {
    opened.forEach(closeSync)
  }
}

const script = new Script('work()')
const box: { work: () => unknown } = { work: () => undefined }
let context: Context | undefined

/** Work was ended because it took longer, or more memory, than it may. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong'
}

/**
 * What `work` gives back. Throws a TookTooLong after `mostMs`. Node's watchdog is the one thing that ends a regular expression in the
 * middle; it works for functions of this side as well. It costs some 50 µs, and cannot be used inside itself.
 */
export function bounded<T>(work: () => T, mostMs: number): T {
  context ??= createContext(box)
  box.work = work
  try {
    return script.runInContext(context, { timeout: mostMs }) as T
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error
    throw new TookTooLong(`It took longer than ${mostMs} ms.`)
  } finally {
    box.work = () => undefined
  }
}
