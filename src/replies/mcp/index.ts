/** The dialect of rules for MCP calls. Loaded with the first such rule or server. */

import { noRuleMatches } from '../../core/errors.js'
import { stringifyExact } from '../../core/json.js'
import { type ConditionTable, compileWhen, onEach, simple } from '../conditions/compile.js'
import { fieldAt, fieldPath, nameTest, type ValueCondition, valueTest } from '../conditions/value-tests.js'
import type { Condition, Dialect, ReadyReply, ReadyRule } from '../dialect.js'
import { createEngine, type RuleSources } from '../engine.js'
import { type Explanation, explanationOf, nearestSentence } from '../explain.js'
import { seedOfTexts } from '../fake.js'
import { sampled, UnfitSchema } from '../structured/index.js'
import { type McpCall, McpInput, mcpTarget } from './call.js'
import type { McpReplyForm, McpRule, McpWhen } from './form.js'
import { linesOfMcpReply, type McpGeneration, mcpReplyOf } from './mcp-reply.js'
import { callFrom, type TriedCall } from './tried.js'

type ReadyMcpReply = ReadyReply<McpGeneration>
type McpReadyRule = ReadyRule<ReadyMcpReply>

export const mcp: Dialect<McpInput, ReadyMcpReply> = {
  conditions: rule => {
    const { on, when } = rule as McpRule
    return [onTarget(on), ...compileWhen<McpInput, McpWhen>(when ?? {}, mcpConditions)]
  },
  compileReply: (form, path, owner, texts) => mcpReplyOf(form as McpReplyForm, path, owner, texts),
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

const mcpConditions: ConditionTable<McpInput, McpWhen> = {
  arguments: onEach(onFieldOf(input => input.arguments)),
  answers: onEach(onFieldOf(({ call }) => call.answers)),
  server: (wanted, name) => simple(name, valueTest(wanted), ({ call }) => call.server),
  client: (wanted, name) => simple(name, valueTest(wanted), ({ call }) => call.client),
  version: (wanted, name) => simple(name, valueTest(wanted), ({ call }) => call.version),
}

function onFieldOf(valueIn: (input: McpInput) => unknown) {
  return (written: string, wanted: ValueCondition, name: string) => {
    const path = fieldPath(written) ?? []
    return simple<McpInput>(name, valueTest(wanted), input => fieldAt(valueIn(input), path))
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
  const { rulesFor, take } = createEngine(mcp, parts)
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
      generation.answeredBy.kind === 'mcp' ? [SERVER_ANSWERS] : linesOfMcpReply(generation),
    /** Says which rule would answer. It does not count as an answer. */
    explain(tried: TriedCall): Explanation<McpGeneration> {
      const input = new McpInput(callFrom(tried))
      return explanationOf(input, {
        rules: candidatesFor(input.call),
        memory,
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
