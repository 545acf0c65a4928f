/**
 * The formats of a chat completion: one JSON object, or the events of a stream. They are OpenAI's, since the document
 * does not show them.
 */

import { createIds } from '../core/clock.js'
import { isPaced, type Pace } from '../core/pace.js'
import { completionObject, streamEvents } from './completion-object.js'
import {
  completionTokens,
  type Form,
  openingOf,
  requireModestAnswer,
  streamForm,
  streamText,
  TokenCount,
  usageOf,
  withPace,
} from './frame.js'
import type { Generation } from './generation.js'
import type { ChatRequest } from './request.js'
import type { Tokenizer } from './tokens/index.js'
import { trimChoices } from './trim.js'

/** Creates completions. `tokenizer` counts their tokens. */
export function createCompletions(tokenizer: Tokenizer) {
  const nextCallId = createIds('call_', 16)

  /** The completion as one JSON object. */
  function whole(request: ChatRequest, generation: Generation): Form {
    const { completion, tokens } = complete(request, generation, true)
    return { contentType: 'application/json', body: JSON.stringify(completion), tokens }
  }

  /** The completion as server-sent events, at the speed of `pace`. */
  function streamed(request: ChatRequest, generation: Generation, pace: Pace): Form {
    const { completion, tokens } = complete(request, generation, request.stream_options?.include_usage === true)
    const events = streamEvents(completion, tokenizer)
    if (!isPaced(pace)) return { ...streamForm, body: Buffer.from(streamText(events)), tokens }
    // A model generates its choices at the same time, so that each has the full speed.
    const sharedPace = { ...pace, tokensPerSecond: pace.tokensPerSecond * completion.choices.length }
    return { ...streamForm, body: withPace(events, sharedPace, request), tokens }
  }

  /** Omits the usage if it is not sent, because counting a long prompt takes time. */
  function complete(request: ChatRequest, generation: Generation, hasUsage: boolean) {
    requireModestAnswer(request, generation)
    const choices = trimChoices(generation, request, tokenizer)
    const tokens = new TokenCount(request, generation.usage, tokenizer, {
      tokens: completionTokens(choices, generation.usage),
    })
    const usage = hasUsage ? usageOf(tokens, choices, generation.usage) : undefined
    const opening = openingOf(request)
    return { completion: completionObject(request, { opening, choices, usage, tokenizer, nextCallId }), tokens }
  }

  return { whole, streamed }
}
