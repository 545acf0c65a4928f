/** Reads and loads everything that a configuration names, before any of it is put to use. */

import { existsSync } from 'node:fs'
import path from 'node:path'
import { type Tokenizer, tokenizerNamed } from '../chat/tokens/index.js'
import { pathInWords } from '../check/check.js'
import { endlessExpressions } from '../check/expressions.js'
import { type Problem, ProblemsError, problemInWords } from '../check/problem.js'
import type { PathSource, RunningTest } from '../core/exchange.js'
import { allOrProblems } from '../core/work.js'
import { type McpServer, mcpServerAt, mcpServers } from '../mcp/options.js'
import { createRedact, type Redact } from '../redact/index.js'
import { joined, type LoadedRules, loadRules, type RuleInput, rulesAsGiven, rulesFromCode } from '../replies/index.js'
import { type LoadedResources, loadResources } from '../resources/load.js'
import type { AccessTokenHook } from '../supabase/backend.js'
import { idOfUser } from '../supabase/seeds.js'
import { createTokens, type Tokens } from '../supabase/tokens.js'
import type { PreparedTables } from '../tables/read.js'
import { type ConfigSources, type LoadedConfig, redactionRules, replyFilesOf } from './config/load.js'

export interface PlatformSources extends ConfigSources {
  /** Rules written in code. They come before those from files. */
  readonly rules?: readonly RuleInput[]
  /** False to open no port, so that only the handler answers. */
  readonly listen?: boolean
  /** Called with internal errors, which are not the client's fault. */
  readonly report?: (error: unknown) => void
  /** Called with warnings, as sentences. */
  readonly warn?: (sentence: string) => void
  /** The test that is running, which requests without a scope belong to. */
  readonly currentTest?: () => RunningTest | undefined
  /** The name of the run, if another process has begun it. */
  readonly runName?: string
  /** Whether the tests of other processes can join its run. */
  readonly isSharingRun?: boolean
}

/** The code of MCP servers. */
export const loadMcpFolder = () => import('../mcp/index.js')

export type McpFolder = Awaited<ReturnType<typeof loadMcpFolder>>

export interface PreparedConfig {
  readonly loaded: LoadedConfig
  readonly rules: LoadedRules['rules']
  /** The files in use besides the configuration and the rule files. */
  readonly files: readonly string[]
  /** Signs and verifies the tokens of the auth backend. */
  readonly tokens: Tokens
  /** Changes the claims of user tokens; `undefined` if nothing does. */
  readonly accessTokenHook: AccessTokenHook | undefined
  /** Redacts what is shown and recorded. */
  readonly redact: Redact
  readonly tokenizer: Tokenizer
  readonly resources: LoadedResources['resources']
  /** The tables below /rest/v1; `undefined` if there are none. */
  readonly tables: PreparedTables | undefined
  /** Answers the operations of OpenAPI documents; `undefined` if there are none. */
  readonly openApi: PathSource | undefined
  /** The code of MCP servers; `undefined` if there are none. */
  readonly mcp: McpFolder | undefined
}

interface Options extends Pick<PlatformSources, 'rules' | 'file'> {
  readonly now: () => number
  readonly warn: (sentence: string) => void
}

/** Rejects with a ProblemsError that has the mistakes of all files. */
export async function prepareConfig(loaded: LoadedConfig, options: Options): Promise<PreparedConfig> {
  const { config } = loaded
  const [tokens, accessTokenHook, rules, tokenizer, mcp, resources, openApi, tables] = await allOrProblems([
    createTokensFor(loaded, options.now),
    createHookFor(loaded),
    readRules(loaded, options),
    tokenizerNamed(config.tokenizer),
    loadServers(loaded),
    readResources(loaded),
    openDocuments(loaded, options.warn),
    tablesOf(loaded, options),
  ])
  if (accessTokenHook && config.auth.mode === 'proxy')
    options.warn(
      'auth.hooks.customAccessToken has no effect with auth.mode proxy: the live auth backend has its own hook.',
    )
  const misfitting = mcp?.misfittingRules(loaded, rules.rules) ?? []
  for (const warning of [...(await warningsAbout(loaded)), ...rules.warnings, ...misfitting])
    options.warn(problemInWords(warning))
  return {
    loaded,
    tokens,
    accessTokenHook,
    tokenizer,
    mcp,
    openApi,
    rules: rules.rules,
    resources: resources.resources,
    tables,
    files: [...rules.files, ...resources.files, ...(openApi?.files ?? []), ...(tables?.files ?? [])],
    redact: createRedact(redactionRules(config)),
  }
}

/** Warnings about expressions in the configuration. */
async function warningsAbout({ config: { recordings }, placeOf }: LoadedConfig): Promise<readonly Problem[]> {
  const endless = [
    ...(await endlessExpressions(recordings.ignore, ['recordings', 'ignore'])),
    ...(await endlessExpressions(recordings.redact, ['recordings', 'redact'])),
  ]
  return endless.map(({ at, sentence }) => ({ ...placeOf(at), sentence: `${pathInWords(at)}: ${sentence}` }))
}

