/** What the model says in answer to one request, before it is formatted as a completion. */

import type { Fault } from '../core/fault.js'
import type { PaceInput } from '../core/pace.js'
import type { AnsweredBy } from '../core/reply.js'
import type { finishReasons } from './completion.js'

/** Why a model stopped, with OpenAI's names. */
export type FinishReason = (typeof finishReasons)[number]

/** One call of a tool. */
export interface ToolCall {
  /** Generated if absent. */
  readonly id?: string
  /** OpenAI's custom tools take a text instead of JSON. */
  readonly kind: 'function' | 'custom'
  readonly name: string
  /** Usually JSON, but it may be any text that a rule's author wrote, or the input of a custom tool. */
  readonly arguments: string
}

/** One of the answers to a request. */
export interface Choice {
  /** `null` if the model only calls tools or refuses. */
  readonly text: string | null
  readonly toolCalls?: readonly ToolCall[]
  readonly refusal?: string
  /** The reasoning of a model before its answer. */
  readonly reasoning?: string
  /** If it does not follow from the rest. */
  readonly finishReason?: FinishReason
}

/** Token counts that a rule sets. The others are counted. */
export interface UsageInput {
  readonly promptTokens?: number | undefined
  readonly completionTokens?: number | undefined
  readonly cachedTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
}

/**
 * What the model says. A rule without templates always returns the same object, so that derived values can be cached.
 */
export interface Generation {
  /** At least one. If a request asks for more choices, the last one is repeated. */
  readonly choices: readonly Choice[]
  readonly usage?: UsageInput
  /** Its own pace, if it has one. */
  readonly pace?: PaceInput
  /** The fault to apply. */
  readonly fault?: Fault
  readonly answeredBy: AnsweredBy
  /** Further information for the log, computed when it is read. */
  readonly remark?: () => string
}
