/** Tests regular expressions of rules on texts of clients, for no longer than other requests can wait. */
import { expressionTakesTooLong } from '../../core/errors.js'
import { bounded, TookTooLong } from '../../core/work.js'

/** Of processor time, for all expressions of one turn of the event loop. */
export const MOST_MS = 40
/** An expression of at most this many steps is not watched: watching would cost more than most expressions take. */
const FEW_STEPS = 1e6

let leftMs = MOST_MS

/** What `expression` finds. Throws a 500 that names it when that takes too long. */
export function found(expression: RegExp, text: string): RegExpExecArray | null {
  if (isQuick(expression, text)) return expression.exec(text)
  if (leftMs === MOST_MS) setImmediate(() => (leftMs = MOST_MS))
  // The watchdog measures real time: on a busy machine an expression is given more of it, up to the same processor time.
  for (let mostMs = MOST_MS; leftMs > MOST_MS / 2; mostMs *= 2) {
    const before = process.cpuUsage()
    try {
      return bounded(() => expression.exec(text), mostMs)
    } catch (error) {
      if (!(error instanceof TookTooLong)) throw error
    } finally {
      const { user, system } = process.cpuUsage(before)
      leftMs -= (user + system) / 1000
    }
  }
  throw expressionTakesTooLong(expression)
}

/**
 * A group that repeats may take exponential time, whatever is in it. Without one, every repetition multiplies the steps by the length of the
 * text, and so does each place at which the expression may begin.
 */
function isQuick({ source }: RegExp, text: string): boolean {
  const repetitions = source.match(/[*+]|\{\d+,\}/g)?.length ?? 0
  return !/\)[*+{]/.test(source) && (repetitions === 0 || text.length ** (repetitions + 1) < FEW_STEPS)
}
