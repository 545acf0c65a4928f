/**
 * All options: name, default and description. Validation, the reference file, editor completion and environment names
 * are derived from this.
 */
import * as v from 'valibot'
import { oneOfWords } from '../../check/check.js'
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
  integer,
  list,
  open,
  option,
  secret,
  text,
  withDefaults,
  word,
} from '../../check/forms.js'
import { access } from '../../core/caller.js'
import { modes } from '../../core/exchange.js'
import { randomFaults } from '../../core/fault.js'
import { paceInput, paceOptions, unpaced } from '../../core/pace.js'
import { modesByEndpoint } from '../../http/modes.js'
import { limitOptions } from '../../limits/options.js'
import { mcpOptions } from '../../mcp/options.js'
import { openapiOptions } from '../../openapi/options.js'
import { recordingOptions } from '../../recordings/options.js'
import { resourceOptions } from '../../resources/options.js'
import { apiKeyOptions, authOptions, userOptions } from '../../supabase/options.js'

const model = open({
  id: filled,
  object: v.optional(v.literal('model', 'the word model'), 'model'),
  created: v.optional(integer(0, 253402300799), 1735689600),
  owned_by: v.optional(text, 'standin'),
  pace: v.nullish(
    described(
      paceInput,
      'The pace of streams of this model. Anything left out comes from the option pace. Not listed.',
    ),
  ),
  maxPromptTokens: v.optional(
    described(integer(1, 2 ** 31 - 1), 'The longest prompt that the model accepts, in tokens. Not listed.'),
  ),
})

