/** What a completion costs, in tokens: counted, but for what its rule names. */

import type { CompletionUsage } from '../../completions/completion.js'
import type { ChatRequest } from '../../completions/request.js'
import type { UsageInput } from '../../replies/index.js'
import { promptTokens, type Tokenizer } from '../../tokenizer/index.js'
import type { Spoken } from './trim.js'

/**
 * A cost that is counted when somebody asks for it: a stream that tells no usage does not wait for a long prompt to be read.
 * A class, because each answer has one, and an object that brings its own getters takes ten times as long to make.
 */
export class Cost {
  private counted: number | undefined

  constructor(
    private readonly request: ChatRequest,
    private readonly named: UsageInput | undefined,
    private readonly tokenizer: Tokenizer,
    private readonly countCompletion: () => number,
  ) {}

  get prompt(): number {
    this.counted ??= this.named?.promptTokens ?? promptTokens(this.request, this.tokenizer)
    return this.counted
  }

  get completion(): number {
    return this.countCompletion()
  }
}

/** The tokens of all choices. Thoughts count as well, also those of which only the number is named. */
export function completionTokens(choices: readonly Spoken[], named: UsageInput = {}): number {
  const spoken = choices.reduce((sum, { tokens }) => sum + tokens.spoken, 0)
  return named.completionTokens ?? spoken + reasoningTokens(choices, named)
}

function reasoningTokens(choices: readonly Spoken[], { reasoningTokens }: UsageInput): number {
  return reasoningTokens ?? choices.reduce((sum, { tokens }) => sum + tokens.reasoning, 0)
}

const detailsOf = (cached_tokens: number, reasoning_tokens: number) => ({
  prompt_tokens_details: { cached_tokens, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
})

/** The usage of a completion. */
export function usageOf(
  { prompt, completion }: Cost,
  choices: readonly Spoken[],
  named: UsageInput = {},
): CompletionUsage {
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...detailsOf(named.cachedTokens ?? 0, reasoningTokens(choices, named)),
  }
}

const noDetails = JSON.stringify(detailsOf(0, 0)).slice(1)

/** The same as JSON for a plain text, which has nothing to tell in the details. */
export const plainUsage = ({ prompt, completion }: Cost) =>
  `{"prompt_tokens":${prompt},"completion_tokens":${completion},"total_tokens":${prompt + completion},${noDetails}`
