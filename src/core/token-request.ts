/** Which token may be asked for: the body that the control API takes. */
import * as v from 'valibot'
import { closed, number, optional, where, word } from '../check/check.js'
import { isEmail, LONGEST_EMAIL_BYTES } from '../check/formats.js'

const anEmail = 'an e-mail address'
const seconds = 'a whole number of seconds'
const MOST_SECONDS = 9_999_999_999

const fields = closed({
  role: v.optional(word(['anon', 'service', 'user']), 'user'),
  email: optional(
    v.pipe(
      v.string(anEmail),
      v.check(written => isEmail(written) && Buffer.byteLength(written) <= LONGEST_EMAIL_BYTES, anEmail),
    ),
    'Whose token it is; the development user where it is left out. Who is not there yet signs up.',
  ),
  expiresIn: optional(
    v.pipe(number(-MOST_SECONDS, MOST_SECONDS, seconds), v.integer(seconds)),
    'Seconds until it expires; negative for one that has expired.',
  ),
})

export const tokenRequest = v.pipe(
  fields,
  where<v.InferOutput<typeof fields>>(
    'email',
    'left out where role is anon or service',
    ({ role, email }) => role === 'user' || email === undefined,
  ),
)
