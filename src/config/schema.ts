/** Every option: its name, its default, its meaning. Check, reference file, editor completion and environment names follow from it. */
import * as v from 'valibot'
import { closed, open, word } from '../core/check.js'
import { credentialKinds, modes } from '../core/exchange.js'
import { firstTokenMs, tokensPerSecond } from '../core/pace.js'
import { authOptions } from './auth-options.js'
import {
  anAddress,
  credential,
  different,
  filled,
  group,
  httpUrl,
  integer,
  list,
  option,
  secret,
  text,
} from './forms.js'
import { apiKeyOptions, userOptions } from './people.js'

const access = v.union(
  [
    v.literal('anyone', 'anyone, or a list of credential kinds'),
    v.pipe(list(word(credentialKinds), 'credential kinds'), v.nonEmpty('anyone, or a list with at least one kind')),
  ],
  `anyone, or a list of ${credentialKinds.join(', ')}`,
)

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
  users: userOptions,
  apiKeys: apiKeyOptions,
  auth: authOptions,
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
