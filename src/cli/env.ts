/** `standin env`: the addresses and keys that an app needs, as environment variables. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { readText, UsageError } from '../check/problem.js'
import { withVariables } from '../environment/env-file.js'
import { appFolders, environmentFor } from '../environment/index.js'
import { sharesLiveKey } from '../platform/own-secrets.js'
import { addressFlags, type CommandLine, command, fileName, toggle } from './command.js'
import { withPlatform } from './load.js'
import { colorsFor, pluralize, relativePath } from './output.js'
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
  const { write, json } = line.flags
  const { variables, remarks } = await withPlatform(line, async ({ loaded, anonKey, serviceKey, apiKey }) => {
    if (sharesLiveKey(loaded.config, loaded.config.host))
      throw new UsageError('With this configuration, each start makes keys of its own. Copy those that it prints.')
    const platform = { url, authUrl: url, anonKey, serviceKey, apiKey, loaded }
    if (write === undefined) return environmentFor(platform)
    const sources = { folders: [...appFolders(), path.dirname(write)], env: process.env }
    return environmentFor(platform, sources, place => place === relativePath(write))
  })
  const { yellow } = colorsFor(process.stderr)
  for (const remark of remarks) console.error(yellow(remark))
  if (write !== undefined) return merge(write, variables)
  if (json) return `${JSON.stringify(Object.fromEntries(variables), null, 2)}\n`
  return variables.map(([name, value]) => `${name}=${value}\n`).join('')
}

/** Sets the variables in the file, and says what has changed there. */
function merge(file: string, variables: readonly (readonly [string, string])[]): string {
  const before = existsSync(file) ? readText(file, file) : ''
  const { text, added, replaced } = withVariables(before, variables)
  if (added.length + replaced.length === 0) return `${file} has all of them, and was left as it is.\n`
  const mark = existsSync(file) && readFileSync(file, 'utf8').startsWith('\ufeff') ? '\ufeff' : ''
  writeFileSync(file, mark + text)
  const what = [
    ...(added.length > 0 ? [`added ${pluralize(added.length, 'variable')}`] : []),
    ...(replaced.length > 0 ? [`set ${replaced.join(', ')} (the earlier lines are comments now)`] : []),
  ]
  return `${file}: ${what.join(', ')}\n`
}
