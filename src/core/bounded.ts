/** Runs work of strangers' making, such as their regular expressions, and stops it when it takes too long. */
import { type Context, createContext, Script } from 'node:vm'

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
