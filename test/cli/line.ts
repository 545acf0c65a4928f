/** Command lines as commands get them. */
import { readCommandLine } from '../../src/cli/arguments.js'
import type { CommandLine, Flags, runFlags } from '../../src/cli/command.js'

export const wishOf = readCommandLine

/** With the flags of its command, whichever that is. Rejects where a command line is about help or the version. */
export async function lineOf<F extends Flags = typeof runFlags>(argv: readonly string[]): Promise<CommandLine<F>> {
  const wish = await readCommandLine(argv)
  if (wish.kind !== 'run') throw new Error(`${argv.join(' ')} runs nothing.`)
  return wish.line as unknown as CommandLine<F>
}
