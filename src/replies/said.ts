/** What the model says in answer to one request, before it is given the form of a completion. */
import type { AnsweredBy } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import type { PaceInput } from '../core/pace.js'

/** Why a model stopped, in OpenAI's words. */
export const finishReasons = ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] as const
export type FinishReason = (typeof finishReasons)[number]

/** One call of a tool. */
export interface ToolCall {
  /** Made up where there is none. */
  readonly id?: string
  /** OpenAI's custom tools take a text instead of JSON. */
  readonly kind: 'function' | 'custom'
  readonly name: string
  /** JSON, as a rule; whatever a rule's author wrote. The input of a custom tool. */
  readonly arguments: string
}

/** One of the answers to a request. */
export interface Choice {
  /** `null` where the model only calls tools or refuses. */
  readonly text: string | null
  readonly toolCalls?: readonly ToolCall[]
  readonly refusal?: string
  /** What a reasoning model thinks before it answers. */
  readonly reasoning?: string
  /** Where it is not what follows from the rest. */
  readonly finishReason?: FinishReason
}

/** Token counts that a rule names; the others are counted. */
export interface UsageInput {
  readonly promptTokens?: number | undefined
  readonly completionTokens?: number | undefined
  readonly cachedTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

/** What the model says. The same object each time a rule without templates gives it, so that work on it can be remembered. */
export interface Generation {
  /** At least one. A request for more choices than there are gets the last one again. */
  readonly choices: readonly Choice[]
  readonly usage?: UsageInput
  /** Its own rhythm, where it has one. */
  readonly pace?: PaceInput
  /** The fault on the way. */
  readonly fault?: Fault
  readonly answeredBy: AnsweredBy
  /** What else is known of it, for the log; worked out when it is read. */
  readonly remark?: () => string
}
