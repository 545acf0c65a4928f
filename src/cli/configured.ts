/** The configuration that a command was given. */
import { loadConfig } from '../config/load.js'
import type { CommandLine } from './arguments.js'

/** Throws a ProblemsError for what is wrong in the file, the environment or the flags. */
export const load = ({ config, overrides }: Pick<CommandLine, 'config' | 'overrides'>) =>
  loadConfig({ cwd: process.cwd(), file: config, flags: overrides, env: process.env })
