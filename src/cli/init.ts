/** `standin init`: what a project needs to begin with, each only if it is not there. */
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { jsonFrom } from '../check/json-places.js'
import { ProblemsError, readText, StartError, UsageError } from '../check/problem.js'
import { isObject } from '../core/json.js'
import { remarksFor } from '../environment/index.js'
import { configFileNames } from '../platform/config/load.js'
import { firstConfig } from '../platform/config/print.js'
import { command } from './command.js'
import { packageFolder } from './config.js'
import { loadedConfig } from './load.js'
import { lineEndOf } from './output.js'
import { configuredAddress } from './running.js'

const firstRules = (folder: string) => `\
# yaml-language-server: $schema=${path.posix.join('../..', folder)}/dist/replies.schema.json
# The first rule whose conditions hold answers. All conditions and replies: ${folder}/docs/rules-and-replies.md
- name: greeting
  when: { user: /\\b(hi|hello)\\b/i }
  reply: { text: 'Hello! How can I help?' }
`

const scripts = { standin: 'standin', 'test:standin': 'standin exec -- npm test' }

/** The state: users who signed up, their keys and sessions. */
const ignoredFolder = '.standin/'

export const initCommands = {
  init: command({
    flags: {},
    examples: [['npx standin init && npx standin', 'begin in a project of yours']],
    run() {
      // Read first, so that a mistake in it leaves everything as it was.
      const packageLine = addedScripts()
      const lines = [
        existing(...configFileNames) ?? written('platform.config.yaml', firstConfig(packageFolder())),
        existing('fixtures/replies') ?? written('fixtures/replies/rules.yaml', firstRules(packageFolder())),
        ignoreLine(),
        packageLine(),
      ]
      return [...lines, ...remarks(), 'Start with: npx standin', ''].join('\n')
    },
  }),
}

/** What the app still uses in place of Standin. A configuration that is wrong says so at the start. */
function remarks(): readonly string[] {
  const line = { flags: { config: undefined }, overrides: [] }
  try {
    const { env } = loadedConfig(line).config
    return remarksFor(configuredAddress(line).origin, env)
  } catch (error) {
    if (error instanceof ProblemsError || error instanceof UsageError) return []
    throw error
  }
}

/** What is said about the first of these that exists. */
function existing(...names: readonly string[]): string | undefined {
  const found = names.find(name => existsSync(name))
  return found && `${found} is there, and was left as it is.`
}

function written(file: string, text: string): string {
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, text, { flag: 'wx' })
  return `${file} was written.`
}

function ignoreLine(): string {
  const before = existsSync('.gitignore') ? readText('.gitignore', '.gitignore') : ''
  const isThere = before.split(/\r?\n/).some(line => /^\/?\.standin\/?$/.test(line.trim()))
  if (isThere) return `.gitignore has ${ignoredFolder}, and was left as it is.`
  const lineEnd = lineEndOf(before)
  const gap = before === '' || before.endsWith('\n') ? '' : lineEnd
  writeFileSync('.gitignore', `${before}${gap}${ignoredFolder}${lineEnd}`)
  return `.gitignore: added ${ignoredFolder}`
}

/** Reads package.json; the returned function adds the scripts. Throws a ProblemsError or a StartError for what it cannot read. */
function addedScripts(): () => string {
  const file = 'package.json'
  if (!existsSync(file)) return () => `There is no ${file}, so no scripts were added.`
  const text = readText(file, file)
  const before = jsonFrom(text, file)
  const present = isObject(before) ? (before.scripts ?? {}) : undefined
  if (!isObject(before) || !isObject(present))
    throw new StartError(`${file} must be an object, and so must its scripts. Nothing was written.`)
  const added = Object.entries(scripts).filter(([name]) => !Object.hasOwn(present, name))
  if (added.length === 0) return () => `${file} has these scripts, and was left as it is.`
  const indent = /^[\t ]+/m.exec(text)?.[0] ?? '  '
  const end = text.endsWith('\n') ? '\n' : ''
  const after = { ...before, scripts: { ...present, ...Object.fromEntries(added) } }
  return () => {
    writeFileSync(file, `${JSON.stringify(after, null, indent)}${end}`.replaceAll('\n', lineEndOf(text)))
    return `${file}: added the ${added.length === 1 ? 'script' : 'scripts'} ${added.map(([name]) => name).join(' and ')}`
  }
}
