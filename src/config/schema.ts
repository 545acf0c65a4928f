/** Every option: its name, its default, its meaning. Check, reference file, editor completion and environment names follow from it. */
import * as v from 'valibot'
import { closed, described, open, where, word } from '../core/check.js'
import {
  developmentApiKey,
  developmentPublishableKey,
  developmentSecret,
  developmentSecretKey,
  developmentUser,
} from '../core/development.js'
import { credentialKinds, modes } from '../core/exchange.js'
import { isMoment } from '../core/moment.js'
import { firstTokenMs, tokensPerSecond } from '../core/pace.js'

/** An option with its default and the sentence that explains it. */
const option = <const S extends v.GenericSchema>(schema: S, initial: v.InferInput<S>, meaning: string) =>
  v.optional(described(schema, meaning), initial as never)

/** An option that is masked wherever it is shown. */
const secret = <const S extends v.GenericSchema>(schema: S) => v.pipe(schema, v.metadata({ secret: true }))

/** Options under one name. The name alone, with all of its options commented out, is null to YAML: nothing is set. */
const group = <const E extends v.ObjectEntries>(entries: E, meaning: string) =>
  v.nullish(v.pipe(closed(entries), v.description(meaning)), {} as never)

const text = v.string('text')
const filled = v.pipe(text, v.nonEmpty('text that is not empty'))
const integer = (least: number, most: number) => {
  const range = `a whole number from ${least} to ${most}`
  return v.pipe(v.number(range), v.integer(range), v.minValue(least, range), v.maxValue(most, range))
}
const list = <S extends v.GenericSchema>(item: S, of: string) => v.array(item, `a list of ${of}`)

const access = v.union(
  [
    v.literal('anyone', 'anyone, or a list of credential kinds'),
    v.pipe(list(word(credentialKinds), 'credential kinds'), v.nonEmpty('anyone, or a list with at least one kind')),
  ],
  `anyone, or a list of ${credentialKinds.join(', ')}`,
)

const anAddress = 'an http or https address without a password'

