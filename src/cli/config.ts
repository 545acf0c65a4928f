/** `standin config …` and `standin replies …`: what is configured, what could be, and whether it is right. */

import { jsonSchemaOf } from '../config/json-schema.js'
import { loadConfig, replyFilesOf } from '../config/load.js'
import { configReference, printConfig } from '../config/print.js'
import { configSchema } from '../config/schema.js'
import { signingKeysOf } from '../config/signing-keys.js'
import { UsageError } from '../core/start-error.js'
import { didYouMean } from '../core/suggest.js'
import { loadRules, rulesSchema } from '../replies/index.js'
import type { CommandLine } from './arguments.js'

const actions: Record<string, Record<string, (commandLine: CommandLine) => Promise<string> | string>> = {
  config: {
    check,
    print: commandLine => printConfig(load(commandLine)),
    init: () => configReference('./node_modules/standin/src/config/config.schema.json'),
    schema: configJsonSchema,
  },
  replies: {
    schema: repliesJsonSchema,
  },
}

/** The JSON Schema of the configuration file. */
export function configJsonSchema(): Promise<string> {
  return jsonSchemaOf(configSchema, 'Configuration of Standin', { variables: true })
}

/** The JSON Schema of a file of rules. */
export function repliesJsonSchema(): Promise<string> {
  return jsonSchemaOf(rulesSchema, 'Rules of what the emulated model says')
}

/** The names of these commands. */
export const isConfigCommand = (word: string) => Object.hasOwn(actions, word)

/** Gives back what to print. Throws a ProblemsError for what is wrong in the files, a UsageError for an action that is not known. */
export async function runConfigCommand(commandLine: CommandLine): Promise<string> {
  const [command = '', action = '', ...more] = commandLine.words
  if (more.length > 0) throw new UsageError(`standin ${command} ${action} takes no further words, such as ${more[0]}.`)
  const known = actions[command] ?? {}
  const run = Object.hasOwn(known, action) ? known[action] : undefined
  if (run) return run(commandLine)
  const names = Object.keys(known)
  const what =
    action === '' ? `standin ${command} needs one of` : `standin ${command} ${action} is not a command. Known`
  throw new UsageError(`${what}: ${names.join(', ')}.${action && didYouMean(action, names)}`)
}

/** The configuration that a command was given. */
export const load = ({ config, overrides }: Pick<CommandLine, 'config' | 'overrides'>) =>
  loadConfig({ cwd: process.cwd(), file: config, flags: overrides, env: process.env })

async function check(commandLine: CommandLine): Promise<string> {
  const loaded = load(commandLine)
  signingKeysOf(loaded)
  const rules = await loadRules({ ...replyFilesOf(loaded), pace: loaded.config.pace })
  const verdict = loaded.file ? 'The configuration is good' : 'There is no configuration file; the defaults are good'
  return `${verdict}. Rules of replies: ${rules.length}.\n`
}
