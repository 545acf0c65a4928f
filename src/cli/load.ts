/** Loads the configuration for commands that do not open a platform. */
import { readYaml } from '../check/yaml.js'
import { configIn } from '../config/load.js'
import type { CommandLine } from './command.js'

/** Throws a ProblemsError for mistakes in the file, the environment or the flags. */
export const load = ({
  flags,
  overrides,
}: { flags: { config: string | undefined } } & Pick<CommandLine, 'overrides'>) =>
  configIn({ cwd: process.cwd(), file: flags.config, flags: overrides, env: process.env }, readYaml)
