/** Limits an answer to what the request allows: `n`, `stop`, `max_tokens`, and the number of parallel tool calls. */

import type { Choice, FinishReason, Generation, ToolCall } from './generation.js'
import { type ChatRequest, callsFunctions, mostTokens } from './request.js'
import type { Tokenizer } from './tokens/index.js'
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
    ...{ reasoning, text, refusal, calls },
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
