/** What may be asked of the dashboard's API: the bodies and queries that it takes. */
import * as v from 'valibot'
import { closed, number, where } from '../check/check.js'
import { isMoment } from '../check/formats.js'
import { isKeepable } from './state.js'

function wholeNumber(least: number, most: number, what = 'a whole number') {
  return v.pipe(number(least, most, what), v.integer(`${what} from ${least} to ${most}`))
}

const aName = 'a text of 1 to 100 characters'
const name = v.pipe(
  v.string(aName),
  v.trim(),
  v.minLength(1, aName),
  v.maxLength(100, aName),
  v.check(isKeepable, `${aName}, all of them whole and none of them NUL`),
)

const aMomentToCome = 'a moment to come, such as 2030-01-31T12:00:00Z, or null'
const momentToCome = (now: () => number) =>
  v.pipe(
    v.string(aMomentToCome),
    v.check(written => isMoment(written) && Date.parse(written) > now(), aMomentToCome),
  )

const TEN_YEARS_S = 10 * 365 * 24 * 3600
const THIRTY_DAYS_S = 30 * 24 * 3600
const seconds = 'a whole number of seconds'

const newKeyFields = (now: () => number) =>
  closed({
    name,
    expires_at: v.optional(v.nullable(momentToCome(now))),
    expires_in: v.optional(wholeNumber(1, TEN_YEARS_S, seconds)),
  })

/** A key to be made; without an expiry it works until it is revoked. */
export const newKeyRequest = (now: () => number) =>
  v.pipe(
    newKeyFields(now),
    where<v.InferOutput<ReturnType<typeof newKeyFields>>>(
      'expires_in',
      'left out where expires_at is given',
      ({ expires_at, expires_in }) => expires_at === undefined || expires_in === undefined,
    ),
  )

/** How long a key lives on beside the one that takes its place. */
export const rollRequest = closed({
  overlap_seconds: v.optional(wholeNumber(0, THIRTY_DAYS_S, seconds), 0),
})

/** Numbers of a query arrive as text. */
const digits = <const S extends v.GenericSchema<number, number>>(schema: S) =>
  v.pipe(
    v.unknown(),
    v.transform(written => (typeof written === 'string' && /^\d+$/.test(written) ? Number(written) : written)),
    schema,
  )

/** Which part of a listing. */
export const pageRequest = closed({
  limit: v.optional(digits(wholeNumber(1, 200)), '50'),
  offset: v.optional(digits(wholeNumber(0, Number.MAX_SAFE_INTEGER)), '0'),
})
