/** Validates what a test passes in: a misspelt option would be ignored, and the test would pass for the wrong reason. */
import * as v from 'valibot'
import { check } from '../check/check.js'
import { closed, optional } from '../check/forms.js'
import { ProblemsError } from '../check/problem.js'

type Schema = v.GenericSchema<unknown, unknown>

/** Returns a function that returns valid input and throws a ProblemsError for other input. `origin` names the checked function. */
export const inputCheck =
  <S extends Schema>(origin: string, schema: S) =>
  (value: unknown): v.InferOutput<S> => {
    const result = check(schema, value, { whole: 'the argument' })
    if ('value' in result) return result.value
    throw new ProblemsError(result.mistakes.map(({ sentence }) => ({ origin, sentence })))
  }

/** The longest delay that a timer supports. */
const LONGEST_TIMER_MS = 2 ** 31 - 1
const time = `milliseconds from 0 to ${LONGEST_TIMER_MS}`

export const aText = v.string('a string')
export const milliseconds = v.pipe(v.number(time), v.minValue(0, time), v.maxValue(LONGEST_TIMER_MS, time))

export interface TestReset {
  /**
   * False to keep users, sessions, keys and the outbox. They are always kept if the state is not in memory, because it may be
   * shared with others.
   */
  readonly state?: boolean | undefined
}

export const resetOptions = inputCheck(
  'reset',
  closed({ state: optional(v.boolean('true or false'), 'Whether users, keys and messages are removed as well.') }),
)
