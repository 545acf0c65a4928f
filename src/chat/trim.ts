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
  const count = request.n ?? 1
  const trimmed = choices.slice(0, count).map(choice => trimChoice(choice, request, tokenizer))
  return Array.from({ length: count }, (_, i) => trimmed[Math.min(i, trimmed.length - 1)] as TrimmedChoice)
}

function trimChoice(choice: Choice, request: ChatRequest, tokenizer: Tokenizer): TrimmedChoice {
  // A refusal replaces the text.
  const words = choice.refusal === undefined ? choice.text : null
  const stopped = words === null ? undefined : beforeStop(words, request.stop)
  const budget = createTokenBudget(mostTokens(request), tokenizer)

  const reasoning = choice.reasoning === undefined ? undefined : budget.take(choice.reasoning)
  const reasoningTokens = budget.usedTokens()
  const textBeforeStop = stopped ?? words
  const text = textBeforeStop === null ? null : budget.take(textBeforeStop)
  const refusal = choice.refusal === undefined ? null : budget.take(choice.refusal)
  // After a stop, the model generates nothing more.
  const calls = stopped === undefined ? callsWithin(budget, allowedCalls(choice, request)) : []

  return {
    reasoning,
    text,
    refusal,
    calls,
    finishReason: finishReason(),
    tokens: { reasoning: reasoningTokens, answer: budget.usedTokens() - reasoningTokens },
  }

  function finishReason(): FinishReason {
    if (budget.isOver()) return 'length'
    if (stopped !== undefined) return 'stop'
    if (choice.finishReason) return choice.finishReason
    // As at OpenAI, a request that names the one tool to call does not get the finish reason for calls.
    if (calls.length === 0 || namesOneCall(request)) return 'stop'
    return callsFunctions(request) ? 'function_call' : 'tool_calls'
  }
}

/** The text before the first stop; `undefined` if the text contains none. */
function beforeStop(text: string, stop: ChatRequest['stop']): string | undefined {
  const stops = typeof stop === 'string' ? [stop] : (stop ?? [])
  let end = Number.POSITIVE_INFINITY
  for (const each of stops) {
    const at = each === '' ? -1 : text.indexOf(each)
    if (at >= 0) end = Math.min(end, at)
  }
  return end === Number.POSITIVE_INFINITY ? undefined : text.slice(0, end)
}

/** The calls that the request allows. The older functions were called one at a time. */
function allowedCalls({ toolCalls = [] }: Choice, request: ChatRequest): readonly ToolCall[] {
  if (toolCalls.length === 0) return toolCalls
  const { calls, names } = demandOf(request)
  if (calls === 'ruled out') return []
  const allowed = names ? toolCalls.filter(({ name }) => names.includes(name)) : toolCalls
  return request.parallel_tool_calls === false || callsFunctions(request) ? allowed.slice(0, 1) : allowed
}

type TokenBudget = ReturnType<typeof createTokenBudget>

/** Gives out tokens until they are used up. */
function createTokenBudget(most: number, { count, cut }: Tokenizer) {
  let spent = 0
  let isUsedUp = false
  return {
    usedTokens: () => spent,
    isOver: () => isUsedUp,
    /** As much of the text as there are tokens for. */
    take(text: string): string {
      if (isUsedUp) return ''
      const cost = count(text)
      isUsedUp = spent + cost > most
      const taken = isUsedUp ? cut(text, most - spent) : text
      spent += isUsedUp ? count(taken) : cost
      return taken
    },
    /** Whether there were tokens for the whole text, since part of a name is useless. */
    takeWhole(text: string): boolean {
      const cost = count(text)
      isUsedUp ||= spent + cost > most
      if (!isUsedUp) spent += cost
      return !isUsedUp
    },
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
  private promptCount: number | undefined
  private request: ChatRequest | undefined

  constructor(
    request: ChatRequest,
    choices: readonly TrimmedChoice[],
    named: UsageInput = {},
    private readonly tokenizer: Tokenizer,
  ) {
    this.completion = named.completionTokens ?? tokenSum(choices, 'answer') + reasoningTokens(choices, named)
    this.promptCount = named.promptTokens
    this.request = request
  }

  get prompt(): number {
    if (this.request) this.promptCount ??= promptTokens(this.request, this.tokenizer)
    this.request = undefined
    return this.promptCount ?? 0
  }
}

function tokenSum(choices: readonly TrimmedChoice[], kind: keyof TrimmedChoice['tokens']): number {
  let sum = 0
  for (const { tokens } of choices) sum += tokens[kind]
  return sum
}

/** A rule may give only their number. */
const reasoningTokens = (choices: readonly TrimmedChoice[], named: UsageInput): number =>
  named.reasoningTokens ?? tokenSum(choices, 'reasoning')

/** The usage of a completion. */
export function usageOf(
  { prompt, completion }: TokenCount,
  choices: readonly TrimmedChoice[],
  named: UsageInput = {},
): CompletionUsage {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: named.cachedTokens ?? 0, audio_tokens: 0 },
    completion_tokens_details: {
      reasoning_tokens: reasoningTokens(choices, named),
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  }
}

export const MOST_ANSWER_BYTES = 33_554_432

const TOKEN_CHARACTERS = 4
/** The size of the framing of a token in a stream, and of its entry in logprobs. */
const EVENT_BYTES = 250
const LOGPROB_BYTES = 90

/** Throws a 400 if the answer would be too large. */
export function requireModestAnswer(request: ChatRequest, { choices }: Generation): void {
  const count = request.n ?? 1
  let characters = 0
  for (let i = 0; i < count; i++) characters += charactersOf(choices[Math.min(i, choices.length - 1)])
  const tokens = Math.min(characters / TOKEN_CHARACTERS, mostTokens(request) * count)
  const tokenBytes = (request.stream ? EVENT_BYTES : TOKEN_CHARACTERS) + (request.logprobs ? LOGPROB_BYTES : 0)
  const bytes = tokens * tokenBytes
  if (bytes > MOST_ANSWER_BYTES) throw answerTooLarge(bytes, MOST_ANSWER_BYTES)
}

function charactersOf({ text, refusal, reasoning, toolCalls = [] }: Partial<Choice> = {}): number {
  let sum = (text?.length ?? 0) + (refusal?.length ?? 0) + (reasoning?.length ?? 0)
  for (const call of toolCalls) sum += call.arguments.length
  return sum
}
