/** The dialect of rules for chat completions: what the emulated model says, and when. */
import type { Choice, Generation, ToolCall } from '../../chat/generation.js'
import { demandOf } from '../../chat/tools.js'
import type { Path } from '../../check/check.js'
import { alternatives } from '../../core/errors.js'
import { stringifyExact } from '../../core/json.js'
import type { Dialect, ReadyReply, ReplyOwner, Texts } from '../dialect.js'
import { seedOf } from '../fake.js'
import {
  commonFacts,
  type FactTable,
  filePart,
  generatedFrom,
  joined,
  mapped,
  type NamedTexts,
  namesOfFacts,
  type ReplyPart,
  textPart,
  valuePart,
} from '../parts.js'
import { hasTemplate, TemplateError, toolFact } from '../templates.js'
import { type ChatRule, type ChoiceForm, compileChatWhen, type ReplyForm, toolResultTest, type When } from './form.js'
import type { ChatInput } from './input.js'

export interface ReadyChatReply extends ReadyReply<Generation> {
  /** Whether it has any content besides tool calls. */
  readonly hasContent: boolean
  readonly calls: readonly string[]
  /** Whether it suits every request: a model may always refuse or fail. */
  readonly suitsEveryRequest: boolean
  generate(input: ChatInput, count: number): Generation | Promise<Generation>
}

/** What the templates of chat rules can use. */
const facts: FactTable<ChatInput> = {
  request: ({ input }) => input.exact,
  user: ({ input }) => input.user,
  system: ({ input }) => input.system,
  assistant: ({ input }) => input.assistant,
  model: ({ input }) => input.request.model,
  turn: ({ input }) => input.turn,
  tool: ({ input, owner }) => toolOf(input, owner),
  ...commonFacts,
}

/** The tool result that meets the rule's condition; without a condition, the last one. */
function toolOf({ toolResults }: ChatInput, { rule }: ReplyOwner) {
  const { toolResult } = (rule.when ?? {}) as When
  const found = typeof toolResult === 'object' ? toolResults.find(toolResultTest(toolResult).holds) : toolResults.at(-1)
  return found && toolFact(found.tool, found.text)
}

/** Compiles a reply. `path` is its position in the rule. */
function chatReplyOf(form: ReplyForm, path: Path, owner: ReplyOwner, plainTexts: Texts): ReadyChatReply {
  const texts = { ...plainTexts, names: namesOfFacts(facts) }
  const { choices: choiceForms, usage, fault, ...single } = form
  const parts = choiceForms
    ? choiceForms.map((choice, i) => choicePart(choice, [...path, 'choices', i], texts))
    : [choicePart(single, path, texts)]
  const { answeredBy, pace } = owner
  const settings = { ...(usage && { usage }), ...(fault && { fault }), ...(pace && { pace }) }
  const content = mapped(joined(parts), (choices): Generation => ({ choices, answeredBy, ...settings }))
  const forms: readonly ChoiceForm[] = choiceForms ?? [single]
  const hasContent = forms.some(form => !('toolCalls' in form) || contentKeys.some(key => key in form))
  const calls = forms.flatMap(({ toolCalls = [] }) => toolCalls.map(({ name }) => name))
  return {
    fault,
    hasContent,
    calls,
    mayBeSkipped: !hasContent || calls.length > 0,
    suitsEveryRequest:
      Object.keys(form).every(key => key === 'fault') || forms.some(({ refusal }) => refusal !== undefined),
    ...generatedFrom(content, {
      owner,
      facts,
      seed: (input: ChatInput) => seedOf(input.request, texts.seed),
    }),
  }
}

const contentKeys = ['text', 'file', 'json', 'refusal']

