/** Every option: its name, its default, its meaning. Check, reference file, editor completion and environment names follow from it. */
import * as v from 'valibot'
import { closed, described, open, word } from '../core/check.js'
import { developmentApiKey, developmentSecret } from '../core/development.js'
import { credentialKinds, modes } from '../core/exchange.js'
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

const time = v.pipe(text, v.check(isTime, 'a time such as 2030-01-31T12:00:00Z'))

const model = open({
  id: filled,
  object: v.optional(v.literal('model', 'the word model'), 'model'),
  created: v.optional(integer(0, 253402300799), 1735689600),
  owned_by: v.optional(text, 'standin'),
})

/** A date, or a date and a time with its zone; a day that its month does not have is none. */
function isTime(moment: string): boolean {
  const [, day] = /^(\d{4}-\d\d-\d\d)(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/.exec(moment) ?? []
  if (day === undefined || Number.isNaN(Date.parse(moment))) return false
  return new Date(day).toISOString().startsWith(day)
}

const isOrigin = (written: string) => URL.canParse(written) && new URL(written).origin === written
const origin = v.pipe(
  text,
  v.check(isOrigin, 'an origin such as http://localhost:3000, in small letters and without a slash at its end'),
)

const different = <T>(items: readonly T[], by: (item: T) => unknown) => new Set(items.map(by)).size === items.length

const apiKey = closed({
  name: filled,
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
  apiKeys: option(
    v.pipe(
      list(apiKey, 'API keys'),
      v.check(keys => different(keys, ({ key }) => key), 'a list in which every key stands once'),
    ),
    [{ name: 'development', key: developmentApiKey }],
    'API keys that exist from the start. A key may have expiresAt (a time) and revoked (true).',
  ),
  auth: group(
    {
      jwtSecret: option(
        secret(v.pipe(text, v.minLength(32, 'text of at least 32 characters'))),
        developmentSecret,
        'Signs the anon and the service key (HS256). The default is public: for development only.',
      ),
    },
    'The auth backend.',
  ),
  upstream: group(
    {
      baseUrl: option(
        v.union([v.literal(''), httpUrl], anAddress),
        '',
        'Address of the live platform, for the mode proxy.',
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
  state: option(word(['memory']), 'memory', 'Where state is kept: memory (gone when the process ends).'),
})

/** All options with their values. */
export type Config = v.InferOutput<typeof configSchema>
/** Options as somebody writes them: all of them optional. */
export type ConfigInput = v.InferInput<typeof configSchema>
