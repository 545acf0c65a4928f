/** The configuration, for commands that read it at once and open no platform. */
import { readYaml } from '../check/yaml.js'
import { configIn } from '../config/load.js'
import type { CommandLine } from './command.js'

/** Throws a ProblemsError for what is wrong in the file, the environment or the flags. */
export const load = ({
  flags,
  overrides,
}: { flags: { config: string | undefined } } & Pick<CommandLine, 'overrides'>) =>
  configIn({ cwd: process.cwd(), file: flags.config, flags: overrides, env: process.env }, readYaml)
