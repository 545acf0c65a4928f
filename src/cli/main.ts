/** The command line: runs the command, and turns its result into an exit code. */
import path from 'node:path'
import { ProblemsError, problemInWords, StartError, UsageError } from '../check/problem.js'
import { PlatformError } from '../core/errors.js'
import { stringifyExact } from '../core/json.js'
import { version } from '../version.js'
import { leadingWords, readCommandLine, unknownCommand } from './arguments.js'
import type { CommandLine, CommandResult, outputFlags } from './command.js'
import { groupOf, helpText } from './commands.js'

const EXIT_FAILED = 1
/** The exit code for invalid files, flags or environment variables. */
const EXIT_BAD_INPUT = 2

/** The file that our output goes to is not complete. */
const fullDisk = new Set(['ENOSPC', 'EDQUOT', 'EFBIG'])

async function execute(argv: readonly string[]): Promise<void> {
  const parsed = await readCommandLine(argv)
  const isServer = parsed.kind === 'run' && parsed.command.isServer
  process.stdout.on('error', ({ code = '' }: NodeJS.ErrnoException) => {
    // Usually the reader of our output has closed it (`standin | head -1`). A server still has its clients; other
    // commands have nothing left to do.
    if (!fullDisk.has(code)) return isServer || process.exit(0)
    console.error(`Standard output cannot be written (${code}).`)
    process.exit(EXIT_FAILED)
  })
  // Standard error is optional: a platform, and the child of `standin exec`, continue without it.
  process.stderr.on('error', () => {})
  if (parsed.kind === 'version') return console.log(version)
  if (parsed.kind === 'run') return print(await parsed.command.run(parsed.line), parsed.line)
  const text = await helpText(parsed.words)
  if (text === undefined) throw unknownCommand(parsed.words)
  process.stdout.write(text)
}

function print(result: CommandResult, { flags }: Pick<CommandLine<Partial<typeof outputFlags>>, 'flags'>): void {
  if (typeof result === 'number') process.exit(result)
  if (typeof result === 'string') process.stdout.write(result)
  if (typeof result !== 'object') return
  if (flags.json) process.stdout.write(`${stringifyExact(result.data, 2)}\n`)
  else if (!flags.quiet) process.stdout.write(result.text)
}

/** Prints why the process ends, and returns the exit code. Only internal errors are printed with a stack trace. */
function explain(error: unknown, argv: readonly string[]): number {
  if (error instanceof ProblemsError) {
    for (const problem of error.problems) console.error(problemInWords(problem))
    return EXIT_BAD_INPUT
  }
  if (error instanceof UsageError) {
    const [command = ''] = leadingWords(argv)
    console.error(`${error.message} See standin ${groupOf(command).length > 0 ? `${command} ` : ''}--help.`)
    return EXIT_BAD_INPUT
  }
  const isSentence = error instanceof StartError || error instanceof PlatformError
  console.error(isSentence ? error.message : (systemErrorText(error) ?? error))
  return EXIT_FAILED
}

/** The sentence for an error of the file system: a full disk or a missing permission is not an internal error. */
function systemErrorText(error: unknown): string | undefined {
  const { code, syscall, path: file } = error as NodeJS.ErrnoException
  if (file === undefined) return undefined
  return problemInWords({ origin: path.relative('', file), sentence: `cannot be written (${code}, ${syscall}).` })
}

/** Runs the command line. On failure the process ends with an exit code that says why. */
export async function run(argv: readonly string[]): Promise<void> {
  try {
    await execute(argv)
  } catch (error) {
    process.exit(explain(error, argv))
  }
}
