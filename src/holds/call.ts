/** A hold as tests and the control API write it, and as it is listed. */
import * as v from 'valibot'
import { check } from '../check/check.js'
import { closed, described, filled, integer, map, optional, orNull, text, wholeNumber, word } from '../check/forms.js'
import { ProblemsError } from '../check/problem.js'
import { stringifyExact } from '../core/json.js'

const holdEntries = {
  on: optional(
    filled,
    'What it holds: a method and a path, or a call of MCP, as in rules. Without it, chat completions.',
  ),
  // Validated by the code that compiles the conditions.
  when: optional(
    map(v.string(), v.unknown(), 'a map of conditions'),
    'Conditions as in rules: only requests that match them are held.',
  ),
  after: v.optional(
    described(integer(0, 1_000_000), 'How many pieces of a stream are sent before it waits; 0 is before the answer.'),
    0,
  ),
  times: v.optional(described(integer(1, 1_000_000), 'How many requests are held.'), 1),
  name: optional(filled, 'Its name in messages.'),
  scope: optional(text, 'The scope whose requests are held; without it, the requests of all scopes.'),
}

export const holdCallSchema = closed(holdEntries)
export type HoldCall = v.InferOutput<typeof holdCallSchema>

/** What happens to a request that waits. `end` ends its answer normally, as if it were complete. */
export const holdActionSchema = closed({
  action: word(['release', 'cut', 'end', 'fail']),
  status: optional(integer(400, 599, 'an HTTP status'), 'The status of the error for fail; 500 by default.'),
  message: optional(filled, 'What the error says.'),
  retryAfter: optional(integer(0, 1_000_000, 'seconds'), 'The Retry-After header of the error, in seconds.'),
})
export type HoldAction = v.InferOutput<typeof holdActionSchema>

export const holdStateSchema = closed({
  id: text,
  ...holdEntries,
  /** How many more requests it will take. */
  times: wholeNumber,
  /** What it is, for people. */
  title: text,
  /** How many requests have waited at it, and how many clients have left while it had their requests. */
  reached: wholeNumber,
  aborted: wholeNumber,
  /** How many requests wait now. */
  waiting: wholeNumber,
  /** Why no request has reached it, as far as that is known. */
  hint: orNull(text),
})
export type HoldState = v.InferOutput<typeof holdStateSchema>

/** Validates a call made from code. Throws a ProblemsError that names the mistakes. */
export function holdFromCode(call: unknown): HoldCall {
  const checked = check(holdCallSchema, call, { whole: 'the hold' })
  if ('value' in checked) return checked.value
  throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: 'hold', sentence })))
}

/** `hold "stop" on chat completions when {"user":"weather"}, after 3 pieces`. */
export function titleOf({ id, call }: { readonly id: string; readonly call: HoldCall }): string {
  const { on, when, after, name } = call
  const what = name === undefined ? id : `hold ${JSON.stringify(name)}`
  const conditions = when && Object.keys(when).length > 0 ? ` when ${stringifyExact(when)}` : ''
  const place = after === 0 ? 'before the answer' : `after ${after} ${after === 1 ? 'piece' : 'pieces'}`
  return `${what} on ${on ?? 'chat completions'}${conditions}, ${place}`
}
