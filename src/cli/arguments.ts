/** Reads the command line: which command, which flags. */
import { parseArgs } from 'node:util'
import type { Override } from '../config/load.js'
import { fromText } from '../config/options.js'
import { UsageError } from '../core/start-error.js'
import { didYouMean } from '../core/suggest.js'

interface Flag {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** What stands for the value in the help. */
  readonly value?: string
  readonly meaning: string
  /** The option of the configuration that the flag sets. */
  readonly option?: readonly string[]
  /** The commands that take it, where not all do. */
  readonly commands?: readonly string[]
}

export const flags = {
  config: {
    type: 'string',
    value: 'FILE',
    meaning: 'Configuration file (default: platform.config.yaml, if it is there)',
  },
  host: { type: 'string', value: 'ADDRESS', meaning: 'Address to listen on (127.0.0.1)', option: ['host'] },
  port: {
    type: 'string',
    value: 'NUMBER',
    meaning: 'Port to listen on; 0 takes any free one (4100)',
    option: ['port'],
  },
  mode: { type: 'string', value: 'MODE', meaning: 'emulate or proxy (emulate)', option: ['mode'] },
  upstream: { type: 'string', value: 'URL', meaning: 'Address of the live platform', option: ['upstream', 'baseUrl'] },
  state: {
    type: 'string',
    value: 'WHERE',
    meaning: 'Where state is kept: memory, file:PATH, postgres://… (file:.standin/state.db)',
    option: ['state'],
  },
  seed: { type: 'string', value: 'NUMBER', meaning: 'Changes the canned replies (0)', option: ['seed'] },
  role: { type: 'string', value: 'ROLE', meaning: 'Of a token: anon, service or user (user)', commands: ['token'] },
  email: {
    type: 'string',
    value: 'ADDRESS',
    meaning: 'Whose token or key it is (token: the development user; key: nobody)',
    commands: ['token', 'key create'],
  },
  name: { type: 'string', value: 'NAME', meaning: 'What a key is called (command line)', commands: ['key create'] },
  'expires-in': {
    type: 'string',
    value: 'SECONDS',
    meaning: 'How long a token or key lives',
    commands: ['token', 'key create'],
  },
  expired: { type: 'boolean', meaning: 'A token that has expired already', commands: ['token'] },
  model: { type: 'string', value: 'ID', meaning: 'The model that is asked (the first one)', commands: ['replies try'] },
  system: { type: 'string', value: 'TEXT', meaning: 'A system message before the prompt', commands: ['replies try'] },
  tools: { type: 'string', value: 'NAMES', meaning: 'Tools that are offered: a,b', commands: ['replies try'] },
  stream: { type: 'boolean', meaning: 'Ask for a stream', commands: ['replies try'] },
  request: {
    type: 'string',
    value: 'FILE',
    meaning: 'A file with a chat request as JSON, - for standard input',
    commands: ['replies try'],
  },
  json: { type: 'boolean', meaning: 'Print JSON lines; the first one says that it is ready, and where' },
  quiet: { type: 'boolean', meaning: 'Print problems only' },
  help: { type: 'boolean', short: 'h', meaning: 'Show this' },
  version: { type: 'boolean', short: 'v', meaning: 'Show the version' },
} as const satisfies Record<string, Flag>

const known = new Map<string, Flag>(Object.entries(flags))

export interface CommandLine {
  /** The words that are no flags: `config check`. */
  readonly words: readonly string[]
  readonly config: string | undefined
  readonly json: boolean
  readonly quiet: boolean
  readonly help: boolean
  readonly version: boolean
  readonly overrides: readonly Override[]
  /** Every flag that was given, with its value. */
  readonly given: ReadonlyMap<string, string | true>
}

/** Throws a UsageError for a flag that is not known, lacks its value or has one that it does not take. */
export function readCommandLine(argv: readonly string[]): CommandLine {
  const { tokens, positionals } = parseArgs({
    args: [...argv],
    options: flags,
    strict: false,
    tokens: true,
    allowPositionals: true,
  })
  const given = new Map<string, string | true>()
  for (const token of tokens) {
    if (token.kind !== 'option') continue
    const flag = known.get(token.name)
    if (!flag) {
      const names = [...known.keys()].map(name => `--${name}`)
      throw new UsageError(`The flag ${token.rawName} is not known.${didYouMean(token.rawName, names)}`)
    }
    if (flag.type === 'boolean' && token.value !== undefined)
      throw new UsageError(`The flag --${token.name} takes no value.`)
    // "--port --json" is a forgotten number, not a port called "--json".
    if (flag.type === 'string' && (token.value === undefined || (!token.inlineValue && token.value.startsWith('-')))) {
      throw new UsageError(`The flag --${token.name} needs a value: --${token.name} ${flag.value}.`)
    }
    given.set(token.name, token.value ?? true)
  }
  if (!given.has('help')) requireFitting(given, positionals.join(' '))
  const overrides = [...known].flatMap(([name, { option }]) => {
    const value = given.get(name)
    return option && typeof value === 'string'
      ? [{ path: option, value: fromText(option, value), origin: `--${name}` }]
      : []
  })
  const config = given.get('config')
  return {
    words: positionals,
    config: typeof config === 'string' ? config : undefined,
    json: given.has('json'),
    quiet: given.has('quiet'),
    help: given.has('help'),
    version: given.has('version'),
    overrides,
    given,
  }
}

/** A flag that its command would not look at is a mistake of whoever gave it. */
function requireFitting(given: ReadonlyMap<string, unknown>, words: string): void {
  for (const name of given.keys()) {
    const commands = known.get(name)?.commands
    if (!commands || commands.some(command => words === command || words.startsWith(`${command} `))) continue
    throw new UsageError(
      `The flag --${name} belongs to ${commands.map(command => `standin ${command}`).join(' and ')}.`,
    )
  }
}