async function createTokensFor(loaded: LoadedConfig, now: () => number): Promise<Tokens> {
  const { jwtSecret, signingKeys: file } = loaded.config.auth
  // Most configurations have no signing keys, so the code that reads them is loaded on demand.
  const signingKeys = file === '' ? undefined : (await import('../supabase/signing-keys.js')).signingKeysOf(loaded)
  return createTokens({ jwtSecret, signingKeys, now })
}

/** Without a configuration file, nothing is looked for on the disk. */
async function tablesOf(loaded: LoadedConfig, { warn, file }: Options): Promise<PreparedTables | undefined> {
  const { migrations } = loaded.config.tables
  const isGiven = loaded.originOf(['tables', 'migrations']) !== 'default'
  const mayBeThere = file !== false && existsSync(path.resolve(loaded.dir, migrations))
  if (migrations === '' || !(isGiven || mayBeThere)) return undefined
  return (await import('../tables/read.js')).readTables(loaded, warn)
}

/** Most configurations have no hook, so its code is loaded on demand, too. */
async function createHookFor(loaded: LoadedConfig): Promise<AccessTokenHook | undefined> {
  const isEmpty = Object.keys(loaded.config.auth.hooks.customAccessToken).length === 0
  return isEmpty ? undefined : (await import('../supabase/hook.js')).accessTokenHookOf(loaded)
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
  const folder = await loadMcpFolder()
  await folder.requireUsableServers(loaded)
  return folder
}

async function openDocuments(loaded: LoadedConfig, warn: (sentence: string) => void): Promise<PathSource | undefined> {
  if ([loaded.config.openapi].flat().length === 0) return undefined
  const { createOpenApi, documentsIn, readDocuments } = await import('../openapi/index.js')
  const openApi = createOpenApi(await readDocuments(documentsIn(loaded), warn), loaded.config.seed)
  for (const sentence of await openApi.unanswerable()) warn(sentence)
  return openApi
}

const readResources = ({ config, dir, placeOf }: LoadedConfig): Promise<LoadedResources> =>
  loadResources({
    resources: config.resources,
    dir,
    placeOf,
    userIdOf(email) {
      const user = config.users.find(user => user.email?.toLowerCase() === email.toLowerCase())
      return user && idOfUser(user)
    },
  })

/** A reply, its target, and its position. */
interface ReplyPlace {
  readonly on: string
  readonly reply: object
  readonly at: readonly (string | number)[]
}

const LAST_PRIORITY = -1_000_000

/** Compiles the replies of all servers. Rejects with a ProblemsError that has the mistakes of all of them. */
async function configuredReplies(loaded: LoadedConfig): Promise<LoadedRules> {
  const { config, dir, originOf, placeOf } = loaded
  const all = [...mcpServers(config.mcp)].flatMap(([path, server]) =>
    repliesIn(path, server, mcpServerAt(config.mcp, path)),
  )
  const problems: Problem[] = []
  const ruleLists = all.map(async ({ on, reply, at, server }) => {
    const rule = { on, when: { server }, reply, priority: LAST_PRIORITY } as RuleInput
    try {
      const ruleOrigin = () => ({ place: originOf(at), title: `${on} of ${server}` })
      return await rulesAsGiven(rule, { dir, seed: config.seed, originOf: ruleOrigin })
    } catch (error) {
      if (!(error instanceof ProblemsError)) throw error
      problems.push(...error.problems.map(({ sentence }) => ({ ...placeOf(at), sentence })))
      return joined([])
    }
  })
  const rules = joined(await Promise.all(ruleLists))
  if (problems.length > 0) throw new ProblemsError(problems)
  return rules
}

function repliesIn(path: string, server: McpServer, at: readonly string[]) {
  const { tools, resources, resourceTemplates, prompts } = server
  const found: (ReplyPlace & { readonly server: string })[] = []
  function add(list: string, items: readonly { readonly reply?: object | undefined }[], on: (i: number) => string) {
    for (const [i, { reply }] of items.entries())
      if (reply) found.push({ on: on(i), reply, at: [...at, list, i, 'reply'], server: path })
  }
  add('tools', tools, i => `tools/call ${tools[i]?.name}`)
  add('resources', resources, i => `resources/read ${resources[i]?.uri}`)
  add(
    'resourceTemplates',
    resourceTemplates,
    i => `resources/read ${patternOfTemplate(resourceTemplates[i]?.uriTemplate)}`,
  )
  add('prompts', prompts, i => `prompts/get ${prompts[i]?.name}`)
  return found
}

/** A template variable matches anything. */
const patternOfTemplate = (template = '') => template.replace(/\{[^{}]*\}/g, '*')
