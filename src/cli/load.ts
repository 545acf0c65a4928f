/** Loads the configuration for commands that start no platform. */
import { readYaml } from '../check/yaml.js'
import { configIn } from '../config/load.js'
import type { Platform } from '../platform.js'
import { type ConfigLine, sourcesOf } from './command.js'

export const load = (line: ConfigLine) => configIn(sourcesOf(line), readYaml)

/** Opens what the configuration describes, without a port and without its stored state, calls `look`, and closes it. */
export async function lookInto<T>(line: ConfigLine, look: (platform: Platform) => Promise<T>): Promise<T> {
  const { openPlatform } = await import('../platform.js')
  const state = { path: ['state'], value: 'memory', origin: 'standin' }
  const platform = await openPlatform({ ...sourcesOf(line), flags: [...line.overrides, state], listen: false })
  return look(platform).finally(platform.stop)
}
