/** Loads the configuration synchronously. */
import { readYaml } from '../src/check/yaml.js'
import { type ConfigSources, configIn } from '../src/platform/config/load.js'

export const loadConfig = (sources: ConfigSources) => configIn(sources, readYaml)
