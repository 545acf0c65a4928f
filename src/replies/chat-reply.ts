/** A chat reply: always the same object if it has no templates, otherwise generated from the request. */
import type { Path } from '../check/check.js'
import { stringifyExact } from '../core/json.js'
import type { ChatInput, ToolResult } from './conditions/chat-input.js'
import { toolResultTest } from './conditions/compile.js'
import type { When } from './conditions/form.js'
import type { ReadyReply, ReplyOwner, Texts } from './dialect.js'
import { seedOf } from './fake.js'
import type { Choice, Generation, ToolCall } from './generation.js'
import { filePart, generatedFrom, joined, mapped, type ReplyPart, RequestFacts, textPart, valuePart } from './parts.js'
import type { ChoiceForm, ReplyForm } from './reply-form.js'
import { TemplateError, toolFact } from './templates.js'

export interface ReadyChatReply extends ReadyReply<Generation> {
  /** Whether it has any content besides tool calls. */
  readonly speaks: boolean
  /** The tools that it calls. */
  readonly calls: readonly string[]
  /** Whether it suits every request, because a model may always refuse or fail. */
  readonly isAlwaysSayable: boolean
  generate(input: ChatInput, count: number): Generation | Promise<Generation>
}

/** Compiles a reply. `path` is its position in the rule. */
export function chatReplyOf(form: ReplyForm, path: Path, owner: ReplyOwner, texts: Texts): ReadyChatReply {
  const { choices: several, usage, fault, ...single } = form
  const parts = several
    ? several.map((choice, i) => choicePart(choice, [...path, 'choices', i], texts))
    : [choicePart(single, path, texts)]
  const { answeredBy, pace } = owner
  const more = { ...(usage && { usage }), ...(fault && { fault }), ...(pace && { pace }) }
  const content = mapped(joined(parts), (choices): Generation => ({ choices, answeredBy, ...more }))
  const forms: readonly ChoiceForm[] = several ?? [single]
  const speaks = forms.some(form => !('toolCalls' in form) || speech.some(key => key in form))
  const { toolResult } = (owner.rule.when ?? {}) as When
  const isAbout = typeof toolResult === 'object' ? toolResultTest(toolResult).holds : undefined
  const calls = forms.flatMap(({ toolCalls = [] }) => toolCalls.map(({ name }) => name))
  return {
    ...{ fault, speaks, calls, mayBePassedOver: !speaks || calls.length > 0 },
    isAlwaysSayable:
      Object.keys(form).every(key => key === 'fault') || forms.some(({ refusal }) => refusal !== undefined),
    ...generatedFrom(content, {
      owner,
      facts: (input: ChatInput, count) => new ChatFacts(input, count, owner, isAbout),
      seed: (input: ChatInput) => seedOf(input.request, texts.seed),
    }),
  }
}

const speech = ['text', 'file', 'json', 'refusal']

function choicePart(form: ChoiceForm, path: Path, texts: Texts): ReplyPart<Choice> {
  const { file, json: value, toolCalls = [], finishReason } = form
  const written = (key: 'text' | 'refusal' | 'reasoning'): ReplyPart<string | undefined> =>
    form[key] === undefined ? { fixed: undefined } : textPart(form[key], [...path, key], texts)
  const spoken: ReplyPart<string | undefined> =
    'json' in form
      ? mapped(valuePart(value, [...path, 'json'], texts), json)
      : file === undefined
        ? written('text')
        : (filePart(file, path, texts) as ReplyPart<string | undefined>)
  const all = joined<unknown>([spoken, written('refusal'), written('reasoning'), callsPart(toolCalls, path, texts)])
  return mapped(all, ([text, refusal, reasoning, toolCalls]) => {
    const silent = (toolCalls as readonly ToolCall[]).length > 0 || refusal !== undefined
    return {
      text: (text as string | undefined) ?? (silent ? null : ''),
      ...((toolCalls as readonly ToolCall[]).length > 0 && { toolCalls: toolCalls as readonly ToolCall[] }),
      ...(refusal !== undefined && { refusal: refusal as string }),
      ...(reasoning !== undefined && { reasoning: reasoning as string }),
      ...(finishReason && { finishReason }),
    }
  })
}

type CallForm = NonNullable<ChoiceForm['toolCalls']>[number]

/** All calls as one value. A call with `forEach` stands for one call per item of its list. */
function callsPart(calls: readonly CallForm[], path: Path, texts: Texts): ReplyPart<readonly ToolCall[]> {
  const items = calls.map(({ forEach, as, ...call }) =>
    forEach === undefined ? call : { forEach, ...(as !== undefined && { as }), item: call },
  )
  // Authors write a call and its forEach as one map.
  const complain: Texts['complain'] = (at, sentence) =>
    texts.complain(
      at.filter((step, i) => i !== path.length + 2 || step !== 'item'),
      sentence,
    )
  const made = valuePart(items, [...path, 'toolCalls'], { ...texts, complain })
  if ('fixed' in made) return { fixed: calls.map(callOf) }
  return mapped(made, all => (all as readonly Partial<CallForm>[]).map(callOf))
}

function callOf({ id, name, type: kind = 'function', arguments: given }: Partial<CallForm>): ToolCall {
  if (name === undefined || name === '') throw new TemplateError('The name of a tool is nothing.', 1, 1, [])
  const nothing = kind === 'custom' ? '' : '{}'
  const text = typeof given === 'string' ? given : given === undefined ? nothing : json(given)
  return { kind, name: String(name), ...(id !== undefined && { id: String(id) }), arguments: text }
}

const json = (value: unknown) => stringifyExact(value ?? null)

/** The values that templates of chat rules can use, computed on first use. */
class ChatFacts extends RequestFacts<ChatInput> {
  constructor(
    input: ChatInput,
    count: number,
    owner: ReplyOwner,
    /** Whether the rule's condition is about a tool result; `undefined` if it has none. */
    private readonly isAbout: ((result: ToolResult) => boolean) | undefined,
  ) {
    super(input, count, owner)
  }
  get model() {
    return this.input.request.model
  }
  get request() {
    return this.input.exact
  }
  get user() {
    return this.input.user
  }
  get system() {
    return this.input.system
  }
  get assistant() {
    return this.input.assistant
  }
  get turn() {
    return this.input.turn
  }
  /** The tool result that the rule's condition is about; without one, the last. */
  get tool() {
    const { toolResults } = this.input
    const found = this.isAbout ? toolResults.find(this.isAbout) : toolResults.at(-1)
    return found && toolFact(found.tool, found.text)
  }
}
