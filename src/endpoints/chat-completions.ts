/** POST /v1/chat/completions: messages in, a reply out (platform-api.md, "Chat completion request"). */

import { createCompletions } from '../chat/answer.js'
import { completionAnswer } from '../chat/completion.js'
import type { Generation } from '../chat/generation.js'
import { openaiRefusal } from '../chat/openai-refusals.js'
import { isOrdinary } from '../chat/ordinary.js'
import { type ChatRequest, chatIn } from '../chat/request.js'
import type { Tokenizer } from '../chat/tokens/index.js'
import { didYouMean } from '../check/suggest.js'
import { alternatives, refusal, shortened } from '../core/errors.js'
import type { DocumentedEndpoint, Endpoint, Exchange } from '../core/exchange.js'
import { PACE_HEADER, type Pace, type PaceInput, paceFrom, requestedPaceOf } from '../core/pace.js'
import type { Reply } from '../core/reply.js'
import { ANY_MODEL, type Model, namedModels } from './options.js'

/** What happens to a request that OpenAI refuses: it is answered and reported, or refused. */
export type Requests = 'warn' | 'strict'

export interface ChatParts {
  readonly models: readonly Pick<Model, 'id' | 'pace'>[]
  /** Gets the ids of models without an entry that were used, if any model may be used. */
  readonly usedModels: Set<string>
  readonly replies: {
    answer(request: ChatRequest, exchange: Exchange): Generation | Promise<Generation>
    mismatch?(request: ChatRequest, generation: Generation): Reply['remark']
  }
  readonly pace: Pace
  readonly tokenizer: Tokenizer
  readonly requests: Requests
}

/**
 * Checks the request, gets the generated reply from `replies`, and returns it in the requested form: whole or as a
 * stream.
 */
function replyWith({ requests, ...parts }: ChatParts): Endpoint['reply'] {
  const { models, replies, usedModels } = parts
  const modelIds = namedModels(models)
  const knownModels = new Set(modelIds)
  const takesAny = modelIds.length < models.length
  const answer = createAnswer(parts)

  return exchange => {
    const request = chatIn(exchange)
    // The document: "Valid identifiers are those the model listing returns."
    if (!knownModels.has(request.model)) {
      if (!takesAny) throw unknownModel(request.model, modelIds)
      if (usedModels.size < MOST_USED_MODELS) usedModels.add(request.model)
    }
    const refusedByOpenai = isOrdinary(request) ? undefined : openaiRefusal(request)
    if (refusedByOpenai && requests === 'strict') throw refusedAsByOpenai(refusedByOpenai)
    exchange.openaiRefuses = refusedByOpenai
    // Read before a rule counts its answer, since a refused request does not get one.
    const requestedPace = exchange.headers[PACE_HEADER] === undefined ? undefined : requestedPaceOf(exchange.headers)
    const generation = replies.answer(request, exchange)
    if (generation instanceof Promise) return generation.then(found => answer(exchange, request, found, requestedPace))
    return answer(exchange, request, generation, requestedPace)
  }
}

export const chatCompletions = {
  name: 'chat',
  method: 'POST',
  path: '/v1/chat/completions',
  access: ['apiKey', 'user'],
  callsModel: true,
  answer: { form: completionAnswer, section: 'Endpoints', isDocumented: false },
  clause: 'EP-3',
  replyWith,
} as const satisfies DocumentedEndpoint

/** Returns the function that sends what was generated in the requested form. */
function createAnswer({ models, replies, pace, tokenizer }: Omit<ChatParts, 'requests' | 'usedModels'>) {
  const modelPaces = new Map(models.map(model => [model.id, paceFrom(model.pace, pace)]))
  const completions = createCompletions(tokenizer)

  /** The pace from the request's header, else the rule's, else the model's. */
  const paceOf = ({ model }: ChatRequest, generation: Generation, requestedPace: PaceInput | undefined): Pace =>
    paceFrom(requestedPace, paceFrom(generation.pace, modelPaces.get(model) ?? modelPaces.get(ANY_MODEL) ?? pace))

  return (
    exchange: Exchange,
    request: ChatRequest,
    generation: Generation,
    requestedPace: PaceInput | undefined,
  ): Reply => {
    const remark =
      generation.remark ??
      (request.response_format || generation.choices.length > 1 || generation.choices[0]?.toolCalls
        ? replies.mismatch?.(request, generation)
        : undefined)
    const pace = request.stream ? paceOf(request, generation, requestedPace) : undefined
    // A stream may stay open for a long time, so drop the parsed request. If it is short, the journal parses it again when read.
    if (pace && exchange.body && exchange.body.length <= SMALL_REQUEST_BYTES) exchange.chat = undefined
    const { answeredBy, fault } = generation
    const form = pace ? completions.streamed(request, generation, pace) : completions.whole(request, generation)
    return { kind: 'reply', status: 200, answeredBy, remark, fault, ...form }
  }
}

const SMALL_REQUEST_BYTES = 10_000

/** At most this many models without an entry are listed. */
const MOST_USED_MODELS = 1000

/** At most this many models are named. The listing has them all. */
const MOST_NAMED_MODELS = 20

const firstOf = (ids: readonly string[]) =>
  ids.length > MOST_NAMED_MODELS
    ? [...ids.slice(0, MOST_NAMED_MODELS), `one of ${ids.length - MOST_NAMED_MODELS} more that GET /v1/models lists`]
    : ids

function unknownModel(model: string, known: readonly string[]) {
  const named = shortened(model)
  return refusal(
    400,
    'unknown_model',
    `model must be ${alternatives(firstOf(known))}, not ${JSON.stringify(named)}.${didYouMean(named, known)}`,
  )
}

/** For `requests: strict`, with OpenAI's message. */
const refusedAsByOpenai = (message: string) =>
  refusal(400, 'refused_by_openai', message, {
    hint: 'OpenAI refuses this request, and the option requests is strict. With warn, it is answered and reported here.',
  })
