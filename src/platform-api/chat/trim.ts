/** Limits an answer to what the request allows: `n`, `stop`, `max_tokens`, and the number of parallel tool calls. */
import { type ChatRequest, callsFunctions } from '../../completions/request.js'
import type { Tokenizer } from '../../completions/tokens/index.js'
import { demandOf, namesOneCall } from '../../completions/tools.js'
import type { Choice, FinishReason, Generation, ToolCall } from '../../replies/index.js'

/** A choice as it is sent. */
export interface Spoken {
  readonly reasoning: string | undefined
  readonly text: string | null
  readonly refusal: string | null
  readonly calls: readonly ToolCall[]
  readonly finishReason: FinishReason
  readonly tokens: { readonly reasoning: number; readonly spoken: number }
}

/** Returns as many choices as requested. If there are fewer, the last one is repeated. */
export function spokenChoices({ choices }: Generation, request: ChatRequest, tokenizer: Tokenizer): readonly Spoken[] {
  const wanted = request.n ?? 1
  const spoken = choices.slice(0, wanted).map(choice => spokenChoice(choice, request, tokenizer))
  return Array.from({ length: wanted }, (_, i) => spoken[Math.min(i, spoken.length - 1)] as Spoken)
}

function spokenChoice(choice: Choice, request: ChatRequest, tokenizer: Tokenizer): Spoken {
  // A refusal replaces the text.
  const words = choice.refusal === undefined ? choice.text : null
  const stopped = words === null ? undefined : beforeStop(words, request.stop)
  const allowance = createAllowance(mostTokens(request), tokenizer)

  const reasoning = choice.reasoning === undefined ? undefined : allowance.take(choice.reasoning)
  const reasoningTokens = allowance.spent()
  const said = stopped ?? words
  const text = said === null ? null : allowance.take(said)
  const refusal = choice.refusal === undefined ? null : allowance.take(choice.refusal)
  // After a stop, the model generates nothing more.
  const calls = stopped === undefined ? callsWithin(allowance, callsAtOnce(choice, request)) : []

  return {
    ...{ reasoning, text, refusal, calls },
    finishReason: finishReason(),
    tokens: { reasoning: reasoningTokens, spoken: allowance.spent() - reasoningTokens },
  }

  function finishReason(): FinishReason {
    if (allowance.isOver()) return 'length'
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

/** The maximum length of the answer. */
export const mostTokens = ({ max_tokens, max_completion_tokens }: ChatRequest) =>
  Math.min(max_tokens ?? Number.POSITIVE_INFINITY, max_completion_tokens ?? Number.POSITIVE_INFINITY)

/** The calls that the request allows. The older functions were called one at a time. */
function callsAtOnce({ toolCalls = [] }: Choice, request: ChatRequest): readonly ToolCall[] {
  if (toolCalls.length === 0) return toolCalls
  const { calls, names } = demandOf(request)
  if (calls === 'ruled out') return []
  const allowed = names ? toolCalls.filter(({ name }) => names.includes(name)) : toolCalls
  return request.parallel_tool_calls === false || callsFunctions(request) ? allowed.slice(0, 1) : allowed
}

type Allowance = ReturnType<typeof createAllowance>

/** Gives out tokens until they are used up. */
function createAllowance(most: number, { count, cut }: Tokenizer) {
  let spent = 0
  let over = false
  return {
    spent: () => spent,
    isOver: () => over,
    /** As much of the text as there are tokens for. */
    take(text: string): string {
      if (over) return ''
      const cost = count(text)
      over = spent + cost > most
      const taken = over ? cut(text, most - spent) : text
      spent += over ? count(taken) : cost
      return taken
    },
    /** Whether there were tokens for the whole text, since part of a name is useless. */
    takeWhole(text: string): boolean {
      const cost = count(text)
      over ||= spent + cost > most
      if (!over) spent += cost
      return !over
    },
  }
}

function callsWithin(allowance: Allowance, calls: readonly ToolCall[]): readonly ToolCall[] {
  const within: ToolCall[] = []
  for (const call of calls) {
    if (!allowance.takeWhole(call.name)) break
    within.push({ ...call, arguments: allowance.take(call.arguments) })
  }
  return within
}
