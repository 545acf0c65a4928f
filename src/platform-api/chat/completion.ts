/**
 * The formats of a chat completion: one JSON object, or the events of a stream. They are OpenAI's, since the document
 * does not show them.
 */
import type { ChatRequest } from '../../completions/request.js'
import type { Tokenizer } from '../../completions/tokens/index.js'
import { isPaced, type Pace } from '../../core/pace.js'
import { createIds } from '../../core/random.js'
import type { Generation } from '../../replies/index.js'
import { Cost, completionTokens, type Form, inOnePiece, openingOf, streamForm, usageOf } from './frame.js'
import { paced } from './rhythm.js'
import { spokenChoices } from './trim.js'
import { streamEvents, wholeCompletion } from './whole.js'

/** Creates completions of any kind. Their tokens are counted by `tokenizer`. */
export function createAnyCompletions(tokenizer: Tokenizer) {
  const nextCallId = createIds('call_', 16)

  /** The completion as one JSON object. */
  function whole(request: ChatRequest, generation: Generation): Form {
    const { completion, tokens } = made(request, generation, true)
    return { contentType: 'application/json', body: JSON.stringify(completion), tokens }
  }

  /** The completion as server-sent events, at the speed of `pace`. */
  function streamed(request: ChatRequest, generation: Generation, pace: Pace): Form {
    const { completion, tokens } = made(request, generation, request.stream_options?.include_usage === true)
    const events = streamEvents(completion, tokenizer)
    if (!isPaced(pace)) return { ...streamForm, body: Buffer.from(inOnePiece(events)), tokens }
    // A model generates its choices at the same time, so that each has the full speed.
    const shared = { ...pace, tokensPerSecond: pace.tokensPerSecond * completion.choices.length }
    return { ...streamForm, body: paced(events, shared, request, tokens), tokens }
  }

  /** Leaves the usage out if it is not sent, because counting a long prompt takes time. */
  function made(request: ChatRequest, generation: Generation, tellsUsage: boolean) {
    const choices = spokenChoices(generation, request, tokenizer)
    const tokens = new Cost(request, generation.usage, tokenizer, {
      tokens: completionTokens(choices, generation.usage),
    })
    const usage = tellsUsage ? usageOf(tokens, choices, generation.usage) : undefined
    const opening = openingOf(request)
    return { completion: wholeCompletion(request, { opening, choices, usage, tokenizer, nextCallId }), tokens }
  }

  return { whole, streamed }
}
