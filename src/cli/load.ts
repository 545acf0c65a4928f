/** Loads the configuration, for commands that do not open a port. */
import { readYaml } from '../check/yaml.js'
import { configIn } from '../platform/config/load.js'
import type { Platform } from '../platform.js'
import { type ConfigLine, configSources } from './command.js'

export const loadedConfig = (line: ConfigLine) => configIn(configSources(line), readYaml)

/** Opens the configured platform without a port and with an empty state, calls `work` with it, and stops it. */
export async function withPlatform<T>(line: ConfigLine, work: (platform: Platform) => Promise<T>): Promise<T> {
  const { openPlatform } = await import('../platform.js')
  // Read with its own state first, so that a wrong one is refused as a start would refuse it.
  const loaded = loadedConfig(line)
  const inMemory = { ...loaded, config: { ...loaded.config, state: 'memory' } }
  const platform = await openPlatform({ ...configSources(line), listen: false }, inMemory)
  return work(platform).finally(platform.stop)
}
