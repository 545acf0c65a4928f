/** Expressions whose matching may take forever. A separate file, since few rules need it. */
import { type Context, createContext, Script } from 'node:vm'
import safeRegex from 'safe-regex2'

/** Quantifiers of few repetitions, which do no harm inside of others. An escaped character is none. */
const few = /(\\.)|(?<!\()\?|\{\d(?:,\d)?\}|\{(\d+)(?:,\2)?\}/gs

/** Whether a repeated part repeats itself, as in `(a+)+`: the ways to match the same text may double with each repetition. */
export const mayTakeForever = ({ source }: RegExp): boolean => !safeRegex(source.replace(few, '$1'))

/** Longer, and an answer does not count. */
const MATCH_MS = 100

const matching = new Script('expression.test(text)')
let context: Context | undefined

/** Whether an expression that may take forever matches; `undefined` if that takes too long. */
export function matchInTime(expression: RegExp, text: string): boolean | undefined {
  context ??= createContext({})
  Object.assign(context, { expression, text })
  try {
    return matching.runInContext(context, { timeout: MATCH_MS }) as boolean
  } catch {
    return undefined
  }
}
