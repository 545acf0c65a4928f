/** Defines a command: its flags, help and code are in one file. Also the flags that all commands share. */
import { UsageError } from '../check/problem.js'
import type { Override } from '../config/load.js'

/** A flag, with the value that a command gets for it. */
export interface Flag<T = unknown> {
  readonly type: 'string' | 'boolean'
  readonly short?: string
  /** Placeholder for the value in the help. */
  readonly value?: string
  readonly meaning: string
  /** Left out of the help. */
  readonly isHidden?: boolean
  /** The configuration option that the flag sets. */
  readonly option?: readonly string[]
  /** The value is a path relative to the current folder. (In a configuration file, paths are relative to that file.) */
  readonly isPath?: boolean
  /** Parses the value; also called if the flag is not given. Throws a UsageError for an invalid value. */
  read(written: string | undefined, name: string): T
}

export type Flags = Readonly<Record<string, Flag>>

type Values<F extends Flags> = { readonly [Name in keyof F]: F[Name] extends Flag<infer T> ? T : never }

export const text = (value: string, meaning: string): Flag<string | undefined> => ({
  ...{ type: 'string', value, meaning },
  read: written => written,
})

export const fileName = (meaning: string): Flag<string | undefined> => ({
  ...text('FILE', meaning),
  read(written, name) {
    if (written === '') throw new UsageError(`--${name} must name a file.`)
    return written
  },
})

/** A flag with the file for what is usually printed. A dash is standard output. */
export function outputFile(meaning: string): Flag<string | undefined> {
  const flag = fileName(`${meaning} (standard output)`)
  return { ...flag, read: (written, name) => flag.read(written === '-' ? undefined : written, name) }
}

export const yes = (meaning: string): Flag<boolean> => ({
  ...{ type: 'boolean', meaning },
  read: written => written !== undefined,
})

export function whole<const T extends number | undefined>(
  [least, most]: readonly [number, number],
  meaning: string,
  initial: T,
): Flag<number | T> {
  return {
    ...{ type: 'string', value: 'NUMBER', meaning },
    read(written, name) {
      if (written === undefined) return initial
      const number = /^\d{1,10}$/.test(written) ? Number(written) : Number.NaN
      if (number >= least && number <= most) return number
      throw new UsageError(`--${name} must be a whole number from ${least} to ${most}, not "${written}".`)
    },
  }
}

export function oneOf<const T extends string, const I extends T | undefined>(
  words: readonly T[],
  [value, meaning]: readonly [string, string],
  initial: I,
): Flag<T | I> {
  return {
    ...{ type: 'string', value, meaning },
    read(written, name) {
      if (written === undefined) return initial
      const word = words.find(word => word === written)
      if (word !== undefined) return word
      throw new UsageError(`--${name} must be one of ${words.join(', ')}, not "${written}".`)
    },
  }
}

const option = (flag: Flag<string | undefined>, ...option: readonly string[]) => ({ ...flag, option })

/** The flags of every command: those for the configuration, and those for output. */
export const sharedFlags = {
  config: fileName('Configuration file (default: platform.config.yaml, if it exists)'),
  host: option(text('ADDRESS', 'Address to listen on (127.0.0.1)'), 'host'),
  port: option(text('NUMBER', 'Port to listen on; 0 takes any free one (4100)'), 'port'),
  mode: option(text('MODE', 'emulate, proxy, record or replay (emulate)'), 'mode'),
  upstream: option(text('URL', 'Address of the live platform'), 'upstream', 'baseUrl'),
  recordings: {
    ...option(text('DIR', 'Folder of the recordings (fixtures/recordings)'), 'recordings', 'dir'),
    isPath: true,
  },
  speed: option(text('NUMBER', 'Speed of replay: 1 as recorded, 0 without pauses (1)'), 'recordings', 'speed'),
  'on-miss': option(text('WHAT', 'Without a recording: fail, emulate or record (fail)'), 'recordings', 'onMiss'),
  state: option(
    text('WHERE', 'Where state is kept: memory, file:PATH, postgres://… (file:.standin/state.db)'),
    'state',
  ),
  seed: option(text('NUMBER', 'Changes the made-up replies (0)'), 'seed'),
  json: yes('Print JSON lines; the first one says when and where it is ready'),
  quiet: yes('Print problems only'),
  help: { ...yes('Show this help'), short: 'h' },
  version: { ...yes('Show the version'), short: 'v' },
} as const satisfies Flags

export const runFlags = {
  strict: yes('End with exit code 1 when a request had no recording'),
  'strict-unused': yes('The same, and also when a recording was never used'),
  'fail-on-violation': yes('End with exit code 1 when an answer violated the contract'),
  verbose: yes('Log bodies as well'),
} as const satisfies Flags

// biome-ignore lint/complexity/noBannedTypes: no flags of its own
export interface CommandLine<F extends Flags = {}> {
  /** `recordings show`. */
  readonly name: string
  readonly words: readonly string[]
  /** The command that `standin exec` runs: everything after `--`. */
  readonly child: readonly string[]
  readonly flags: Values<Omit<typeof sharedFlags, keyof F> & F>
  /** The options set by flags. */
  readonly overrides: readonly Override[]
}

/** What tells a command which configuration to read. */
export type ConfigLine = { readonly flags: { readonly config: string | undefined } } & Pick<CommandLine, 'overrides'>

/** The configuration that a command line asks for, in the folder where the command runs. */
export function sourcesOf({ flags, overrides }: ConfigLine) {
  return { cwd: process.cwd(), file: flags.config, flags: overrides, env: process.env }
}

export type RunFlags = CommandLine<typeof runFlags>['flags']

/** The result of a command: text for people or, with --json, a document. With --quiet no text is printed. */
export interface Result {
  readonly data: object
  readonly words: string
}

export type CommandResult = Result | string | number | undefined

// biome-ignore lint/complexity/noBannedTypes: no flags of its own
export interface Command<F extends Flags = {}> {
  /** Its own flags, and shared ones to list in its help, perhaps with another description. */
  readonly flags: F
  readonly examples?: readonly (readonly [line: string, meaning: string])[]
  run(line: CommandLine<F>): CommandResult | Promise<CommandResult>
}

/** Infers the flags of a command. */
export const command = <const F extends Flags>(of: Command<F>): Command<F> => of
