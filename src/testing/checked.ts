/** Checks what a test hands over: a misspelt name would mean nothing, and the test would go well for the wrong reason. */
import * as v from 'valibot'
import { check } from '../check/check.js'
import { ProblemsError } from '../check/problem.js'

type Schema = v.GenericSchema<unknown, unknown>

/** Gives back a function that takes what fits the schema, and throws a ProblemsError for anything else; `of` names what it was handed to. */
export const checking =
  <S extends Schema>(of: string, schema: S) =>
  (value: unknown): v.InferOutput<S> => {
    const checked = check(schema, value, { whole: 'what it is given' })
    if ('value' in checked) return checked.value
    throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: of, sentence })))
  }

/** More than this is no time that a timer can wait. */
const LONGEST_MS = 2 ** 31 - 1
const time = `milliseconds from 0 to ${LONGEST_MS}`

export const text = v.string('text')
export const milliseconds = v.pipe(v.number(time), v.minValue(0, time), v.maxValue(LONGEST_MS, time))
