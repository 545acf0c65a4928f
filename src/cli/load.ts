/** Loads the configuration for commands that start no platform. */
import { readYaml } from '../check/yaml.js'
import { configIn } from '../config/load.js'
import type { Platform } from '../platform.js'
import type { CommandLine } from './command.js'

type Line = { flags: { config: string | undefined } } & Pick<CommandLine, 'overrides'>

/** Throws a ProblemsError for mistakes in the file, the environment or the flags. */
export const load = (line: Line) => configIn(sourcesOf(line), readYaml)

/**
 * Opens what the configuration describes, without a port and without its stored state, calls `look`, and closes it.
 * Rejects with a ProblemsError for mistakes in the configuration or its rules.
 */
export async function lookInto<T>(line: Line, look: (platform: Platform) => Promise<T>): Promise<T> {
  const { openPlatform } = await import('../platform.js')
  const { flags, ...sources } = sourcesOf(line)
  const state = { path: ['state'], value: 'memory', origin: 'standin' }
  const platform = await openPlatform({ ...sources, flags: [...flags, state], listen: false })
  return look(platform).finally(platform.stop)
}

const sourcesOf = ({ flags, overrides }: Line) => ({
  ...{ cwd: process.cwd(), file: flags.config, flags: overrides, env: process.env },
})
