/** Runs work of strangers' making, such as their regular expressions, and stops it when it takes too long. */
import { type Context, createContext, Script } from 'node:vm'
import { UnfitSchema } from './unfit.js'

const script = new Script('work()')
const box: { work: () => unknown } = { work: () => undefined }
let context: Context | undefined

/**
 * What `work` gives back. Throws an UnfitSchema when it has taken `mostMs` or runs out of stack. Node's watchdog is the one
 * thing that ends a regular expression in the middle; it works for functions of this side as well.
 */
export function bounded<T>(work: () => T, mostMs: number): T {
  context ??= createContext(box)
  box.work = work
  try {
    return script.runInContext(context, { timeout: mostMs }) as T
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw new UnfitSchema(tooLong)
    if (error instanceof RangeError) throw new UnfitSchema('no value fits the schema: it is nested too deeply')
    throw error
  }
}

const tooLong = 'no value that fits the schema was found in time'
