/** `standin config …`, `standin replies …` and `standin openapi`: show the configuration and check it. */
import { UsageError } from '../check/problem.js'
import { didYouMean } from '../check/suggest.js'
import { yamlOf } from '../check/yaml.js'
import { jsonSchemaOf } from '../config/json-schema.js'
import { replyFilesOf } from '../config/load.js'
import { configReference, printConfig } from '../config/print.js'
import { configSchema } from '../config/schema.js'
import { signingKeysOf } from '../config/signing-keys.js'
import { urlHost } from '../http/address.js'
import { loadRules } from '../replies/index.js'
import { type CommandLine, load } from './arguments.js'
import { checkReplies, repliesJsonSchema, tryReplies } from './replies.js'

const actions: Record<string, Record<string, (commandLine: CommandLine) => Promise<string> | string>> = {
  config: {
    check,
    print: commandLine => printConfig(load(commandLine)),
    init: () => configReference('./node_modules/standin/src/config/config.schema.json'),
    schema: configJsonSchema,
  },
  replies: {
    check: checkReplies,
    try: tryReplies,
    schema: repliesJsonSchema,
  },
}

/** The JSON Schema of the configuration file. */
export function configJsonSchema(): Promise<string> {
  return jsonSchemaOf(configSchema, 'Configuration of Standin', { variables: true })
}

/** Returns what to print. Throws a ProblemsError for invalid files, and a UsageError for an unknown action. */
export async function runConfigCommand(commandLine: CommandLine): Promise<string> {
  const [command = '', action = '', ...more] = commandLine.words
  if (more.length > 0 && !(command === 'replies' && action === 'try'))
    throw new UsageError(`standin ${command} ${action} takes no further words, such as ${more[0]}.`)
  const known = actions[command] ?? {}
  const run = Object.hasOwn(known, action) ? known[action] : undefined
  if (run) return run(commandLine)
  const names = Object.keys(known)
  const what =
    action === '' ? `standin ${command} needs one of` : `standin ${command} ${action} is not a command. Known`
  throw new UsageError(`${what}: ${names.join(', ')}.${action && didYouMean(action, names)}`)
}

async function check(commandLine: CommandLine): Promise<string> {
  const loaded = load(commandLine)
  signingKeysOf(loaded)
  const { rules } = await loadRules(replyFilesOf(loaded), loaded.config.seed)
  const verdict = loaded.file ? 'The configuration is good' : 'There is no configuration file; the defaults are good'
  return `${verdict}. Rules of replies: ${rules.length}.\n`
}

/** Returns what to print. Throws a ProblemsError for an invalid configuration. */
export async function printOpenApi(commandLine: CommandLine): Promise<string> {
  const { config } = load(commandLine)
  const { openApiOf } = await import('../platform/openapi/document.js')
  const document = await openApiOf(config, { url: `http://${urlHost(config.host)}:${config.port}` })
  return commandLine.given.has('yaml') ? yamlOf(document) : `${JSON.stringify(document, null, 2)}\n`
}
