/** The bodies of a chat completion, in OpenAI's words. */
import type { ChunkAnswer, CompletionAnswer } from '../../core/answers.js'
import type { FinishReason } from '../../replies/index.js'

export interface Completion {
  readonly id: string
  readonly object: 'chat.completion'
  /** Seconds since 1970. */
  readonly created: number
  readonly model: string
  readonly choices: readonly CompletionChoice[]
  readonly usage: Usage
  readonly system_fingerprint: string
}

export interface CompletionChoice {
  readonly index: number
  readonly message: Message
  readonly logprobs: Logprobs | null
  readonly finish_reason: FinishReason
}

export interface Message {
  readonly role: 'assistant'
  readonly content: string | null
  /** What DeepSeek and vLLM call it; OpenAI's API tells nothing of it. */
  readonly reasoning_content?: string
  readonly refusal: string | null
  readonly tool_calls?: readonly (FunctionToolCall | CustomToolCall)[]
  /** How functions were called before there were tools. */
  readonly function_call?: CalledFunction
}

export interface FunctionToolCall {
  readonly id: string
  readonly type: 'function'
  readonly function: CalledFunction
}

export interface CustomToolCall {
  readonly id: string
  readonly type: 'custom'
  readonly custom: { readonly name: string; readonly input: string }
}

export interface CalledFunction {
  readonly name: string
  readonly arguments: string
}

/** The choice of an event of a stream; each event has one. */
export interface ChunkChoice {
  readonly index: number
  readonly delta: Delta
  readonly logprobs: Logprobs | null
  readonly finish_reason: FinishReason | null
}

/** What an event adds to the message. */
export interface Delta {
  readonly role?: 'assistant'
  readonly content?: string | null
  readonly reasoning_content?: string
  readonly refusal?: string | null
  readonly tool_calls?: readonly ToolCallDelta[]
  readonly function_call?: Partial<CalledFunction>
}

/** The beginning of a call, or a piece of its arguments. */
export type ToolCallDelta = { readonly index: number } & (
  | FunctionToolCall
  | CustomToolCall
  | { readonly function: Pick<CalledFunction, 'arguments'> }
  | { readonly custom: Pick<CustomToolCall['custom'], 'input'> }
)

export interface Logprobs {
  readonly content: readonly TokenLogprob[] | null
  readonly refusal: readonly TokenLogprob[] | null
}

export interface TopLogprob {
  readonly token: string
  readonly logprob: number
  readonly bytes: readonly number[]
}

export interface TokenLogprob extends TopLogprob {
  readonly top_logprobs: readonly TopLogprob[]
}

export interface Usage {
  readonly prompt_tokens: number
  readonly completion_tokens: number
  readonly total_tokens: number
  readonly prompt_tokens_details: { readonly cached_tokens: number; readonly audio_tokens: number }
  readonly completion_tokens_details: {
    readonly reasoning_tokens: number
    readonly audio_tokens: number
    readonly accepted_prediction_tokens: number
    readonly rejected_prediction_tokens: number
  }
}

/** An event of a stream, without what stands in its frame. */
export type ChunkBody = Pick<ChunkAnswer, 'id' | 'object' | 'created' | 'model'> & {
  readonly choices: readonly ChunkChoice[]
  readonly usage?: Usage | null
}

/** A body that the contract does not know, or knows otherwise, does not compile here. */
type Kept<Body extends Form & { readonly [K in Exclude<keyof Body, keyof Form>]?: never }, Form> = Body

type Choice<Answer extends { readonly choices: readonly unknown[] }> = Answer['choices'][number]

/** The bodies above and the forms by which answers are judged (core/answers.ts) say the same. */
export type AsAgreed = readonly [
  Kept<Completion, CompletionAnswer>,
  Kept<CompletionChoice, Choice<CompletionAnswer>>,
  Kept<Message, Choice<CompletionAnswer>['message']>,
  Kept<ChunkBody, ChunkAnswer>,
  Kept<ChunkChoice, Choice<ChunkAnswer>>,
  Kept<Delta, Choice<ChunkAnswer>['delta']>,
  Kept<Usage, NonNullable<CompletionAnswer['usage']>>,
]
