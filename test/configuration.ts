/** The configuration as it is read, at once. */
import { readYaml } from '../src/check/yaml.js'
import { type ConfigSources, configIn } from '../src/config/load.js'

export const loadConfig = (sources: ConfigSources) => configIn(sources, readYaml)
