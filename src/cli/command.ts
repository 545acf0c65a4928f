/** Defines a command: its flags, help and code are in one file. Also the flags that several commands share. */
import { UsageError } from '../check/problem.js'
import type { Override } from '../platform/config/load.js'

/** A flag; `T` is the type of its parsed value. */
export interface Flag<T = unknown> {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** The placeholder for the value in the help, such as `FILE`. */
  readonly value?: string
  readonly meaning: string
  readonly option?: readonly string[]
  /** The value is a path relative to the current folder. (In a configuration file, paths are relative to that file.) */
  readonly isPath?: boolean
  /** Parses the value; also called if the flag is not given. Throws a UsageError for an invalid value. */
  parse(input: string | undefined, name: string): T
}

export type Flags = Readonly<Record<string, Flag>>

type FlagValues<F extends Flags> = { readonly [Name in keyof F]: F[Name] extends Flag<infer T> ? T : never }

export const textFlag = (value: string, meaning: string): Flag<string | undefined> => ({
  type: 'string',
  value,
  meaning,
  parse: input => input,
})

export const fileName = (meaning: string): Flag<string | undefined> => ({
  ...textFlag('FILE', meaning),
  parse(input, name) {
    if (input === '') throw new UsageError(`--${name} must name a file.`)
    return input
  },
})

/** A flag without a value. */
export const toggle = (meaning: string): Flag<boolean> => ({
  type: 'boolean',
  meaning,
  parse: input => input !== undefined,
})

/** A flag for a whole number; `initial` is its value if the flag is not given. */
export function integer<const T extends number | undefined>(
  [minimum, maximum]: readonly [number, number],
  meaning: string,
  initial: T,
): Flag<number | T> {
  return {
    type: 'string',
    value: 'NUMBER',
    meaning,
    parse(input, name) {
      if (input === undefined) return initial
      const number = /^\d{1,10}$/.test(input) ? Number(input) : Number.NaN
      if (number >= minimum && number <= maximum) return number
      throw new UsageError(`--${name} must be a whole number from ${minimum} to ${maximum}, not "${input}".`)
    },
  }
}

export function wordFlag<const T extends string, const I extends T | undefined>(
  words: readonly T[],
  [value, meaning]: readonly [string, string],
  initial: I,
): Flag<T | I> {
  return {
    type: 'string',
    value,
    meaning,
    parse(input, name) {
      if (input === undefined) return initial
      const word = words.find(word => word === input)
      if (word !== undefined) return word
      throw new UsageError(`--${name} must be one of ${words.join(', ')}, not "${input}".`)
    },
  }
}

/** A flag that sets the configuration option at this path. */
const option = (flag: Flag<string | undefined>, ...option: readonly string[]) => ({ ...flag, option })

/** The flags that every command takes. They are answered before it runs. */
export const flagsOfAll = {
  help: { ...toggle('Show this help'), short: 'h' },
  version: { ...toggle('Show the version'), short: 'v' },
} as const satisfies Flags

export const configFlag = {
  config: fileName('Configuration file (default: platform.config.yaml, .yml or .json)'),
} as const satisfies Flags

/** The flags that say where the platform listens. */
export const addressFlags = {
  ...configFlag,
  host: option(textFlag('ADDRESS', 'Address to listen on (127.0.0.1)'), 'host'),
  port: option(textFlag('NUMBER', 'Port to listen on; 0 for any free one (4100)'), 'port'),
} as const satisfies Flags

/** The flags that set options, for commands that start a platform or look at a whole configuration. */
export const optionFlags = {
  ...addressFlags,
  mode: option(textFlag('MODE', 'emulate, proxy, record or replay (emulate)'), 'mode'),
  upstream: option(textFlag('URL', 'Address of the live platform'), 'upstream', 'baseUrl'),
  recordings: {
    ...option(textFlag('DIR', 'Folder of the recordings (fixtures/recordings)'), 'recordings', 'dir'),
    isPath: true,
  },
  speed: option(textFlag('NUMBER', 'Speed of replay: 1 as recorded, 0 without pauses (1)'), 'recordings', 'speed'),
  'on-miss': option(
    textFlag('WHAT', 'If there is no recording: fail, nearest, any, emulate or record (fail)'),
    'recordings',
    'onMiss',
  ),
  state: option(
    textFlag('WHERE', 'Where state is kept: memory, file:PATH, postgres://… (file:.standin/state.db)'),
    'state',
  ),
  seed: option(textFlag('NUMBER', 'Changes the made-up replies (0)'), 'seed'),
} as const satisfies Flags

/** For commands whose result is a report. */
export const outputFlags = {
  json: toggle('Print JSON instead of text'),
  quiet: toggle('Print only problems'),
} as const satisfies Flags

/** For commands that work on the folder of recordings. */
export const folderFlags = {
  ...configFlag,
  recordings: optionFlags.recordings,
  ...outputFlags,
} as const satisfies Flags

export const runFlags = {
  ...optionFlags,
  json: toggle('Print events as JSON lines; the first one has the address'),
  quiet: outputFlags.quiet,
  strict: toggle('Exit with code 1 if a request had no recording'),
  'strict-unused': toggle('Like --strict, and also if a recording was never used'),
  whole: toggle('All tests run, so that recordings of other tests are unused'),
  'fail-on-violation': toggle('Exit with code 1 if an answer violated the contract'),
  verbose: toggle('Also log bodies'),
} as const satisfies Flags

// biome-ignore lint/complexity/noBannedTypes: no flags of its own
export interface CommandLine<F extends Flags = {}> {
  /** `recordings scan`. */
  readonly name: string
  /** The word by which it was called: `dev`, `start`, `record`. */
  readonly word: string
  /** The words after the name, without flags. */
  readonly args: readonly string[]
  /** The command that `standin exec` runs: everything after `--`. */
  readonly child: readonly string[]
  readonly flags: FlagValues<F>
  readonly overrides: readonly Override[]
}

/** The part of a command line that says which configuration to read. */
export type ConfigLine = { readonly flags: { readonly config: string | undefined } } & Pick<CommandLine, 'overrides'>

/** Where to read the configuration from, for a command that runs in the current folder. */
export function configSources({ flags, overrides }: ConfigLine) {
  return { cwd: process.cwd(), file: flags.config, flags: overrides, env: process.env }
}

export type RunFlags = Omit<CommandLine<typeof runFlags>['flags'], 'mode'>

/** The result of a command: text for people or, with --json, a document. With --quiet no text is printed. */
export interface Result {
  readonly data: object
  readonly text: string
}

export type CommandResult = Result | string | number | undefined

// biome-ignore lint/complexity/noBannedTypes: no flags of its own
export interface Command<F extends Flags = {}> {
  /** All flags that it takes, apart from those of every command. */
  readonly flags: F
  readonly examples?: readonly (readonly [line: string, meaning: string])[]
  /** Whether it goes on when the reader of its output has left. */
  readonly isServer?: boolean
  run(line: CommandLine<F>): CommandResult | Promise<CommandResult>
}

/** Infers the flags of a command. */
export const command = <const F extends Flags>(definition: Command<F>): Command<F> => definition
