/** Finds calls in chat rules that no MCP server could answer: of unknown tools, or with arguments that do not fit. */
import { didYouMean } from '../check/suggest.js'
import { withTimeLimit } from '../core/work.js'
import type { ReadyChatReply } from './chat-reply.js'
import type { ReadyRule } from './dialect.js'
import type { ToolCall } from './generation.js'
import type { LintFinding } from './lint.js'
import { isHttpRule, isMcpRule } from './rules.js'
import { hasTemplate } from './templates.js'

interface KnownTool {
  readonly name: string
  readonly inputSchema: object
}

/** If a name or an argument is a template, the call depends on the request. */
export async function wrongToolCalls(
  rules: readonly ReadyRule[],
  tools: readonly KnownTool[],
): Promise<readonly LintFinding[]> {
  const { validatorOf } = await import('../check/json-schema.js')
  const mistakeIn = (tool: KnownTool, given: string) => {
    try {
      const check = () => validatorOf(tool.inputSchema)(JSON.parse(given), { firstOnly: true, whole: 'arguments' })
      return withTimeLimit(check, CHECK_MS)[0]?.sentence
    } catch (error) {
      // An unusable or slow schema is not the rule's mistake.
      return error instanceof SyntaxError ? 'they are not JSON.' : undefined
    }
  }
  return rules.filter(isActiveChat).flatMap(rule => {
    const replies = rule.replies as readonly ReadyChatReply[]
    const unknown = replies.flatMap(({ calls }) => calls.flatMap(name => unknownTool(name, tools)))
    const wrong = replies.flatMap(callsOf).flatMap(({ name, arguments: given }) => {
      const tool = tools.find(tool => isOf(name, tool))
      const mistake = tool && mistakeIn(tool, given)
      return mistake === undefined ? [] : `calls ${name} with arguments that do not fit its inputSchema: ${mistake}`
    })
    return [...unknown, ...wrong].map(sentence => ({ place: rule.place, sentence: `${rule.title} ${sentence}` }))
  })
}

const CHECK_MS = 100

const isActiveChat = ({ written }: ReadyRule) =>
  written.enabled !== false && !isHttpRule(written) && !isMcpRule(written)

/** Known if the reply is the same for every request. */
const callsOf = ({ always }: ReadyChatReply): readonly ToolCall[] =>
  (always?.choices ?? []).flatMap(({ toolCalls = [] }) => toolCalls.filter(({ kind }) => kind === 'function'))

/** Clients may put the name of a server before that of its tool: `mcp__weather__get_weather`. */
const isOf = (called: string, { name }: KnownTool) => called === name || called.endsWith(`_${name}`)

function unknownTool(called: string, tools: readonly KnownTool[]): readonly string[] {
  if (hasTemplate(called) || tools.some(tool => isOf(called, tool))) return []
  const names = tools.map(({ name }) => name)
  return [`calls ${called}, a tool that no MCP server has.${didYouMean(called, names)}`]
}
