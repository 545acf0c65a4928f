/** What the clock may be asked: the body that the control API takes. */
import * as v from 'valibot'
import { closed, optional } from '../check/check.js'
import { isMoment } from '../check/formats.js'
import { isOnClock } from './clock.js'

const aMoment = 'a moment from 1970 to 9000, such as 2030-01-31T12:00:00Z, or milliseconds since 1970'

/** Not a number for what is no moment. */
function msOf(written: string | number): number {
  if (typeof written === 'number') return Number.isInteger(written) ? written : Number.NaN
  return isMoment(written) ? Date.parse(written) : Number.NaN
}

const moment = v.pipe(
  v.union([v.string(), v.number()], aMoment),
  v.check(written => isOnClock(msOf(written)), aMoment),
  v.transform(msOf),
)

const milliseconds = 'a whole number of milliseconds'

/** Done in this order. */
export const clockRequest = closed({
  now: optional(moment, 'What the clock is to show: an ISO 8601 moment, or milliseconds since 1970.'),
  advanceMs: optional(
    v.pipe(v.number(milliseconds), v.safeInteger(milliseconds)),
    'How far it is moved on; negative for back.',
  ),
  frozen: optional(v.boolean('true or false'), 'Whether it stands still.'),
  reset: optional(v.literal(true, 'true, or left out'), 'Makes it the real time again, running.'),
})

export type ClockRequest = v.InferOutput<typeof clockRequest>