function choicePart(form: ChoiceForm, path: Path, texts: NamedTexts): ReplyPart<Choice> {
  const { file, json: value, toolCalls = [], finishReason } = form
  const textField = (key: 'text' | 'refusal' | 'reasoning'): ReplyPart<string | undefined> =>
    form[key] === undefined ? { fixed: undefined } : textPart(form[key], [...path, key], texts)
  const content: ReplyPart<string | undefined> =
    'json' in form
      ? mapped(valuePart(value, [...path, 'json'], texts), json)
      : file === undefined
        ? textField('text')
        : (filePart(file, path, texts) as ReplyPart<string | undefined>)
  const parts = joined<unknown>([
    content,
    textField('refusal'),
    textField('reasoning'),
    callsPart(toolCalls, path, texts),
  ])
  return mapped(parts, ([text, refusal, reasoning, toolCalls]) => {
    const hasOtherContent = (toolCalls as readonly ToolCall[]).length > 0 || refusal !== undefined
    return {
      text: (text as string | undefined) ?? (hasOtherContent ? null : ''),
      ...((toolCalls as readonly ToolCall[]).length > 0 && { toolCalls: toolCalls as readonly ToolCall[] }),
      ...(refusal !== undefined && { refusal: refusal as string }),
      ...(reasoning !== undefined && { reasoning: reasoning as string }),
      ...(finishReason && { finishReason }),
    }
  })
}

type CallForm = NonNullable<ChoiceForm['toolCalls']>[number]

/** All calls as one value. A call with `forEach` stands for one call per item of its list. */
function callsPart(calls: readonly CallForm[], path: Path, texts: NamedTexts): ReplyPart<readonly ToolCall[]> {
  const items = calls.map(({ forEach, as, ...call }) =>
    forEach === undefined ? call : { forEach, ...(as !== undefined && { as }), item: call },
  )
  // Authors write a call and its forEach as one map.
  const complain: Texts['complain'] = (at, sentence) =>
    texts.complain(
      at.filter((step, i) => i !== path.length + 2 || step !== 'item'),
      sentence,
    )
  const part = valuePart(items, [...path, 'toolCalls'], { ...texts, complain })
  if ('fixed' in part) return { fixed: calls.map(callOf) }
  return mapped(part, all => (all as readonly Partial<CallForm>[]).map(callOf))
}

function callOf({ id, name, type: kind = 'function', arguments: given }: Partial<CallForm>): ToolCall {
  if (name === undefined || name === '') throw new TemplateError('The name of a tool is empty.', 1, 1, [])
  const noArguments = kind === 'custom' ? '' : '{}'
  const text = typeof given === 'string' ? given : given === undefined ? noArguments : json(given)
  return { kind, name: String(name), ...(id !== undefined && { id: String(id) }), arguments: text }
}

const json = (value: unknown) => stringifyExact(value ?? null)

export const chat: Dialect<ChatInput, ReadyChatReply> = {
  conditions: rule => compileChatWhen((rule as ChatRule).when ?? {}),
  compileReply: (form, path, owner, texts) => chatReplyOf(form as NonNullable<ChatRule['reply']>, path, owner, texts),
  objection: toolChoiceObjection,
}

/** A model never does what `tool_choice` rules out. Returns why a reply is skipped for that reason, or `undefined`. */
function toolChoiceObjection(
  { hasContent, calls, suitsEveryRequest }: ReadyChatReply,
  { request }: ChatInput,
): string | undefined {
  if (suitsEveryRequest) return undefined
  const { calls: demand, names } = demandOf(request)
  // The result of a template is not known yet.
  const callable = names ? calls.filter(name => names.includes(name) || hasTemplate(name)) : calls
  if (demand === 'required' && callable.length === 0) {
    return names
      ? `tool_choice asks for ${alternatives(names)}, which it does not call`
      : 'tool_choice is required, and it calls no tool'
  }
  if (hasContent || calls.length === 0) return undefined
  if (demand === 'ruled out') return 'tool_choice is none, and it only calls tools'
  return callable.length > 0
    ? undefined
    : `tool_choice allows ${alternatives(names ?? [])} only, which it does not call`
}
