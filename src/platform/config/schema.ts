/**
 * All options: name, default and description. Validation, the reference file, editor completion and environment names
 * are derived from this.
 */
import { isIP } from 'node:net'
import * as v from 'valibot'
import {
  boolean,
  closed,
  credential,
  filled,
  group,
  integer,
  list,
  option,
  secret,
  text,
  withDefaults,
  word,
} from '../../check/forms.js'
import { modes } from '../../core/exchange.js'
import { randomFaults } from '../../core/fault.js'
import { paceOptions, unpaced } from '../../core/pace.js'
import { accessOption } from '../../endpoints/index.js'
import { modelOptions } from '../../endpoints/options.js'
import { environmentOptions } from '../../environment/names.js'
import { modesByEndpoint } from '../../http/modes.js'
import { corsOptions, upstreamOptions } from '../../http/options.js'
import { limitOptions } from '../../limits/options.js'
import { mcpOptions } from '../../mcp/options.js'
import { openapiOptions } from '../../openapi/options.js'
import { recordingOptions } from '../../recordings/options.js'
import { resourceOptions } from '../../resources/options.js'
import { apiKeyOptions, authOptions, userOptions } from '../../supabase/options.js'
import { tableOptions } from '../../tables/options.js'

const isHost = (host: string) => isIP(host) > 0 || /^\w([\w.-]*\w)?\.?$/.test(host)

export const defaultReplies = 'fixtures/replies/*.{yaml,yml}'

export const configSchema = closed({
  host: option(
    v.pipe(
      filled,
      v.check(isHost, 'a name or an address of this machine, without http:// and port, such as 127.0.0.1'),
    ),
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
  models: modelOptions,
  replies: option(
    v.union([filled, list(filled, 'files, folders or globs')], 'a file, a folder or a glob, or a list of them'),
    defaultReplies,
    'Files with rules for what the model says, or their folder, relative to this file. The first matching rule answers.',
  ),
  resources: resourceOptions,
  tables: tableOptions,
  openapi: openapiOptions,
  strict: option(
    boolean,
    false,
    'Whether a chat request without a matching rule gets an error (424) that names the nearest rule, instead of a made-up reply.',
  ),
  requests: option(
    word(['warn', 'strict']),
    'warn',
    "What happens to a chat request that OpenAI is known to refuse with 400: warn answers and reports it, strict refuses it in OpenAI's words.",
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
  access: accessOption,
  mcp: mcpOptions,
  env: environmentOptions,
  users: userOptions,
  apiKeys: apiKeyOptions,
  auth: authOptions,
  upstream: upstreamOptions,
  recordings: recordingOptions,
  cors: corsOptions,
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
