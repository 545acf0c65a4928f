/** Users and API keys as they are configured. */
import * as v from 'valibot'
import { closed, where } from '../check/check.js'
import { isEmail, LONGEST_EMAIL_BYTES } from '../check/formats.js'
import { developmentApiKey, developmentUser } from '../core/development.js'
import { different, differentWhereThere, filled, id, list, metadata, option, secret, text, time } from './forms.js'

const user = v.pipe(
  closed({
    id: v.optional(id),
    email: v.optional(
      v.pipe(
        text,
        v.check(isEmail, 'an e-mail address'),
        v.maxBytes(LONGEST_EMAIL_BYTES, `an e-mail address of at most ${LONGEST_EMAIL_BYTES} bytes`),
      ),
    ),
    phone: v.optional(v.pipe(text, v.regex(/^\+?[1-9]\d{1,14}$/, 'a phone number such as +4791234567'))),
    password: v.optional(
      secret(v.pipe(text, v.nonEmpty('text that is not empty'), v.maxBytes(72, 'text of at most 72 bytes'))),
    ),
    confirmed: v.optional(v.boolean('true or false'), true),
    role: v.optional(filled, 'authenticated'),
    user_metadata: v.optional(metadata),
    app_metadata: v.optional(metadata),
  }),
  where(
    'email',
    'an e-mail address, unless there is a phone',
    ({ email, phone }) => email !== undefined || phone !== undefined,
  ),
)

const apiKey = closed({
  id: v.optional(id),
  name: filled,
  user: v.optional(filled),
  key: secret(v.pipe(text, v.regex(/^[\w.~+/-]+=*$/, 'a key of letters, digits and -._~+/ only'))),
  expiresAt: v.optional(time),
  revoked: v.optional(v.boolean('true or false'), false),
})

export const userOptions = option(
  v.pipe(
    list(user, 'users'),
    v.check(
      users => differentWhereThere(users.map(({ email }) => email?.toLowerCase())),
      'a list in which every email stands once',
    ),
    v.check(
      users => differentWhereThere(users.map(({ id }) => id?.toLowerCase())),
      'a list in which every id stands once',
    ),
    v.check(
      users => differentWhereThere(users.map(({ phone }) => phone?.replace('+', ''))),
      'a list in which every phone stands once',
    ),
  ),
  [developmentUser],
  'Users that exist from the start. A user may have id, phone, confirmed, role, user_metadata and app_metadata.',
)

export const apiKeyOptions = option(
  v.pipe(
    list(apiKey, 'API keys'),
    v.check(keys => different(keys, ({ key }) => key), 'a list in which every key stands once'),
    v.check(
      keys => differentWhereThere(keys.map(({ id }) => id?.toLowerCase())),
      'a list in which every id stands once',
    ),
  ),
  [{ name: 'development', key: developmentApiKey }],
  'API keys that exist from the start. A key may have id, user (an e-mail of users), expiresAt (a time) and revoked (true).',
)