/** Without a password, since the banner shows it, and without a query, which would go onto every request. */
const httpUrl = v.pipe(
  text,
  v.check(address => /^https?:\/\/[^@?#]*$/i.test(address) && URL.canParse(address), anAddress),
)

/** What may stand behind "Bearer " in a header. */
const credential = v.pipe(text, v.regex(/^[\x21-\x7e]*$/, 'a key without spaces or line ends'))

const time = v.pipe(text, v.check(isMoment, 'a time such as 2030-01-31T12:00:00Z'))

const model = open({
  id: filled,
  object: v.optional(v.literal('model', 'the word model'), 'model'),
  created: v.optional(integer(0, 253402300799), 1735689600),
  owned_by: v.optional(text, 'standin'),
})

const isOrigin = (written: string) => URL.canParse(written) && new URL(written).origin === written
const origin = v.pipe(
  text,
  v.check(isOrigin, 'an origin such as http://localhost:3000, in small letters and without a slash at its end'),
)

const differentWhereThere = (values: readonly unknown[]) => {
  const there = values.filter(value => value !== undefined)
  return different(there, value => value)
}
const different = <T>(items: readonly T[], by: (item: T) => unknown) => new Set(items.map(by)).size === items.length

const id = v.pipe(text, v.uuid('a UUID'))
const flag = (initial: boolean, meaning: string) => option(v.boolean('true or false'), initial, meaning)
const metadata = v.record(v.string(), v.unknown(), 'a map')

const user = v.pipe(
  closed({
    id: v.optional(id),
    email: v.optional(
      v.pipe(text, v.email('an e-mail address'), v.maxLength(255, 'an e-mail address of at most 255 characters')),
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
  where('email', 'there, or phone', ({ email, phone }) => email !== undefined || phone !== undefined),
)

const apiKey = closed({
  id: v.optional(id),
  name: filled,
  user: v.optional(filled),
  key: secret(v.pipe(text, v.regex(/^[\w.~+/-]+=*$/, 'a key of letters, digits and -._~+/ only'))),
  expiresAt: v.optional(time),
  revoked: v.optional(v.boolean('true or false'), false),
})

/** Where rules are looked for without being told. */
export const defaultReplies = 'fixtures/replies/*.yaml'

export const configSchema = closed({
  host: option(filled, '127.0.0.1', 'Address to listen on. Anything but a loopback address lets other machines in.'),
  port: option(integer(0, 65535), 4100, 'Port to listen on; 0 takes any free one.'),
  mode: option(word(modes), 'emulate', 'Where answers come from: emulate (made here) or proxy (the live platform).'),
  version: option(
    v.pipe(text, v.regex(/^\d+\.\d+\.\d+$/, 'three numbers with dots, such as 1.0.0')),
    '1.0.0',
    'The service version that GET /health reports.',
  ),
  models: option(
    v.pipe(
      list(model, 'models'),
      v.nonEmpty('a list with at least one model'),
      v.check(models => different(models, ({ id }) => id), 'a list in which every id stands once'),
    ),
    [
      { id: 'gpt-4o-mini', owned_by: 'openai' },
      { id: 'gpt-4o', owned_by: 'openai' },
      { id: 'llama-3.3-70b-instruct', owned_by: 'meta' },
      { id: 'mistral-small-latest', owned_by: 'mistralai' },
      { id: 'qwen2.5-72b-instruct', owned_by: 'qwen' },
    ],
    'What GET /v1/models lists and chat accepts. Further fields of a model are listed as they are.',
  ),
  replies: option(
    v.union([filled, list(filled, 'file names or globs')], 'a file name or glob, or a list of them'),
    defaultReplies,
    'Files with the rules of what the model says, relative to this file; the first rule that matches answers.',
  ),
  seed: option(
    integer(0, 2 ** 31 - 1),
    0,
    'Changes the canned replies; the same request and seed give the same reply.',
  ),
  pace: group(
    { firstTokenMs: v.optional(firstTokenMs, 0), tokensPerSecond: v.optional(tokensPerSecond, 0) },
    'The rhythm of streams. A rule of the reply files can have its own.',
  ),
  access: group(
    {
      health: option(access, 'anyone', 'Who may GET /health: anyone, or a list of anon, service, user, apiKey.'),
      index: option(access, ['anon', 'service', 'user'], 'Who may GET /api/v1.'),
      models: option(access, ['apiKey', 'user'], 'Who may GET /v1/models.'),
      chat: option(access, ['apiKey', 'user'], 'Who may POST /v1/chat/completions.'),
    },
    'Which kinds of credential open which endpoint.',
  ),
  users: option(
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
  ),
  apiKeys: option(
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
  ),
  auth: group(
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
      disableSignup: flag(false, 'Nobody may sign up.'),
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
  ),
  upstream: group(
    {
      baseUrl: option(
        v.union([v.literal(''), httpUrl], anAddress),
        '',
        'Address of the live platform, for the mode proxy.',
      ),
      authUrl: option(
        v.union(
          [v.literal(''), v.pipe(httpUrl, v.regex(/^(?!.*\/auth\/v1\/?$)/, 'an address without /auth/v1 at its end'))],
          anAddress,
        ),
        '',
        'Address of the live auth backend without /auth/v1, for auth.mode proxy.',
      ),
      apiKey: option(secret(credential), '', "The live platform's API key; sent instead of the caller's on /v1."),
      anonKey: option(secret(credential), '', "The live platform's anon key; sent instead of the caller's on /api/v1."),
      firstByteTimeoutMs: option(
        integer(1, 3_600_000),
        60_000,
        'How long the live platform may take until it answers.',
      ),
      idleTimeoutMs: option(integer(1, 3_600_000), 60_000, 'How long a stream of the live platform may be silent.'),
    },
    'The live platform.',
  ),
  cors: group(
    {
      origins: option(
        v.union([v.literal('*'), list(origin, 'origins')], '"*" or a list of origins'),
        '*',
        'Origins whose pages may call the platform: "*" for all, or a list such as [http://localhost:3000].',
      ),
    },
    'Calls from web pages of other origins.',
  ),
  limits: group(
    { bodyBytes: option(integer(1, 2 ** 30), 4_194_304, 'Largest request body, in bytes; more is a 413.') },
    'What is too much.',
  ),
  state: option(
    v.pipe(text, v.regex(/^(memory|file:.+|postgres(ql)?:\/\/.+)$/s, 'memory, file:PATH or postgres://…')),
    'file:.standin/state.db',
    'Where users, keys and sessions are kept: memory (gone when the process ends), file:PATH (relative to this file) or postgres://… (shared by several).',
  ),
})

/** All options with their values. */
export type Config = v.InferOutput<typeof configSchema>
/** Options as somebody writes them: all of them optional. */
export type ConfigInput = v.InferInput<typeof configSchema>
