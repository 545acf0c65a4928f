/** The options of the auth backend, named as Supabase Auth names its settings, and the users, sessions and keys that a configuration starts with. */
import * as v from 'valibot'
import { closed, where, word } from '../check/check.js'
import { isEmail, LONGEST_EMAIL_BYTES } from '../check/formats.js'
import {
  developmentApiKey,
  developmentPublishableKey,
  developmentSecret,
  developmentSecretKey,
  developmentUser,
} from '../core/secrets.js'
import {
  anAddress,
  credential,
  different,
  differentWhereThere,
  filled,
  flag,
  group,
  httpUrl,
  id,
  integer,
  list,
  metadata,
  option,
  secret,
  text,
  time,
} from './forms.js'

export const authOptions = group(
  {
    mode: option(
      word(['local', 'proxy']),
      'local',
      'Who answers /auth/v1: local (Standin, in every mode) or proxy (the live backend at upstream.authUrl).',
    ),
    gateway: option(
      word(['kong', 'open']),
      'kong',
      'What stands in front of /auth/v1: kong (asks for a known apikey, as a self-hosted Supabase does) or open.',
    ),
    jwtSecret: option(
      secret(v.pipe(text, v.minLength(32, 'text of at least 32 characters'))),
      developmentSecret,
      'Signs the anon and the service key (HS256); one of your own signs user tokens too. The default is public.',
    ),
    signingKeys: option(
      text,
      '',
      "File with a JSON array of private JWKs, relative to this file; the one with sign in its key_ops signs users' tokens.",
    ),
    publishableKey: option(secret(credential), developmentPublishableKey, 'Stands for the anon key at the gateway.'),
    secretKey: option(secret(credential), developmentSecretKey, 'Stands for the service key at the gateway.'),
    jwtExp: option(integer(1, 604_800), 3600, 'Lifetime of user tokens, in seconds.'),
    jwtIssuer: option(
      text,
      '',
      "The iss of user tokens; empty is the backend's own address, none leaves it out as self-hosted ones do.",
    ),
    jwtAdminRoles: option(
      list(filled, 'roles'),
      ['service_role', 'supabase_admin'],
      'Roles that may ask the admin endpoints.',
    ),
    siteUrl: option(httpUrl, 'http://localhost:3000', 'Where links lead back to unless told otherwise.'),
    uriAllowList: option(
      list(filled, 'globs of addresses'),
      ['http://localhost:*/**', 'http://localhost:*'],
      'Further addresses that links may lead back to; * stops at . and /, ** does not.',
    ),
    apiExternalUrl: option(
      v.union([v.literal(''), httpUrl], anAddress),
      '',
      "The backend's address in links, such as http://my-host:4100/auth/v1; empty is its own.",
    ),
    disableSignup: flag(false, 'Whether sign-ups are refused.'),
    externalEmailEnabled: flag(true, 'E-mail addresses may sign up and in.'),
    externalPhoneEnabled: flag(true, 'Phone numbers may sign up and in.'),
    externalAnonymousUsersEnabled: flag(true, 'Users without a name may sign in.'),
    mailerAutoconfirm: flag(true, 'New e-mail addresses need no confirmation.'),
    smsAutoconfirm: flag(true, 'New phone numbers need no confirmation.'),
    mailerOtpExp: option(integer(1, 604_800), 3600, 'How long codes and links hold, in seconds.'),
    mailerOtpLength: option(integer(6, 10), 6, 'Digits of a code.'),
    mailerSecureEmailChangeEnabled: flag(
      true,
      'A change of address is confirmed at both addresses (with mailerAutoconfirm: at one).',
    ),
    testOtp: option(
      v.pipe(text, v.regex(/^(\d{4,10})?$/, '4 to 10 digits in quotes')),
      '',
      'The code of every message, so that tests need not look it up; empty for a new one each time.',
    ),
    passwordMinLength: option(integer(1, 72), 6, 'Least length of a password, in bytes.'),
    passwordRequiredCharacters: option(
      text,
      '',
      'Sets of characters, separated by colons; a password needs one of each.',
    ),
    securityRefreshTokenRotationEnabled: flag(true, 'A refresh token that is used twice ends its session.'),
    securityRefreshTokenReuseInterval: option(
      integer(0, 86_400),
      10,
      'How long a used refresh token may be used again, in seconds.',
    ),
    securityUpdatePasswordRequireReauthentication: flag(
      false,
      'A new password needs a code, unless the session is younger than a day.',
    ),
  },
  'The auth backend under /auth/v1: Supabase Auth, with the names of its settings.',
)

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

/** Users and API keys as they are configured. */
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
