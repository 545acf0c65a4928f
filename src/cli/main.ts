/** The command line: runs the command, and turns its result into an exit code. */
import path from 'node:path'
import { ProblemsError, StartError, UsageError, wordProblem } from '../check/problem.js'
import { didYouMean } from '../check/suggest.js'
import { version } from '../version.js'
import { type CommandLine, readCommandLine } from './arguments.js'
import { dev } from './dev.js'

const EXIT_FAILED = 1
/** The exit code for invalid files, flags or environment variables. */
const EXIT_BAD_INPUT = 2

/** Runs a command. A returned string is printed. */
type Command = (commandLine: CommandLine) => Promise<unknown>

/** Each command is loaded on demand. */
const commands: Readonly<Record<string, () => Promise<Command>>> = {
  dev: async () => dev,
  record: async () => dev,
  replay: async () => dev,
  drift: async () => (await import('./drift.js')).drift,
  verify: async () => (await import('./verify.js')).verify,
  recordings: async () => (await import('./recordings/recordings.js')).runRecordingsCommand,
  tail: async () => (await import('./tail/tail.js')).tail,
  import: async () => (await import('./har.js')).importRecordings,
  export: async () => (await import('./har.js')).exportRecordings,
  exec: async () => {
    const { exec } = await import('./exec.js')
    return async commandLine => process.exit(await exec(commandLine))
  },
  login: async () => (await import('./login.js')).login,
  logout: async () => (await import('./login.js')).logout,
  token: async () => (await import('./mint.js')).mintToken,
  key: async () => (await import('./mint.js')).mintKey,
  openapi: async () => (await import('./config.js')).printOpenApi,
  config: async () => (await import('./config.js')).runConfigCommand,
  replies: async () => (await import('./config.js')).runConfigCommand,
}

/** Commands that take no further words. */
const alone = new Set(['dev', 'record', 'replay', 'drift', 'verify', 'openapi', 'tail', 'login', 'logout'])

async function follow(argv: readonly string[]): Promise<void> {
  // The reader of our output has gone (`standin | head -1`), so there is nothing left to do.
  process.stdout.on('error', () => process.exit(0))
  // Standard error is optional: a platform, and the child of `standin exec`, continue without it.
  process.stderr.on('error', () => {})
  const commandLine = readCommandLine(argv)
  const [name = 'dev', first] = commandLine.words
  if (commandLine.version) return console.log(version)
  if (commandLine.help || name === 'help') {
    const { helpText } = await import('./help.js')
    const text = helpText(commandLine.words.filter(word => word !== 'help'))
    if (text !== undefined) return void process.stdout.write(text)
    throw notKnown(name === 'help' ? (first ?? name) : name)
  }
  const load = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!load) throw notKnown(name)
  if (alone.has(name) && first !== undefined)
    throw new UsageError(`standin ${name} takes no further words, such as ${first}.`)
  if (name === 'key' && first !== 'create') throw new UsageError('standin key needs one of: create.')
  const command = await load()
  const text = await command(commandLine)
  if (typeof text === 'string') process.stdout.write(text)
}

const notKnown = (name: string) =>
  new UsageError(`"${name}" is not a command.${didYouMean(name, [...Object.keys(commands), 'help'])}`)

/** Prints why the process ends, and returns the exit code. Only internal errors are printed with a stack trace. */
function explain(error: unknown, argv: readonly string[]): number {
  if (error instanceof ProblemsError) {
    for (const problem of error.problems) console.error(wordProblem(problem))
    return EXIT_BAD_INPUT
  }
  if (error instanceof UsageError) {
    const command = argv.find(word => !word.startsWith('-')) ?? ''
    const known = Object.hasOwn(commands, command) ? `${command} ` : ''
    console.error(`${error.message} See standin ${known}--help.`)
    return EXIT_BAD_INPUT
  }
  console.error(error instanceof StartError ? error.message : (refusedBySystem(error) ?? error))
  return EXIT_FAILED
}

/** A full disk or missing permissions are not internal errors. */
function refusedBySystem(error: unknown): string | undefined {
  const { code, syscall, path: place } = error as NodeJS.ErrnoException
  if (place === undefined) return undefined
  return wordProblem({ origin: path.relative('', place), sentence: `cannot be written (${code}, ${syscall}).` })
}

/** Runs the command line. On failure the process ends with an exit code that says why. */
export async function run(argv: readonly string[]): Promise<void> {
  try {
    await follow(argv)
  } catch (error) {
    process.exit(explain(error, argv))
  }
}
