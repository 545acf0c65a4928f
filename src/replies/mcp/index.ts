/** The dialect of rules for MCP calls. Loaded with the first such rule or server. */

import { noRuleMatches } from '../../core/errors.js'
import { stringifyExact } from '../../core/json.js'
import { fieldAt, fieldPath } from '../conditions/field-path.js'
import { compileWith, optional, simple } from '../conditions/shared.js'
import { nameTest, type ValueCondition, valueTest } from '../conditions/whole.js'
import type { Condition, Dialect, ReadyReply, ReadyRule, RuleLookup } from '../dialect.js'
import { createEngines, type RuleSources } from '../engine.js'
import { type Explanation, explanationOf, nearestSentence } from '../explain.js'
import { seedOfTexts } from '../fake.js'
import { sampled, UnfitSchema } from '../structured/index.js'
import type { McpReplyForm, McpRule, McpWhen } from './form.js'
import { type McpCall, McpInput } from './input.js'
import { linesOf, type McpGeneration, mcpReplyOf } from './mcp-reply.js'
import { mcpTarget } from './target.js'
import { callFrom, type TriedCall } from './tried.js'

type ReadyMcpReply = ReadyReply<McpGeneration>
type McpReadyRule = ReadyRule<ReadyMcpReply>

export const mcp: Dialect<McpInput, ReadyMcpReply> = {
  conditions: rule => {
    const { on, when } = rule as McpRule
    return [onTarget(on), ...compileWith<McpInput, McpWhen>(when ?? {}, mcpConditions)]
  },
  compileReply: (form, path, owner, texts) => mcpReplyOf(form as McpReplyForm, path, owner, texts),
  index: createTargetIndex,
}

/** The target counts as a condition too, so that a near miss can name it. */
function onTarget(on: string): Condition<McpInput> {
  const target = mcpTarget(on)
  const test = nameTest(target.name)
  return {
    holds: ({ method, name }) => method === target.method && test.holds(name),
    mismatch: () => `it is for ${on}`,
  }
}

function mcpConditions({
  arguments: given,
  server,
  client,
  version,
  answers,
}: McpWhen): readonly Condition<McpInput>[] {
  const each = (
    part: string,
    wanted: Readonly<Record<string, ValueCondition>> | undefined,
    valueIn: (input: McpInput) => unknown,
  ) =>
    Object.entries(wanted ?? {}).map(([written, value]) => {
      const path = fieldPath(written) ?? []
      return simple<McpInput>(`${part}.${written}`, valueTest(value), input => fieldAt(valueIn(input), path))
    })
  const one = (name: 'server' | 'client' | 'version', wanted: ValueCondition | undefined) =>
    optional(wanted, wanted => simple<McpInput>(name, valueTest(wanted), ({ call }) => call[name]))
  return [
    ...each('arguments', given, input => input.arguments),
    ...each('answers', answers, ({ call }) => call.answers),
    ...one('server', server),
    ...one('client', client),
    ...one('version', version),
  ]
}

/** Calls are looked up by the name of their target, however many rules there are. Rules with a pattern keep their places in the order. */
function createTargetIndex(rules: readonly McpReadyRule[]): RuleLookup<McpInput, ReadyMcpReply> {
  const exact = new Map<string, McpReadyRule[]>()
  const patterns = new Map<string, McpReadyRule[]>()
  const places = new Map(rules.map((rule, i) => [rule, i]))
  for (const rule of rules) {
    const target = mcpTarget((rule.written as McpRule).on)
    const [into, key] = target.name.includes('*')
      ? [patterns, target.method]
      : [exact, `${target.method} ${target.name}`]
    const existing = into.get(key)
    if (existing) existing.push(rule)
    else into.set(key, [rule])
  }
  const placeOf = (rule: McpReadyRule) => places.get(rule) ?? 0
  return {
    candidates({ method, name }) {
      const exactRules = exact.get(`${method} ${name}`) ?? []
      const patternRules = patterns.get(method) ?? []
      if (patternRules.length === 0 || exactRules.length === 0)
        return exactRules.length === 0 ? patternRules : exactRules
      return [...exactRules, ...patternRules].sort((a, b) => placeOf(a) - placeOf(b))
    },
  }
}

/** An answer of a rule. */
export interface McpRuleAnswer {
  readonly generation: McpGeneration
  /** The rule, and how often it has answered, so that the call can be resumed. */
  readonly place: string
  readonly count: number
}

/** One line can contain several rules. */
const placeOf = ({ title, place }: ReadyRule) => `${title} ${place}`

/** The replies of rules for MCP calls. */
export type McpReplies = ReturnType<typeof createMcpReplies>

/** The server itself answers, since rules know neither its resources nor the schemas of its tools. */
const SERVER_ANSWERS = 'The configured result, or a generated one.'

const byServer = ({ server }: McpCall): McpGeneration => ({
  content: {},
  rounds: [],
  answeredBy: { kind: 'mcp', path: server },
})

interface Parts extends RuleSources {
  /** Whether a call that no rule matches is an error. */
  readonly strict: boolean
  readonly seed: number
}

export function createMcpReplies(parts: Parts) {
  const { strict, memory } = parts
  const { rulesFor, take } = createEngines(mcp, parts)
  const candidatesFor = ({ method, scope }: McpCall) =>
    rulesFor(scope).filter(({ written }) => mcpTarget((written as McpRule).on).method === method)
  return {
    /** The answer of the first rule that matches; `undefined` if none does. */
    async take(call: McpCall): Promise<McpRuleAnswer | undefined> {
      const input = new McpInput(call)
      const chosen = take(input)
      return chosen && answerOf(chosen.rule, input, chosen.count)
    },
    /** The answer of the same rule once the client has answered more questions; `undefined` if the rule no longer exists. */
    async resume(
      { place, count }: Pick<McpRuleAnswer, 'place' | 'count'>,
      call: McpCall,
    ): Promise<McpRuleAnswer | undefined> {
      const rule = rulesFor(call.scope).find(rule => placeOf(rule) === place)
      return rule && answerOf(rule, new McpInput(call), count)
    },
    /** A sentence about the rule that came nearest. */
    nearest: (call: McpCall) => nearestSentence(new McpInput(call), { rules: candidatesFor(call), memory }),
    /** Returns an answer as lines of text for people. */
    linesOf: (generation: McpGeneration) =>
      generation.answeredBy.kind === 'mcp' ? [SERVER_ANSWERS] : linesOf(generation),
    /** Says which rule would answer. It does not count as an answer. */
    explain(tried: TriedCall): Explanation<McpGeneration> {
      const input = new McpInput(callFrom(tried))
      return explanationOf(input, {
        ...{ rules: candidatesFor(input.call), memory },
        otherwise: async nearest => {
          if (strict) throw noRuleMatches(nearest())
          return byServer(input.call)
        },
      })
    },
    /** A value that fits a schema, the same for the same call; `undefined` if none was found. */
    madeUp: (schema: object, call: McpCall) => madeUp(parts, schema, call),
  }
}

const answerOf = async (rule: McpReadyRule, input: McpInput, count: number): Promise<McpRuleAnswer> => ({
  generation: await rule.replyAt(count).generate(input, count),
  place: placeOf(rule),
  count,
})

async function madeUp({ seed }: Parts, schema: object, call: McpCall) {
  const callSeed = seedOfTexts([seed, call.method, stringifyExact(call.params)])
  try {
    return (await sampled({ schema, seeds: [callSeed] }))[0]
  } catch (error) {
    if (error instanceof UnfitSchema) return undefined
    throw error
  }
}
