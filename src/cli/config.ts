/** `standin config …` and `standin openapi`: show the configuration and check it. */
import { yamlOf } from '../check/yaml.js'
import { urlHost } from '../http/listen.js'
import { firstConfig, printConfig } from '../platform/config/print.js'
import { addressFlags, command, optionFlags, toggle } from './command.js'
import { loadedConfig, withPlatform } from './load.js'
import { pluralize } from './output.js'

const checkConfig = command({
  flags: optionFlags,
  async run(line) {
    const { loaded, rules } = await withPlatform(line, async ({ loaded, rules }) => ({
      loaded,
      rules: rules.list(),
    }))
    const verdict = loaded.file
      ? 'The configuration is valid'
      : 'There is no configuration file; the defaults are valid'
    const { documentsIn } = await import('../openapi/index.js')
    const documents = documentsIn(loaded).length
    const counts = [
      pluralize(rules.filter(({ file }) => file !== null).length, 'reply rule'),
      ...(documents > 0 ? [pluralize(documents, 'OpenAPI document')] : []),
    ]
    return `${verdict}: ${counts.join(', ')}.\n`
  },
})

const init = command({
  flags: {},
  examples: [['standin config init > platform.config.yaml', 'create a configuration file']],
  run: () =>
    firstConfig('./node_modules/standin/dist/config.schema.json', './node_modules/standin/docs/configuration.md'),
})

const openapi = command({
  flags: { ...addressFlags, yaml: toggle('Print YAML instead of JSON') },
  examples: [['standin openapi --yaml > openapi.yaml', 'save the document']],
  async run(line) {
    // A whole platform is needed, because rules, resources and OpenAPI documents add paths.
    const document = await withPlatform(line, ({ loaded: { config }, openApi }) =>
      openApi(`http://${urlHost(config.host)}:${config.port}`),
    )
    return line.flags.yaml ? yamlOf(document) : `${JSON.stringify(document, null, 2)}\n`
  },
})

const print = command({ flags: optionFlags, run: line => printConfig(loadedConfig(line)) })

export const configCommands = { openapi, 'config check': checkConfig, 'config init': init, 'config print': print }
