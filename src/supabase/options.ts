/**
 * The options of the auth backend, with Supabase Auth's names, and the users, sessions and keys that exist from the
 * start.
 */
import * as v from 'valibot'
import {
  anAddress,
  boolean,
  closed,
  credential,
  described,
  different,
  filled,
  group,
  httpUrl,
  id,
  integer,
  isEmail,
  LONGEST_EMAIL_BYTES,
  list,
  map,
  metadata,
  oneForm,
  option,
  secret,
  text,
  time,
  where,
  word,
} from '../check/forms.js'
import { isObject } from '../core/json.js'
import {
  developmentApiKey,
  developmentPublishableKey,
  developmentSecret,
  developmentSecretKey,
  developmentUser,
} from '../core/secrets.js'
import { providerNames } from './providers.js'

const email = v.pipe(
  text,
  v.check(isEmail, 'an email address'),
  v.maxBytes(LONGEST_EMAIL_BYTES, `an email address of at most ${LONGEST_EMAIL_BYTES} bytes`),
)

const provider = oneForm([closed({ account: v.optional(email) }), boolean], value => Number(typeof value === 'boolean'))

const hasNoAccount = (setting: boolean | { account?: string | undefined } | undefined) =>
  typeof setting !== 'object' || setting.account === undefined

/** Claims that say whose token it is and how long it lasts. */
const reservedClaims = 'iss sub aud exp iat nbf jti email phone aal amr session_id is_anonymous client_id'.split(' ')
const isReserved = v.optional(v.never('is set by the backend, and cannot be changed here.'))
const holdsTemplate = /\{[{%]/
const mapOrTemplate = v.optional(v.union([v.pipe(text, v.regex(holdsTemplate, 'a map')), metadata], 'a map'))

const claimForms = v.looseObject({
  ...Object.fromEntries(reservedClaims.map(name => [name, isReserved])),
  role: v.optional(filled),
  app_metadata: mapOrTemplate,
  user_metadata: mapOrTemplate,
})

const claimTemplates = v.pipe(
  metadata,
  v.check(claims => !Object.keys(claims).some(name => holdsTemplate.test(name)), 'a map without templates as names'),
  v.rawCheck(({ dataset, addIssue }) => {
    const { issues = [] } = dataset.typed ? v.safeParse(claimForms, dataset.value) : {}
    for (const issue of issues) addIssue(issue)
  }),
)

/** The form of Supabase's secrets for hooks, several of which may be valid at a time. */
const isHookSecret = (written: string) =>
  written === '' ||
  written.split('|').every(secret => {
    const [, key = ''] = /^v1,whsec_([\w+/]{30,88}={0,2})$/.exec(secret) ?? []
    return key !== '' && Buffer.from(key, 'base64').toString('base64') === key
  })
const hookSecret = 'v1,whsec_ and 24 to 64 bytes in base64; several are separated by |'

const url = v.union([v.literal(''), httpUrl], anAddress)
const hookSecrets = v.optional(secret(v.pipe(text, v.check(isHookSecret, hookSecret))), '')
const httpHook = closed({ url, secret: hookSecrets }, key => (key === 'claims' ? ' Keep claims or url.' : undefined))
const hook = oneForm([closed({ claims: v.optional(claimTemplates, {}) }), httpHook], written =>
  Number(isObject(written) && ('url' in written || 'secret' in written)),
)
const customAccessToken = described(
  hook,
  "Changes the claims of user tokens before they are signed, as the hook of Supabase Auth: { claims: { org: '{{ user.app_metadata.org }}' } }, with templates of user, claims and authentication_method, or the { url, secret } of your hook, which gets the claims by POST and answers with those to sign.",
)
const hookOptions = group({ customAccessToken: v.nullish(customAccessToken, {}) }, 'Hooks of the auth backend.')

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
      'The gateway in front of /auth/v1: kong (requires a known apikey, as a self-hosted Supabase does) or open.',
    ),
    jwtSecret: option(
      secret(v.pipe(text, v.minLength(32, 'a string of at least 32 characters'))),
      developmentSecret,
      'Signs the anon and the service key (HS256). A secret of your own signs user tokens too. The default is public.',
    ),
    signingKeys: option(
      text,
      '',
      'File with a JSON array of private JWKs, relative to this file. The one with sign in its key_ops signs user tokens.',
    ),
    publishableKey: option(
      secret(credential),
      developmentPublishableKey,
      'The publishable key, which the gateway accepts as the anon key.',
    ),
    secretKey: option(
      secret(credential),
      developmentSecretKey,
      'The secret key, which the gateway accepts as the service key.',
    ),
    jwtExp: option(integer(1, 604_800), 3600, 'Lifetime of user tokens, in seconds.'),
    siteUrl: option(httpUrl, 'http://localhost:3000', 'Where links lead by default.'),
    uriAllowList: option(
      list(v.pipe(filled, v.check(isGlob, 'a glob whose ranges go up, such as [a-z]')), 'globs of addresses'),
      ['http://localhost:*/**', 'http://localhost:*'],
      'Other addresses that links may lead to; * stops at . and /, ** does not.',
    ),
    apiExternalUrl: option(
      v.union([v.literal(''), httpUrl], anAddress),
      '',
      "The backend's address in links and the iss of user tokens, such as http://my-host:4100/auth/v1; empty means its own.",
    ),
    disableSignup: option(boolean, false, 'Whether sign-ups are refused.'),
    external: option(
      v.pipe(
        map(
          word([...providerNames, 'phone', 'anonymous_users']),
          v.nullish(provider, true),
          'a map from providers to their settings',
        ),
        where('phone', 'true or false', ({ phone }) => hasNoAccount(phone)),
        where('anonymous_users', 'true or false', ({ anonymous_users: setting }) => hasNoAccount(setting)),
      ),
      {},
      'Other ways to sign in, such as { github: {}, google: {}, phone: true }; anonymous_users are on unless they are false. With an account (an email address), the holder of it at a provider is signed in without being asked.',
    ),
    mailerAutoconfirm: option(boolean, true, 'Whether new email addresses and phone numbers are confirmed at once.'),
    testOtp: option(
      v.pipe(text, v.regex(/^(\d{6})?$/, '6 digits in quotes')),
      '',
      'The code of every message, so that tests know it; empty for a new one each time.',
    ),
    passwordMinLength: option(integer(1, 72), 6, 'Minimum length of a password, in bytes.'),
    hooks: hookOptions,
  },
  'The auth backend under /auth/v1. Its settings have the same names as in Supabase Auth.',
)

