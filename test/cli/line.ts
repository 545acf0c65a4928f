/** Command lines as commands receive them. */
import { readCommandLine } from '../../src/cli/arguments.js'
import type { CommandLine, Flags, runFlags } from '../../src/cli/command.js'

export { readCommandLine }

/** Reads a command line with the flags of its command. Rejects one that asks for help or the version. */
export async function lineOf<F extends Flags = typeof runFlags>(argv: readonly string[]): Promise<CommandLine<F>> {
  const wish = await readCommandLine(argv)
  if (wish.kind !== 'run') throw new Error(`${argv.join(' ')} runs nothing.`)
  return wish.line as unknown as CommandLine<F>
}
