/** The reply of a rule for an MCP call, before it has a wire format. */
import type { Path } from '../../check/check.js'
import { inlineYaml } from '../../check/yaml.js'
import type { Fault } from '../../core/fault.js'
import { stringifyExact } from '../../core/json.js'
import type { RpcErrorBody } from '../../core/json-rpc.js'
import type { PaceInput } from '../../core/pace.js'
import type { AnsweredBy } from '../../core/reply.js'
import type { ReadyReply, ReplyOwner, Texts } from '../dialect.js'
import { seedOfTexts } from '../fake.js'
import { filePart, generatedFrom, joined, mapped, RequestFacts, valuePart } from '../parts.js'
import { commonNames } from '../templates.js'
import type { McpInput } from './call.js'
import type { McpReplyForm, ProtocolFault } from './form.js'

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

const names = [
  ...[...commonNames, 'method', 'name', 'uri', 'arguments', 'argument'],
  ...['answers', 'client', 'server', 'version'],
]

/** Compiles a reply. `at` is its position in the rule. */
export function mcpReplyOf(form: McpReplyForm, at: Path, owner: ReplyOwner, texts: Texts): ReadyReply<McpGeneration> {
  const { fault, protocolFault, file, ...rest } = form
  const mcpTexts = { ...texts, names }
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
      facts: (input: McpInput, count) => {
        const { call, method, name } = input
        const { answers, client, server, version, params } = call
        const callFacts = { method, name, uri: name, arguments: input.arguments, argument: params.argument }
        return Object.assign(new RequestFacts(input, count, owner), { ...callFacts, answers, client, server, version })
      },
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
export const linesOfMcpReply = ({ content, error, protocolFault, fault }: McpGeneration): readonly string[] => [
  ...Object.entries(content).map(([name, value]) => `${name} ${typeof value === 'string' ? value : inlineYaml(value)}`),
  ...(error ? [`error ${error.code} ${error.message}`] : []),
  ...(protocolFault ? [`protocol fault ${protocolFault}`] : []),
  ...(fault ? [`fault ${inlineYaml(fault)}`] : []),
]
