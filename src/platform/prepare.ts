/** Reads and loads everything that a configuration names, before any of it is put to use. */

import { tokenizerNamed } from '../chat/tokens/index.js'
import { pathInWords } from '../check/check.js'
import { endlessExpressions } from '../check/expressions.js'
import { type Problem, problemInWords } from '../check/problem.js'
import type { PathSource } from '../core/exchange.js'
import { allOrProblems } from '../core/work.js'
import { mcpServers } from '../mcp/options.js'
import { createRedact } from '../recordings/redact/index.js'
import { joined, type LoadedRules, loadRules, rulesFromCode } from '../replies/index.js'
import { type LoadedResources, loadResources } from '../resources/load.js'
import { idOfUser } from '../supabase/seeds.js'
import { createTokens, type Tokens } from '../supabase/tokens.js'
import { type LoadedConfig, replyFilesOf } from './config/load.js'
import { redactionRules } from './config/redaction.js'
import { loadMcp } from './mcp.js'
import { configuredReplies } from './mcp-replies.js'
import type { PlatformSources } from './part.js'
import type { PreparedConfig } from './prepared.js'

interface Options extends Pick<PlatformSources, 'rules' | 'file'> {
  readonly now: () => number
  readonly warn: (sentence: string) => void
}

/** Rejects with a ProblemsError that has the mistakes of all files. */
export async function prepareConfig(loaded: LoadedConfig, options: Options): Promise<PreparedConfig> {
  const { config } = loaded
  const [tokens, rules, tokenizer, mcp, resources, openApi] = await allOrProblems([
    createTokensFor(loaded, options.now),
    readRules(loaded, options),
    tokenizerNamed(config.tokenizer),
    loadServers(loaded),
    readResources(loaded),
    openDocuments(loaded, options.warn),
  ])
  for (const warning of [...warningsAbout(loaded), ...rules.warnings]) options.warn(problemInWords(warning))
  return {
    ...{ loaded, tokens, tokenizer, mcp, openApi, rules: rules.rules, resources: resources.resources },
    files: [...rules.files, ...resources.files, ...(openApi?.files ?? [])],
    redact: createRedact(redactionRules(config)),
  }
}

/** Warnings about expressions in the configuration. */
const warningsAbout = ({ config: { recordings }, placeOf }: LoadedConfig): readonly Problem[] =>
  [
    ...endlessExpressions(recordings.ignore, ['recordings', 'ignore']),
    ...endlessExpressions(recordings.redact.patterns, ['recordings', 'redact', 'patterns']),
  ].map(({ at, sentence }) => ({ ...placeOf(at), sentence: `${pathInWords(at)}: ${sentence}` }))

async function createTokensFor(loaded: LoadedConfig, now: () => number): Promise<Tokens> {
  const { jwtSecret, signingKeys: file } = loaded.config.auth
  // Most configurations have no signing keys, so the code that reads them is loaded on demand.
  const signingKeys = file === '' ? undefined : (await import('../supabase/signing-keys.js')).signingKeysOf(loaded)
  return createTokens({ jwtSecret, signingKeys, now })
}

/** Reads the rules from files, from code, and from the configuration of MCP servers. */
async function readRules(loaded: LoadedConfig, { rules: inCode = [], file: wanted }: Options): Promise<LoadedRules> {
  const { seed } = loaded.config
  const configured = replyFilesOf(loaded)
  // Without a configuration file, nothing is read from the disk.
  const isDefault = wanted === false && loaded.originOf(['replies']) === 'default'
  const patterns = isDefault ? [] : configured.patterns
  const read = await Promise.all([
    rulesFromCode(inCode, loaded.dir, seed),
    loadRules({ ...configured, patterns }, seed),
    configuredReplies(loaded),
  ])
  return joined(read)
}

/** Loads the code of MCP servers, and checks the configured ones. */
async function loadServers(loaded: LoadedConfig) {
  if (mcpServers(loaded.config.mcp).size === 0) return undefined
  const folder = await loadMcp()
  await folder.requireUsableServers(loaded)
  return folder
}

async function openDocuments(loaded: LoadedConfig, warn: (sentence: string) => void): Promise<PathSource | undefined> {
  if ([loaded.config.openapi].flat().length === 0) return undefined
  const { createOpenApi, documentsIn, readDocuments } = await import('../openapi/index.js')
  return createOpenApi(await readDocuments(documentsIn(loaded), warn), loaded.config.seed)
}

const readResources = ({ config, dir, placeOf }: LoadedConfig): Promise<LoadedResources> =>
  loadResources({
    ...{ resources: config.resources, dir, placeOf },
    userIdOf(email) {
      const user = config.users.find(user => user.email?.toLowerCase() === email.toLowerCase())
      return user && idOfUser(user)
    },
  })
