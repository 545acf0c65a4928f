/** Limits an answer to what the request allows (`n`, `stop`, `max_tokens`, parallel calls), and counts its tokens. */
import { answerTooLarge } from '../core/errors.js'
import type { CompletionUsage } from './completion.js'
import type { Choice, FinishReason, Generation, ToolCall, UsageInput } from './generation.js'
import { type ChatRequest, callsFunctions, mostTokens } from './request.js'
import { promptTokens, type Tokenizer } from './tokens/index.js'
import { demandOf, namesOneCall } from './tools.js'

/** A choice as it is sent. */
export interface TrimmedChoice {
  readonly reasoning: string | undefined
  readonly text: string | null
  readonly refusal: string | null
  readonly calls: readonly ToolCall[]
  readonly finishReason: FinishReason
  readonly tokens: { readonly reasoning: number; readonly answer: number }
}

/** Returns as many choices as requested. If there are fewer, the last one is repeated. */
export function trimChoices(
  { choices }: Generation,
  request: ChatRequest,
  tokenizer: Tokenizer,
): readonly TrimmedChoice[] {
  const trimmed: TrimmedChoice[] = []
  for (let i = 0; i < (request.n ?? 1); i++) {
    const choice = choices[i]
    trimmed.push(choice ? trimChoice(choice, request, tokenizer) : (trimmed[i - 1] as TrimmedChoice))
  }
  return trimmed
}

function trimChoice(choice: Choice, request: ChatRequest, tokenizer: Tokenizer): TrimmedChoice {
  // A refusal replaces the text.
  const words = choice.refusal === undefined ? choice.text : null
  const stopped = words === null || !request.stop ? undefined : beforeStop(words, request.stop)
  const budget = new TokenBudget(mostTokens(request), tokenizer)

  const reasoning = choice.reasoning === undefined ? undefined : budget.take(choice.reasoning)
  const reasoningTokens = budget.spent
  const textBeforeStop = stopped ?? words
  const text = textBeforeStop === null ? null : budget.take(textBeforeStop)
  const refusal = choice.refusal === undefined ? null : budget.take(choice.refusal)
  // After a stop, the model generates nothing more.
  const calls =
    stopped === undefined && choice.toolCalls ? callsWithin(budget, allowedCalls(choice.toolCalls, request)) : []

  return {
    reasoning,
    text,
    refusal,
    calls,
    finishReason: finishReason(),
    tokens: { reasoning: reasoningTokens, answer: budget.spent - reasoningTokens },
  }

  function finishReason(): FinishReason {
    if (budget.isUsedUp) return 'length'
    if (stopped !== undefined) return 'stop'
    if (choice.finishReason) return choice.finishReason
    // As at OpenAI, a request that names the one tool to call does not get the finish reason for calls.
    if (calls.length === 0 || namesOneCall(request)) return 'stop'
    return callsFunctions(request) ? 'function_call' : 'tool_calls'
  }
}

/** The text before the first stop; `undefined` if the text contains none. */
function beforeStop(text: string, stop: NonNullable<ChatRequest['stop']>): string | undefined {
  const stops = typeof stop === 'string' ? [stop] : stop
  let end = Number.POSITIVE_INFINITY
  for (const each of stops) {
    const at = each === '' ? -1 : text.indexOf(each)
    if (at >= 0) end = Math.min(end, at)
  }
  return end === Number.POSITIVE_INFINITY ? undefined : text.slice(0, end)
}

/** The calls that the request allows. The older functions were called one at a time. */
function allowedCalls(toolCalls: readonly ToolCall[], request: ChatRequest): readonly ToolCall[] {
  const { calls, names } = demandOf(request)
  if (calls === 'ruled out') return []
  const allowed = names ? toolCalls.filter(({ name }) => names.includes(name)) : toolCalls
  return request.parallel_tool_calls === false || callsFunctions(request) ? allowed.slice(0, 1) : allowed
}

