/** Does work once, when it is first asked for. */
import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'
import { noFileDescriptors } from './errors.js'

/** Puts work off until it is first asked for, and does it once. Work that rejects is done again for the next one who asks. */
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

/** So many files may be read at the same time for one import. */
const DESCRIPTORS = 16

/**
 * The same of work that imports something. Node never reads a module again that it could not read once, so nothing is imported while files
 * cannot be opened: that rejects, and the next one who asks tries again.
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
