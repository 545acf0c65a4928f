/** `standin config …` and `standin openapi`: show the configuration and check it. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { yamlOf } from '../check/yaml.js'
import { urlHost } from '../http/listen.js'
import { type LoadedConfig, replyFilesOf } from '../platform/config/load.js'
import { firstConfig, printConfig } from '../platform/config/print.js'
import { findReplyFiles } from '../replies/index.js'
import type { ListedRule } from '../replies/operations.js'
import { requireAddress } from '../state/index.js'
import { addressFlags, command, optionFlags, toggle } from './command.js'
import { loadedConfig, withPlatform } from './load.js'
import { pluralize } from './output.js'

const checkConfig = command({
  flags: optionFlags,
  async run(line) {
    await requireAddress(loadedConfig(line).config.state)
    const { loaded, rules } = await withPlatform(line, async ({ loaded, rules }) => ({
      loaded,
      rules: rules.list(),
    }))
    const verdict = loaded.file
      ? 'The configuration is valid'
      : 'There is no configuration file; the defaults are valid'
    const { documentsIn } = await import('../openapi/index.js')
    const documents = documentsIn(loaded).length
    const { withoutRules, notRead } = await idleFiles(loaded, rules)
    const counts = [
      pluralize(rules.filter(({ file }) => file !== null).length, 'reply rule'),
      ...(withoutRules.length > 0
        ? [`${pluralize(withoutRules.length, 'file')} without rules (${withoutRules.join(', ')})`]
        : []),
      ...(documents > 0 ? [pluralize(documents, 'OpenAPI document')] : []),
    ]
    const ignored = `Not read, because replies does not name this ending: ${notRead.join(', ')}\n`
    return `${verdict}: ${counts.join(', ')}.\n${notRead.length > 0 ? ignored : ''}`
  },
})

/** The files of rules that give none, and those beside them that only have the other ending. */
async function idleFiles(loaded: LoadedConfig, rules: readonly ListedRule[]) {
  const { patterns, dir } = replyFilesOf(loaded)
  const namesOf = async (wanted: readonly string[]) =>
    (await findReplyFiles(wanted, dir)).map(file => path.relative(dir, file))
  const otherEndings = patterns.map(pattern =>
    pattern.replace(/(?<=\*\.)ya?ml$/, end => (end === 'yml' ? 'yaml' : 'yml')),
  )
  const found = new Set(await namesOf(patterns))
  const used = new Set(rules.map(({ file }) => file))
  return {
    withoutRules: [...found].filter(file => !used.has(file)),
    notRead: (await namesOf(otherEndings)).filter(file => !found.has(file)),
  }
}

/** The folder of this package as files of a project name it: npm installs it there, or into a folder above, for a workspace. */
export function packageFolder(): string {
  const levels = path.resolve().split(path.sep).length
  const folders = Array.from({ length: levels }, (_, level) => `${'../'.repeat(level) || './'}node_modules/standin`)
  return folders.find(folder => existsSync(folder)) ?? './node_modules/standin'
}

const init = command({
  flags: {},
  examples: [['standin config init > platform.config.yaml', 'create a configuration file']],
  run: () => firstConfig(packageFolder()),
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
