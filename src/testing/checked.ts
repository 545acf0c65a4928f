/** Validates what a test passes in: a misspelt option would be ignored, and the test would pass for the wrong reason. */
import * as v from 'valibot'
import { check, closed, optional } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'

type Schema = v.GenericSchema<unknown, unknown>

/** Returns a function that passes valid input through and throws a ProblemsError otherwise. `of` names what takes the input. */
export const checking =
  <S extends Schema>(of: string, schema: S) =>
  (value: unknown): v.InferOutput<S> => {
    const checked = check(schema, value, { whole: 'what it is given' })
    if ('value' in checked) return checked.value
    throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: of, sentence })))
  }

/** The longest delay that a timer supports. */
const LONGEST_MS = 2 ** 31 - 1
const time = `milliseconds from 0 to ${LONGEST_MS}`

export const text = v.string('text')
export const milliseconds = v.pipe(v.number(time), v.minValue(0, time), v.maxValue(LONGEST_MS, time))

export interface TestReset {
  /**
   * False to keep users, sessions, keys and the outbox. A state that is not in memory may be shared with others and is always
   * kept.
   */
  readonly state?: boolean | undefined
}

export const resetOptions = checking(
  'reset',
  closed({ state: optional(v.boolean('true or false'), 'Whether users, keys and messages are removed as well.') }),
)
