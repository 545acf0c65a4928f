/** The command line: which command, and what its end means to the shell. */

import { ProblemsError, wordProblem } from '../core/problem.js'
import { StartError, UsageError } from '../core/start-error.js'
import { didYouMean } from '../core/suggest.js'
import { version } from '../version.js'
import { readCommandLine } from './arguments.js'
import { dev } from './dev.js'

const EXIT_FAILED = 1
/** Something in the files, the flags or the environment is wrong. */
const EXIT_BAD_INPUT = 2

async function follow(argv: readonly string[]): Promise<void> {
  // Whoever read our output has gone (`standin | head -1`); there is nobody left to tell.
  process.stdout.on('error', () => process.exit(0))
  const commandLine = readCommandLine(argv)
  const [command = 'dev', ...more] = commandLine.words
  if (commandLine.version) return console.log(version)
  if (commandLine.help || command === 'help') {
    const { helpText } = await import('./help.js')
    return console.log(helpText())
  }
  if (command === 'dev' && more.length === 0) return dev(commandLine)
  if (command === 'token' || (command === 'key' && more[0] === 'create')) {
    const { mintKey, mintToken } = await import('./mint.js')
    return void process.stdout.write(await (command === 'token' ? mintToken : mintKey)(commandLine))
  }
  if (command === 'key') throw new UsageError('standin key needs one of: create.')
  const { isConfigCommand, runConfigCommand } = await import('./config.js')
  if (isConfigCommand(command)) return void process.stdout.write(await runConfigCommand(commandLine))
  if (command === 'dev') throw new UsageError(`standin dev takes no further words, such as ${more[0]}.`)
  throw new UsageError(
    `"${command}" is not a command.${didYouMean(command, ['dev', 'token', 'key', 'config', 'replies', 'help'])}`,
  )
}

/** Says in sentences why it ends, and gives back the exit code. Only what is our own mistake comes with its stack. */
function explain(error: unknown): number {
  if (error instanceof ProblemsError) {
    for (const problem of error.problems) console.error(wordProblem(problem))
    return EXIT_BAD_INPUT
  }
  if (error instanceof UsageError) {
    console.error(`${error.message} See standin --help.`)
    return EXIT_BAD_INPUT
  }
  console.error(error instanceof StartError ? error.message : error)
  return EXIT_FAILED
}

/** Does what the command line says. When it cannot, the process ends with an exit code that says why. */
export async function run(argv: readonly string[]): Promise<void> {
  try {
    await follow(argv)
  } catch (error) {
    process.exit(explain(error))
  }
}