/** Apps and browser extensions have origins that `URL` does not support, such as `chrome-extension://…`. */
const isAppOrigin = (written: string) => /^(?!(https?|wss?|ftp|file):)[a-z][a-z\d+.-]*:\/\/[^\s/?#@,]+$/.test(written)
const isOrigin = (written: string) =>
  written === '*' || isAppOrigin(written) || (URL.canParse(written) && new URL(written).origin === written)
const origin = v.pipe(
  text,
  v.check(isOrigin, 'an origin such as http://localhost:3000, in lower case and without a trailing slash'),
)

const errorForms = ['documented', 'untouched'] as const

/** The base URL of OpenAI's clients ends in /v1, but the paths that are appended here begin with it. */
const addedPath = /\/v1(\/(chat\/completions|models))?\/*$/i
const baseAddress = v.pipe(
  httpUrl,
  v.check(
    // Only the path, since a host may be called v1.
    address => !addedPath.test(new URL(address).pathname),
    ({ input }) => `is "${input}", and Standin adds /v1 itself: ${withoutV1(input.replace(addedPath, ''))}`,
  ),
)

/** Below /api/v1 there is either the platform's index or a whole OpenAI-compatible API. */
const withoutV1 = (base: string) =>
  base.endsWith('/api')
    ? `write "${base.slice(0, -'/api'.length)}", or "${base}" if its models are at /api/v1/models.`
    : `write "${base}".`

export const defaultReplies = 'fixtures/replies/*.yaml'

export const configSchema = closed({
  host: option(
    filled,
    '127.0.0.1',
    'Address to listen on. Other machines can reach any address that is not a loopback one.',
  ),
  port: option(integer(0, 65535), 4100, 'Port to listen on; 0 means any free port.'),
  controlToken: option(
    secret(credential),
    '',
    'Token for the control API under /__standin, for other machines and other host names. Empty means a new random token at each start, if other machines can reach the address. A loopback address needs none.',
  ),
  mode: option(
    word(modes),
    'emulate',
    'Where answers come from: emulate (generated here), proxy (the live platform), record (the live platform, and saved) or replay (recordings).',
  ),
  modes: option(
    modesByEndpoint,
    {},
    'Modes of single endpoints, such as { "POST /v1/chat/completions": replay, "*": proxy }. The first match counts; without one, mode applies.',
  ),
  version: option(
    v.pipe(text, v.regex(/^\d+\.\d+\.\d+$/, 'three numbers with dots, such as 1.0.0')),
    '1.0.0',
    'The service version that GET /health reports.',
  ),
  models: option(
    v.pipe(
      list(model, 'models'),
      v.nonEmpty('a list with at least one model'),
      v.check(models => different(models.map(({ id }) => id)), 'a list without duplicate ids'),
    ),
    [
      { id: 'gpt-4o-mini', owned_by: 'openai' },
      { id: 'gpt-4o', owned_by: 'openai' },
      { id: 'llama-3.3-70b-instruct', owned_by: 'meta' },
      { id: 'mistral-small-latest', owned_by: 'mistralai' },
      { id: 'qwen2.5-72b-instruct', owned_by: 'qwen' },
    ],
    'The models that GET /v1/models lists and chat accepts. Other fields of a model are listed unchanged.',
  ),
  replies: option(
    v.union([filled, list(filled, 'files, folders or globs')], 'a file, a folder or a glob, or a list of them'),
    defaultReplies,
    'Files with rules for what the model says, or their folder, relative to this file. The first matching rule answers.',
  ),
  resources: resourceOptions,
  openapi: openapiOptions,
  strict: option(
    boolean,
    false,
    'Whether a chat request without a matching rule gets an error (424) that names the nearest rule, instead of a made-up reply.',
  ),
  requests: option(
    word(['warn', 'strict', 'lenient']),
    'warn',
    "What happens to a chat request that OpenAI is known to refuse with 400: warn answers and reports it, strict refuses it in OpenAI's words, lenient answers silently.",
  ),
  seed: option(
    integer(0, 2 ** 31 - 1),
    0,
    'Changes the made-up replies. The same request and seed give the same reply.',
  ),
  pace: group(
    withDefaults(paceOptions, unpaced),
    'The rhythm of streams. A model, a rule and a request (header x-standin-pace) can have their own.',
  ),
  tokenizer: option(
    word(['estimate', 'o200k_base', 'cl100k_base']),
    'estimate',
    'How usage is counted: estimate (four characters a token), o200k_base (GPT-4o and later) or cl100k_base (GPT-4).',
  ),
  access: group(
    {
      health: option(access, 'anyone', 'Who may GET /health: anyone, or a list of anon, service, user, apiKey.'),
      index: option(access, ['anon', 'service', 'user'], 'Who may GET /api/v1.'),
      models: option(access, ['apiKey', 'user'], 'Who may GET /v1/models.'),
      chat: option(access, ['apiKey', 'user'], 'Who may POST /v1/chat/completions.'),
    },
    'Which kinds of credential each endpoint accepts.',
  ),
  mcp: mcpOptions,
  users: userOptions,
  apiKeys: apiKeyOptions,
  auth: authOptions,
  upstream: group(
    {
      baseUrl: option(
        v.union([v.literal(''), baseAddress], anAddress),
        '',
        'Address of the live platform, without /v1, for the modes proxy and record.',
      ),
      authUrl: option(
        v.union(
          [v.literal(''), v.pipe(httpUrl, v.regex(/^(?!.*\/auth\/v1\/?$)/, 'an address without /auth/v1 at its end'))],
          anAddress,
        ),
        '',
        'Address of the live auth backend without /auth/v1, for auth.mode proxy.',
      ),
      apiKey: option(secret(credential), '', "The live platform's API key, sent on /v1 in place of the caller's."),
      anonKey: option(
        secret(credential),
        '',
        "The live platform's anon key, sent on /api/v1 in place of the caller's.",
      ),
      credentials: option(
        word(['swap', 'pass']),
        'swap',
        "Whose credentials the live platform sees: swap sends the live ones, pass the caller's own, for the live platform to judge.",
      ),
      errors: option(
        v.picklist(errorForms, ({ input }) =>
          input === 'normalise' ? 'is normalise, which is now called documented.' : oneOfWords(errorForms),
        ),
        'documented',
        'How errors of the live platform are delivered: as the documented { error } (documented), or as they came (untouched).',
      ),
      timeoutMs: option(
        integer(1, 3_600_000),
        60_000,
        'How long the live platform may be silent, before its first byte or within a stream, in milliseconds.',
      ),
    },
    'The live platform.',
  ),
  recordings: recordingOptions,
  cors: group(
    {
      origins: option(
        v.union([word(['auto', '*']), list(origin, 'origins')], 'auto, "*" or a list of origins'),
        'auto',
        'Which web pages may call: auto (any page; only pages of this machine where requests reach the live platform or manage users), a list such as [https://app.example.com], or "*" (any page).',
      ),
    },
    'Calls from web pages of other origins.',
  ),
  faults: group(
    {
      random: option(
        randomFaults,
        [],
        'Random faults, drawn from the seed: a list such as [{ chance: 0.05, status: 503, path: /v1/* }].',
      ),
    },
    'Faults to inject.',
  ),
  limits: limitOptions,
  state: option(
    v.pipe(text, v.regex(/^(memory|file:.+|postgres(ql)?:\/\/.+)$/s, 'memory, file:PATH or postgres://…')),
    'file:.standin/state.db',
    'Where users, keys and sessions are kept: memory (gone when the process ends), file:PATH (relative to this file) or postgres://… (shared by several).',
  ),
})

/** All options with their values. */
export type Config = v.InferOutput<typeof configSchema>
/** Options as users write them: all are optional. */
export type ConfigInput = v.InferInput<typeof configSchema>
