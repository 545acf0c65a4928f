/** Tests the regular expressions of rules with a time limit, so that other requests do not have to wait. */
import { expressionTakesTooLong } from '../../core/errors.js'
import { TimeLimitError, withTimeLimit } from '../../core/work.js'

/** Processor time for all expressions in one turn of the event loop. */
export const MOST_MS = 40
/** An expression with at most this many steps runs without a watchdog, which would cost more than most expressions. */
const FEW_STEPS = 1e6

let leftMs = MOST_MS

/** Runs an expression. Throws a 500 that names it if it takes too long. */
export function execWithinLimit(expression: RegExp, text: string): RegExpExecArray | null {
  if (isQuick(expression, text)) return expression.exec(text)
  if (leftMs === MOST_MS) setImmediate(() => (leftMs = MOST_MS))
  // The watchdog measures real time. On a busy machine an expression gets more of it, up to the same processor time.
  for (let mostMs = MOST_MS; leftMs > MOST_MS / 2; mostMs *= 2) {
    const before = process.cpuUsage()
    try {
      return withTimeLimit(() => expression.exec(text), mostMs)
    } catch (error) {
      if (!(error instanceof TimeLimitError)) throw error
    } finally {
      const { user, system } = process.cpuUsage(before)
      leftMs -= (user + system) / 1000
    }
  }
  throw expressionTakesTooLong(expression)
}

/**
 * A repeated group may take exponential time, whatever it contains. Otherwise, each repetition multiplies the steps by
 * the length of the text, and so does each possible start of the match.
 */
function isQuick({ source }: RegExp, text: string): boolean {
  const repetitions = source.match(/[*+]|\{\d+,\}/g)?.length ?? 0
  return !/\)[*+{]/.test(source) && (repetitions === 0 || text.length ** (repetitions + 1) < FEW_STEPS)
}
