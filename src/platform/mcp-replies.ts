/** Turns the replies of tools, resources and prompts in the configuration into rules that come after all others. */
import { type Problem, ProblemsError } from '../check/problem.js'
import { type McpServer, mcpServerAt, mcpServers } from '../mcp/options.js'
import { joined, type LoadedRules, type RuleInput, rulesAsGiven } from '../replies/index.js'
import type { LoadedConfig } from './config/load.js'

/** A reply, its target, and its position. */
interface ReplyPlace {
  readonly on: string
  readonly reply: object
  readonly at: readonly (string | number)[]
}

const LAST_PRIORITY = -1_000_000

/** Compiles the replies of all servers. Rejects with a ProblemsError that has the mistakes of all of them. */
export async function configuredReplies(loaded: LoadedConfig): Promise<LoadedRules> {
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
  add('resourceTemplates', resourceTemplates, i => `resources/read ${patternOf(resourceTemplates[i]?.uriTemplate)}`)
  add('prompts', prompts, i => `prompts/get ${prompts[i]?.name}`)
  return found
}

/** A template variable matches anything. */
const patternOf = (template = '') => template.replace(/\{[^}]*\}/g, '*')
