/** `standin openapi`: prints the OpenAPI document of everything that is answered, by the configuration, without starting anything. */
import { yamlOf } from '../check/yaml.js'
import { openApiOf } from '../platform/openapi/document.js'
import { urlHost } from '../server/address.js'
import type { CommandLine } from './arguments.js'
import { load } from './configured.js'

/** Gives back what to print. Throws a ProblemsError for what is wrong in the configuration. */
export async function printOpenApi(commandLine: CommandLine): Promise<string> {
  const { config } = load(commandLine)
  const document = await openApiOf(config, { url: `http://${urlHost(config.host)}:${config.port}` })
  return commandLine.given.has('yaml') ? yamlOf(document) : `${JSON.stringify(document, null, 2)}\n`
}
