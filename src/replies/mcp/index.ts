/** The dialect of rules for MCP calls. Loaded with the first such rule or server. */
import type { Path } from '../../check/check.js'
import { inlineYaml } from '../../check/yaml.js'
import { noRuleMatches } from '../../core/errors.js'
import type { Fault } from '../../core/fault.js'
import { stringifyExact } from '../../core/json.js'
import type { RpcErrorBody } from '../../core/json-rpc.js'
import type { PaceInput } from '../../core/pace.js'
import type { AnsweredBy } from '../../core/reply.js'
import type { Dialect, ReadyReply, ReadyRule, ReplyOwner, Texts } from '../dialect.js'
import { createEngine, type RuleSources, replyAt } from '../engine.js'
import { type Explanation, explanationOf, nearestSentence } from '../explain.js'
import { seedOfTexts } from '../fake.js'
import {
  commonFacts,
  type FactTable,
  filePart,
  generatedFrom,
  joined,
  mapped,
  namesOfFacts,
  valuePart,
} from '../parts.js'
import { sampled, UnfitSchema } from '../structured/index.js'
import { callFrom, type McpCall, McpInput, mcpTarget, type TriedCall } from './call.js'
import { type McpReplyForm, type McpRule, mcpConditionsOf, type ProtocolFault } from './form.js'

type ReadyMcpReply = ReadyReply<McpGeneration>
type McpReadyRule = ReadyRule<ReadyMcpReply>

export const mcp: Dialect<McpInput, ReadyMcpReply> = {
  conditions: rule => mcpConditionsOf(rule as McpRule),
  compileReply: (form, path, owner, texts) => mcpReplyOf(form as McpReplyForm, path, owner, texts),
}

export interface McpRuleAnswer {
  readonly generation: McpGeneration
  /** The rule, and how often it has answered, so that the call can be resumed. */
  readonly place: string
  readonly count: number
}

/** One line can contain several rules. */
const titleAndPlace = ({ title, place }: ReadyRule) => `${title} ${place}`

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
  const nearest = (call: McpCall) => nearestSentence(new McpInput(call), { rules: candidatesFor(call), memory })
  return {
    /** The answer of the first rule that matches; `undefined` if none does. */
    async take(call: McpCall): Promise<McpRuleAnswer | undefined> {
      const input = new McpInput(call)
      const chosen = take(input)
      return chosen && answerOf(chosen.rule, input, chosen.count)
    },
    /** The answer of the same rule once the client has answered more questions; `undefined` if the rule no longer exists. */
    async resume({ place, count }: Pick<McpRuleAnswer, 'place' | 'count'>, call: McpCall) {
      const rule = rulesFor(call.scope).find(rule => titleAndPlace(rule) === place)
      return rule && answerOf(rule, new McpInput(call), count)
    },
    nearest,
    /** The same; `undefined` if there are no rules for such calls. */
    whyNone: (call: McpCall) => (candidatesFor(call).length > 0 ? nearest(call) : undefined),
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
  generation: await replyAt(rule, count).generate(input, count),
  place: titleAndPlace(rule),
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

/** A question to the client, in the protocol's form. */
export interface McpQuestion {
  readonly method: 'elicitation/create' | 'sampling/createMessage' | 'roots/list'
  readonly params?: Readonly<Record<string, unknown>>
}

/** Questions that are asked together, by their names. */
export type McpRound = Readonly<Record<string, McpQuestion>>

/** An answer to a call. */
export interface McpGeneration {
  /** As written in the rule; missing parts follow from the call. */
  readonly content: Omit<McpReplyForm, 'ask' | 'fault' | 'protocolFault' | 'error' | 'file'>
  readonly file?: string | Buffer | undefined
  readonly rounds: readonly McpRound[]
  readonly error?: RpcErrorBody | undefined
  readonly protocolFault?: ProtocolFault | undefined
  readonly fault?: Fault | undefined
  readonly pace?: PaceInput
  readonly answeredBy: AnsweredBy
}

/** What the templates of rules for calls can use. */
const facts: FactTable<McpInput> = {
  ...commonFacts,
  method: ({ input }) => input.method,
  name: ({ input }) => input.name,
  uri: ({ input }) => input.name,
  arguments: ({ input }) => input.arguments,
  argument: ({ input }) => input.call.params.argument,
  answers: ({ input }) => input.call.answers,
  client: ({ input }) => input.call.client,
  server: ({ input }) => input.call.server,
  version: ({ input }) => input.call.version,
}

/** Compiles a reply. `at` is its position in the rule. */
function mcpReplyOf(form: McpReplyForm, at: Path, owner: ReplyOwner, texts: Texts): ReadyReply<McpGeneration> {
  const { fault, protocolFault, file, ...rest } = form
  const mcpTexts = { ...texts, names: namesOfFacts(facts) }
  const { answeredBy, pace } = owner
  const content = file === undefined ? { fixed: undefined } : filePart(file, at, mcpTexts)
  const generation = mapped(
    joined<unknown>([valuePart(rest, at, mcpTexts), content]),
    ([value, file]): McpGeneration => {
      const { ask, error, ...content } = value as McpReplyForm
      const rounds = (ask === undefined ? [] : [ask].flat()).map(roundOf)
      const faults = { ...(fault && { fault }), ...(protocolFault && { protocolFault }) }
      return {
        content,
        rounds,
        answeredBy,
        ...(error && { error }),
        ...faults,
        ...(pace && { pace }),
        file: file as string | Buffer | undefined,
      }
    },
  )
  return {
    fault,
    mayBeSkipped: false,
    ...generatedFrom(generation, {
      owner,
      facts,
      seed: ({ call }: McpInput) => seedOfTexts([texts.seed, call.method, stringifyExact(call.params)]),
    }),
  }
}

type AskForm = Extract<NonNullable<McpReplyForm['ask']>, readonly unknown[]>[number]

const roundOf = (questions: AskForm): McpRound =>
  Object.fromEntries(
    Object.entries(questions).map(([name, { elicitation, sampling, roots }]) => {
      if (elicitation) return [name, { method: 'elicitation/create', params: { mode: 'form', ...elicitation } }]
      if (sampling) return [name, { method: 'sampling/createMessage', params: { maxTokens: 1000, ...sampling } }]
      return [name, { method: 'roots/list', ...(roots && Object.keys(roots).length > 0 && { params: roots }) }]
    }),
  )

/** Formats the answer as lines of text. */
const linesOfMcpReply = ({ content, error, protocolFault, fault }: McpGeneration): readonly string[] => [
  ...Object.entries(content).map(([name, value]) => `${name} ${typeof value === 'string' ? value : inlineYaml(value)}`),
  ...(error ? [`error ${error.code} ${error.message}`] : []),
  ...(protocolFault ? [`protocol fault ${protocolFault}`] : []),
  ...(fault ? [`fault ${inlineYaml(fault)}`] : []),
]
