/** `standin config …`: shows the configuration and checks it. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { problemInWords } from '../check/problem.js'
import { type LoadedConfig, replyFilesOf } from '../platform/config/load.js'
import { printConfig } from '../platform/config/print.js'
import { findReplyFiles, loadRules, neverAnswering } from '../replies/index.js'
import type { ListedRule } from '../replies/operations.js'
import { requireAddress } from '../state/index.js'
import { command, optionFlags } from './command.js'
import { loadedConfig, withPlatform } from './load.js'
import { pluralize, printable } from './output.js'

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
    await reportIdleRules(loaded)
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
    const broken = await brokenRecordings(loaded)
    for (const problem of broken) console.error(printable(problemInWords(problem)))
    if (broken.length > 0) process.exitCode = 1
    return `${verdict}: ${counts.join(', ')}.\n${notRead.length > 0 ? ignored : ''}`
  },
})

/** Names the rules that can never answer, which make the exit code 1. */
async function reportIdleRules(loaded: LoadedConfig): Promise<void> {
  const { seed, models } = loaded.config
  const { rules } = await loadRules(replyFilesOf(loaded), seed)
  const never = neverAnswering(
    rules,
    models.map(({ id }) => id),
  )
  if (never.length > 0) process.exitCode = 1
  for (const { place: origin, sentence } of never) console.error(problemInWords({ origin, sentence }))
}

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

async function brokenRecordings({ config, dir }: LoadedConfig) {
  const { Folder, problemsIn } = await import('../recordings/index.js')
  return problemsIn(new Folder(path.resolve(dir, config.recordings.dir)))
}

const print = command({ flags: optionFlags, run: line => printConfig(loadedConfig(line)) })

export const configCommands = { 'config check': checkConfig, 'config print': print }
