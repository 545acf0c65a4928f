/** `standin env`: the addresses and keys that an app needs, as environment variables. */
import { existsSync, writeFileSync } from 'node:fs'
import { readText, UsageError } from '../check/problem.js'
import { sharesLiveKey } from '../platform/own-secrets.js'
import { environmentOf } from '../platform/platform.js'
import { addressFlags, type CommandLine, command, fileName, toggle } from './command.js'
import { withPlatform } from './load.js'
import { pluralize } from './output.js'
import { configuredAddress } from './running.js'

const envFlags = {
  ...addressFlags,
  write: fileName('Put the variables into this file, such as .env; what is there stays, or becomes a comment'),
  json: toggle('Print JSON'),
}

export const envCommands = {
  env: command({
    flags: envFlags,
    examples: [
      ['standin env --write .env', 'let an app that reads .env use Standin'],
      ['export $(standin env)', 'the same for this shell'],
    ],
    run: env,
  }),
}

/** The result is what is printed: the variables, or what was done to the file. */
async function env(line: CommandLine<typeof envFlags>): Promise<string> {
  const url = configuredAddress(line).origin
  const variables = await withPlatform(line, async ({ loaded, anonKey, serviceKey, apiKey }) => {
    if (sharesLiveKey(loaded.config, loaded.config.host))
      throw new UsageError('With this configuration, each start makes keys of its own. Copy those that it prints.')
    return environmentOf({ url, authUrl: url, anonKey, serviceKey, apiKey, loaded })
  })
  const { write, json } = line.flags
  if (write !== undefined) return merge(write, new Map(variables))
  if (json) return `${JSON.stringify(Object.fromEntries(variables), null, 2)}\n`
  return variables.map(([name, value]) => `${name}=${value}\n`).join('')
}

/** Replaces the lines that set these variables, adds the others at the end, and keeps all else. A replaced value stays as a comment. */
function merge(file: string, variables: ReadonlyMap<string, string>): string {
  const before = existsSync(file) ? readText(file, file) : ''
  const missing = new Map(variables)
  const replaced: string[] = []
  const lines = before.split('\n').flatMap(line => {
    const name = /^\s*(?:export\s+)?(\w+)\s*=/.exec(line)?.[1] ?? ''
    const value = variables.get(name)
    if (value === undefined) return [line]
    const own = `${name}=${value}`
    const isFirst = missing.delete(name)
    if (isFirst && line.trim().replace(/^export\s+/, '') === own) return [line]
    replaced.push(name)
    return isFirst ? [`# ${line}`, own] : [`# ${line}`]
  })
  const added = [...missing].map(([name, value]) => `${name}=${value}`)
  const gap = before === '' || before.endsWith('\n') || added.length === 0 ? '' : '\n'
  const after = lines.join('\n') + gap + added.map(line => `${line}\n`).join('')
  if (after === before) return `${file} has all of them, and was left as it is.\n`
  writeFileSync(file, after)
  const what = [
    ...(added.length > 0 ? [`added ${pluralize(added.length, 'variable')}`] : []),
    ...(replaced.length > 0 ? [`set ${[...new Set(replaced)].join(', ')} (the earlier lines are comments now)`] : []),
  ]
  return `${file}: ${what.join(', ')}\n`
}
