/** Reads the command line: the command, its flags, and the configuration that they name. */
import path from 'node:path'
import { parseArgs } from 'node:util'
import { UsageError } from '../check/problem.js'
import { didYouMean } from '../check/suggest.js'
import { loadConfig, type Override } from '../config/load.js'
import { fromText } from '../config/options.js'

export interface Flag {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** Placeholder for the value in the help. */
  readonly value?: string
  readonly meaning: string
  /** What it means for single commands, where that differs. */
  readonly meanings?: Readonly<Record<string, string>>
  /** The configuration option that the flag sets. */
  readonly option?: readonly string[]
  /** The value is a path relative to the current folder. (In a configuration file, paths are relative to that file.) */
  readonly isPath?: boolean
  /** The commands that take the flag; all of them if absent. */
  readonly commands?: readonly string[]
}

/** The commands that start a platform. */
const starting = ['dev', 'record', 'replay', 'exec']

export const flags = {
  config: {
    type: 'string',
    value: 'FILE',
    meaning: 'Configuration file (default: platform.config.yaml, if it is there)',
    meanings: { verify: 'Configuration file of the fresh stand-in (none)' },
  },
  host: { type: 'string', value: 'ADDRESS', meaning: 'Address to listen on (127.0.0.1)', option: ['host'] },
  port: {
    type: 'string',
    value: 'NUMBER',
    meaning: 'Port to listen on; 0 takes any free one (4100)',
    meanings: { exec: 'Port to listen on (any free one)' },
    option: ['port'],
  },
  mode: {
    type: 'string',
    value: 'MODE',
    meaning: 'emulate, proxy, record or replay (emulate)',
    meanings: { tail: 'Only requests that were answered in this mode' },
    option: ['mode'],
  },
  upstream: {
    type: 'string',
    value: 'URL',
    meaning: 'Address of the live platform',
    meanings: { verify: 'Address of the live platform, where --target or --against says live' },
    option: ['upstream', 'baseUrl'],
  },
  recordings: {
    type: 'string',
    value: 'DIR',
    meaning: 'Folder of the recordings (fixtures/recordings)',
    option: ['recordings', 'dir'],
    isPath: true,
  },
  speed: {
    type: 'string',
    value: 'NUMBER',
    meaning: 'How fast recordings are played: 1 as recorded, 0 at once (1)',
    option: ['recordings', 'speed'],
  },
  'on-miss': {
    type: 'string',
    value: 'WHAT',
    meaning: 'Without a recording: fail, emulate or record (fail)',
    option: ['recordings', 'onMiss'],
  },
  state: {
    type: 'string',
    value: 'WHERE',
    meaning: 'Where state is kept: memory, file:PATH, postgres://… (file:.standin/state.db)',
    meanings: { exec: 'Where state is kept: memory, file:PATH, postgres://… (memory)' },
    option: ['state'],
  },
  seed: { type: 'string', value: 'NUMBER', meaning: 'Changes the canned replies (0)', option: ['seed'] },
  json: {
    type: 'boolean',
    meaning: 'Print JSON lines; the first one says that it is ready, and where',
    meanings: {
      exec: 'Say what happens as lines of JSON, on standard error',
      tail: 'Print each exchange as a line of JSON',
      verify: 'Print the report as JSON, like --reporter json',
    },
  },
  quiet: {
    type: 'boolean',
    meaning: 'Print problems only',
    meanings: {
      tail: 'Print requests only, and nothing about the connection',
      verify: 'Print broken clauses only, and no progress',
    },
  },
  help: { type: 'boolean', short: 'h', meaning: 'Show this' },
  version: { type: 'boolean', short: 'v', meaning: 'Show the version' },
  strict: {
    type: 'boolean',
    meaning: 'End with exit code 1 when a request had no recording',
    meanings: { verify: 'Let a decision that is not kept count as broken, too' },
    commands: [...starting, 'verify'],
  },
  'strict-unused': {
    type: 'boolean',
    meaning: 'The same, and when a recording was never asked for',
    commands: starting,
  },
  'fail-on-violation': {
    type: 'boolean',
    meaning: 'End with exit code 1 when an answer broke what the platform documents',
    commands: starting,
  },
  verbose: {
    type: 'boolean',
    meaning: 'Log bodies as well',
    meanings: { tail: 'Show bodies as well', exec: 'Log requests with their bodies on standard error' },
    commands: [...starting, 'tail'],
  },
  role: { type: 'string', value: 'ROLE', meaning: 'Of a token: anon, service or user (user)', commands: ['token'] },
  email: {
    type: 'string',
    value: 'ADDRESS',
    meaning: 'Whose token or key it is (the development user; without an owner); who signs in',
    meanings: {
      token: 'Whose token it is (the development user)',
      'key create': 'Whose key it is (without one the key has no owner)',
      login: 'Who signs in',
      verify: 'Who signs in at the target',
    },
    commands: ['token', 'key create', 'login', 'verify'],
  },
  'password-stdin': {
    type: 'boolean',
    meaning: 'Read the password from standard input',
    commands: ['login', 'verify'],
  },
  name: { type: 'string', value: 'NAME', meaning: 'What a key is called (command line)', commands: ['key create'] },
  'expires-in': {
    type: 'string',
    value: 'SECONDS',
    meaning: 'How long a token or key lives',
    meanings: { token: 'How long the token lives', 'key create': 'How long the key lives' },
    commands: ['token', 'key create'],
  },
  expired: { type: 'boolean', meaning: 'A token that has expired already', commands: ['token'] },
  model: {
    type: 'string',
    value: 'ID',
    meaning: 'The model that is asked (the first one; of tail, any)',
    meanings: {
      'replies try': 'The model that is asked (the first one)',
      tail: 'Only requests for such models: gpt-4o*',
      verify: 'The model that is asked (the first one)',
    },
    commands: ['replies try', 'tail', 'verify'],
  },
  system: { type: 'string', value: 'TEXT', meaning: 'A system message before the prompt', commands: ['replies try'] },
  tools: { type: 'string', value: 'NAMES', meaning: 'Tools that are offered: a,b', commands: ['replies try'] },
  stream: { type: 'boolean', meaning: 'Ask for a stream', commands: ['replies try'] },
  request: {
    type: 'string',
    value: 'FILE',
    meaning: 'A file with a chat request as JSON, - for standard input',
    commands: ['replies try'],
  },
  only: {
    type: 'string',
    value: 'GLOB',
    meaning: 'Only recordings of such names: chat-*; only such clauses: AUTH-*,Errors,documented',
    meanings: { drift: 'Only recordings of such names: chat-*', verify: 'Only such clauses: AUTH-*,Errors,documented' },
    commands: ['drift', 'verify'],
  },
  update: { type: 'boolean', meaning: 'Keep the live answers in place of the recorded ones', commands: ['drift'] },
  'fail-on': {
    type: 'string',
    value: 'SEVERITY',
    meaning: 'What makes the exit code 1: critical, warning or info (critical)',
    meanings: { verify: 'Which difference makes the exit code 1: critical, warning or info (critical)' },
    commands: ['drift', 'verify'],
  },
  concurrency: { type: 'string', value: 'NUMBER', meaning: 'Requests at the same time (4)', commands: ['drift'] },
  junit: { type: 'string', value: 'FILE', meaning: 'Write a report as JUnit XML, too', commands: ['drift'] },
  incomplete: {
    type: 'boolean',
    meaning: 'Remove recordings of answers that broke off',
    commands: ['recordings prune'],
  },
  'older-than': {
    type: 'string',
    value: 'AGE',
    meaning: 'Remove older recordings: 30d, 12h, 15m',
    commands: ['recordings prune'],
  },
  broken: { type: 'boolean', meaning: 'Remove recordings that cannot be read', commands: ['recordings prune'] },
  'dry-run': {
    type: 'boolean',
    meaning: 'Say what would be done, and do nothing',
    commands: ['recordings prune', 'recordings rename'],
  },
  base: {
    type: 'string',
    value: 'URL',
    meaning: 'Where the platform is in a HAR file (upstream.baseUrl)',
    commands: ['import', 'export'],
  },
  overwrite: { type: 'boolean', meaning: 'Replace what is recorded already', commands: ['import'] },
  yaml: { type: 'boolean', meaning: 'Print YAML instead of JSON', commands: ['openapi'] },
  url: {
    type: 'string',
    value: 'URL',
    meaning: 'Where the Standin is (PLATFORM_BASE_URL, or as configured)',
    commands: ['tail'],
  },
  'control-token': {
    type: 'string',
    value: 'TOKEN',
    meaning: 'What opens its control API, where others can reach it',
    commands: ['tail'],
  },
  last: { type: 'string', value: 'NUMBER', meaning: 'Show so many of the last requests first (0)', commands: ['tail'] },
  method: { type: 'string', value: 'METHOD', meaning: 'Only requests of this method', commands: ['tail'] },
  path: { type: 'string', value: 'GLOB', meaning: 'Only requests of such paths: /v1/*', commands: ['tail'] },
  endpoint: {
    type: 'string',
    value: 'GLOB',
    meaning: 'Only requests to such endpoints: *completions',
    commands: ['tail'],
  },
  status: { type: 'string', value: 'STATUS', meaning: 'Only such answers: 429, 4xx, none', commands: ['tail'] },
  caller: {
    type: 'string',
    value: 'KIND',
    meaning: 'Only of apiKey, user, anon, service, refused, anonymous',
    commands: ['tail'],
  },
  credential: {
    type: 'string',
    value: 'TEXT',
    meaning: 'Only such credentials: a name of a key, "revoked key", none',
    commands: ['tail'],
  },
  source: { type: 'string', value: 'TEXT', meaning: 'Only answers of such a rule or recording', commands: ['tail'] },
  scope: { type: 'string', value: 'NAME', meaning: 'Only requests of this scope', commands: ['tail'] },
  search: {
    type: 'string',
    value: 'TEXT',
    meaning: 'Only requests with this in path, status, source, model, error or credential',
    commands: ['tail'],
  },
  text: { type: 'string', value: 'TEXT', meaning: 'Only requests with this in their body', commands: ['tail'] },
  complete: {
    type: 'string',
    value: 'true|false',
    meaning: 'Only answers that came to their end, or did not',
    commands: ['tail'],
  },
  problems: { type: 'boolean', meaning: 'Only what was missed, refused, failed or cut', commands: ['tail'] },
  target: {
    type: 'string',
    value: 'URL',
    meaning: 'Base address of what is verified; live is upstream.baseUrl (a fresh stand-in)',
    commands: ['verify'],
  },
  auth: {
    type: 'string',
    value: 'URL',
    meaning: 'Address of its auth backend, without /auth/v1 (the same)',
    commands: ['verify'],
  },
  'api-key': { type: 'string', value: 'KEY', meaning: 'An API key of the target', commands: ['verify'] },
  'anon-key': { type: 'string', value: 'KEY', meaning: 'The anon key of the target', commands: ['verify'] },
  password: { type: 'string', value: 'TEXT', meaning: 'The password that goes with --email', commands: ['verify'] },
  reporter: {
    type: 'string',
    value: 'FORM',
    meaning: 'text, json, markdown or junit (text)',
    commands: ['verify'],
  },
  output: {
    type: 'string',
    value: 'FILE',
    meaning: 'Where the report is written (standard output)',
    commands: ['verify'],
  },
  against: {
    type: 'string',
    value: 'URL',
    meaning: 'Compare with another platform, too; live is upstream.baseUrl, or what was kept of it',
    commands: ['verify'],
  },
  'update-baseline': { type: 'boolean', meaning: 'Keep the shapes of the live answers', commands: ['verify'] },
  baseline: {
    type: 'string',
    value: 'FILE',
    meaning: 'Where they are kept (fixtures/contract-baseline.json)',
    commands: ['verify'],
  },
  'max-calls': { type: 'string', value: 'NUMBER', meaning: 'No more calls than this (60)', commands: ['verify'] },
} as const satisfies Record<string, Flag>