const user = v.pipe(
  closed({
    id: v.optional(id),
    email: v.optional(email),
    phone: v.optional(v.pipe(text, v.regex(/^\+?[1-9]\d{1,14}$/, 'a phone number such as +4791234567'))),
    password: v.optional(secret(v.pipe(filled, v.maxBytes(72, 'a string of at most 72 bytes')))),
    confirmed: v.optional(v.boolean('true or false'), true),
    role: v.optional(filled, 'authenticated'),
    user_metadata: v.optional(metadata),
    app_metadata: v.optional(metadata),
  }),
  where(
    'email',
    'an email address, unless there is a phone',
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
    v.check(users => different(users.map(({ email }) => email?.toLowerCase())), 'a list without duplicate emails'),
    v.check(users => different(users.map(({ id }) => id?.toLowerCase())), 'a list without duplicate ids'),
    v.check(users => different(users.map(({ phone }) => phone?.replace('+', ''))), 'a list without duplicate phones'),
  ),
  [developmentUser],
  'Users that exist from the start. A user may have id, phone, confirmed, role, user_metadata and app_metadata.',
)

export const apiKeyOptions = option(
  v.pipe(
    list(apiKey, 'API keys'),
    v.check(keys => different(keys.map(({ key }) => key)), 'a list without duplicate keys'),
    v.check(keys => different(keys.map(({ id }) => id?.toLowerCase())), 'a list without duplicate ids'),
  ),
  [{ name: 'development', key: developmentApiKey }],
  'API keys that exist from the start. A key may have id, user (the email of one of users), expiresAt (a time) and revoked (true).',
)

/**
 * The expression for a glob of addresses, as Supabase Auth reads them: `*` matches anything but `.` and `/`, `**`
 * anything, `?` one character, `[!a-z]` a character that is not listed, `{a,b}` either. Throws a SyntaxError for a
 * range such as `[z-a]`, which contains nothing.
 */
export const globExpression = (glob: string) => new RegExp(`^(?:${globSource(glob)})$`, 's')

const globSource = (glob: string): string =>
  glob.replaceAll(/\\.|\*\*|\[!?[^[\]]+\]|\{[^{}]*\}|./gs, part => {
    const inside = part.slice(1, -1)
    if (part === '**') return '.*'
    if (part === '*') return '[^./]*'
    if (part === '?') return '[^./]'
    if (part.length === 1) return literalIn(part)
    if (part.startsWith('{')) return `(?:${inside.split(',').map(globSource).join('|')})`
    if (part.startsWith('[!')) return `[^${literalIn(inside.slice(1))}]`
    return part.startsWith('[') ? `[${literalIn(inside)}]` : literalIn(part.slice(1))
  })

const literalIn = (text: string) => text.replace(/[.+*?^${}()|[\]\\/]/g, '\\$&')

function isGlob(text: string): boolean {
  try {
    globExpression(text)
    return true
  } catch {
    return false
  }
}