/** Gives out tokens until they are used up. */
class TokenBudget {
  spent = 0
  isUsedUp = false

  constructor(
    private readonly most: number,
    private readonly tokenizer: Tokenizer,
  ) {}

  /** As much of the text as there are tokens for. */
  take(text: string): string {
    if (this.isUsedUp) return ''
    if (this.takeWhole(text)) return text
    const taken = this.tokenizer.cut(text, this.most - this.spent)
    this.spent += this.tokenizer.count(taken)
    return taken
  }

  /** Whether there were tokens for the whole text, since part of a name is useless. */
  takeWhole(text: string): boolean {
    const cost = this.tokenizer.count(text)
    this.isUsedUp ||= this.spent + cost > this.most
    if (!this.isUsedUp) this.spent += cost
    return !this.isUsedUp
  }
}

function callsWithin(budget: TokenBudget, calls: readonly ToolCall[]): readonly ToolCall[] {
  const within: ToolCall[] = []
  for (const call of calls) {
    if (!budget.takeWhole(call.name)) break
    within.push({ ...call, arguments: budget.take(call.arguments) })
  }
  return within
}

/**
 * The tokens of an answer. The prompt is counted on first use, so that a stream without usage does not wait for a long
 * one; from then on the request is not held any more.
 */
export class TokenCount {
  readonly completion: number
  readonly reasoning: number
  private promptCount: number | undefined
  private request: ChatRequest | undefined

  constructor(
    request: ChatRequest,
    choices: readonly TrimmedChoice[],
    private readonly named: UsageInput = {},
    private readonly tokenizer: Tokenizer,
  ) {
    let [answer, reasoning] = [0, 0]
    for (const { tokens } of choices) {
      answer += tokens.answer
      reasoning += tokens.reasoning
    }
    // A rule may give only the number of its reasoning tokens.
    this.reasoning = named.reasoningTokens ?? reasoning
    this.completion = named.completionTokens ?? answer + this.reasoning
    this.promptCount = named.promptTokens
    this.request = request
  }

  get prompt(): number {
    if (this.request) this.promptCount ??= promptTokens(this.request, this.tokenizer)
    this.request = undefined
    return this.promptCount ?? 0
  }

  /** As OpenAI writes it. */
  get usage(): CompletionUsage {
    return {
      prompt_tokens: this.prompt,
      completion_tokens: this.completion,
      total_tokens: this.prompt + this.completion,
      prompt_tokens_details: { cached_tokens: this.named.cachedTokens ?? 0, audio_tokens: 0 },
      completion_tokens_details: {
        reasoning_tokens: this.reasoning,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    }
  }
}

const MOST_ANSWER_BYTES = 33_554_432

const TOKEN_CHARACTERS = 4
/** The size of the framing of a token in a stream, and of its entry in logprobs. */
const EVENT_BYTES = 250
const LOGPROB_BYTES = 90

const nothing: Partial<Choice> = {}

/** Throws a 400 if the answer would be too large. */
export function requireModestAnswer(request: ChatRequest, { choices }: Generation): void {
  const count = request.n ?? 1
  let characters = 0
  for (let i = 0; i < count; i++) {
    const { text, refusal, reasoning, toolCalls = [] } = choices[Math.min(i, choices.length - 1)] ?? nothing
    characters += (text?.length ?? 0) + (refusal?.length ?? 0) + (reasoning?.length ?? 0)
    for (const call of toolCalls) characters += call.arguments.length
  }
  const tokens = Math.min(characters / TOKEN_CHARACTERS, mostTokens(request) * count)
  const tokenBytes = (request.stream ? EVENT_BYTES : TOKEN_CHARACTERS) + (request.logprobs ? LOGPROB_BYTES : 0)
  const bytes = tokens * tokenBytes
  if (bytes > MOST_ANSWER_BYTES) throw answerTooLarge(bytes, MOST_ANSWER_BYTES)
}