const known = new Map<string, Flag>(Object.entries(flags))

export interface CommandLine {
  /** The words that are not flags: `config check`. */
  readonly words: readonly string[]
  /** What `standin exec` runs: everything after `--`. */
  readonly child: readonly string[]
  readonly config: string | undefined
  readonly json: boolean
  readonly quiet: boolean
  /** What makes the exit code non-zero: missed recordings, or unused ones as well. */
  readonly strict: false | 'misses' | 'unused'
  readonly help: boolean
  readonly version: boolean
  readonly overrides: readonly Override[]
  /** Every given flag with its value. */
  readonly given: ReadonlyMap<string, string | true>
}

/** Throws a UsageError for an unknown flag, a missing value, or a value the flag does not take. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const { tokens, positionals } = parseArgs({
    args: [...argv],
    options: flags,
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const isExec = positionals[0] === 'exec'
  const given = new Map<string, string | true>()
  for (const token of tokens) {
    if (isExec && token.kind === 'option-terminator') break
    if (isExec && token.kind === 'positional' && token.value !== 'exec' && !given.has('help')) {
      throw withoutDashes(token.value)
    }
    if (token.kind !== 'option') continue
    given.set(token.name, valueIn(token))
  }
  const dashes = isExec ? tokens.find(({ kind }) => kind === 'option-terminator')?.index : undefined
  const child = dashes === undefined ? [] : argv.slice(dashes + 1)
  const words = positionals.slice(0, positionals.length - child.length)
  if (!given.has('help')) requireFitting(given, words.join(' ') || 'dev')
  const config = given.get('config')
  return {
    words,
    child,
    config: typeof config === 'string' ? config : undefined,
    json: given.has('json'),
    quiet: given.has('quiet'),
    strict: given.has('strict-unused') ? 'unused' : given.has('strict') && 'misses',
    help: given.has('help'),
    version: given.has('version'),
    overrides: [...overridesOf(given), ...modeOf(words, given)],
    given,
  }
}

const withoutDashes = (word: string) =>
  new UsageError(`Put -- before the command, so that its flags are its own: standin exec -- ${word}.`)

interface Token {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

function valueIn({ name, rawName, value, inlineValue }: Token): string | true {
  const flag = known.get(name)
  if (!flag) {
    const names = [...known.keys()].map(name => `--${name}`)
    throw new UsageError(`The flag ${rawName} is not known.${didYouMean(rawName, names)}`)
  }
  if (flag.type === 'boolean' && value !== undefined) throw new UsageError(`The flag --${name} takes no value.`)
  // "--port --json" is a forgotten number, not a port called "--json".
  if (flag.type === 'string' && (value === undefined || (!inlineValue && value.startsWith('-')))) {
    throw new UsageError(`The flag --${name} needs a value: --${name} ${flag.value}.`)
  }
  return value ?? true
}

/** The configuration options that flags set. */
function overridesOf(given: CommandLine['given']): readonly Override[] {
  return [...known].flatMap(([name, { option, isPath }]) => {
    const text = given.get(name)
    if (!option || typeof text !== 'string') return []
    // An empty path stays empty, so that it is rejected as it is in a configuration file.
    const value = isPath ? text && path.resolve(text) : fromText(option, text)
    return [{ path: option, value, origin: `--${name}` }]
  })
}

/** `standin record`, `standin replay` and `--mode` apply to all endpoints and override `modes`. */
function modeOf([command]: readonly string[], given: CommandLine['given']): readonly Override[] {
  if (command !== 'record' && command !== 'replay') {
    return given.has('mode') ? [{ path: ['modes'], value: {}, origin: '--mode' }] : []
  }
  if (given.has('mode')) throw new UsageError(`standin ${command} is the mode ${command} already: leave out --mode.`)
  const origin = `standin ${command}`
  return [
    { path: ['mode'], value: command, origin },
    { path: ['modes'], value: {}, origin },
  ]
}

// Created on demand: the first ListFormat loads a table, which takes longer than parsing the whole command line.
const listed = (words: readonly string[]) => new Intl.ListFormat('en-GB').format(words)

/** Throws a UsageError for a flag that the command would ignore. */
function requireFitting(given: CommandLine['given'], words: string): void {
  for (const name of given.keys()) {
    const commands = known.get(name)?.commands
    if (!commands || commands.some(command => words === command || words.startsWith(`${command} `))) continue
    throw new UsageError(`The flag --${name} belongs to ${listed(commands.map(command => `standin ${command}`))}.`)
  }
}

/** Throws a ProblemsError for what is wrong in the file, the environment or the flags. */
export const load = ({ config, overrides }: Pick<CommandLine, 'config' | 'overrides'>) =>
  loadConfig({ cwd: process.cwd(), file: config, flags: overrides, env: process.env })
