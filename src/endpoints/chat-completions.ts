/** POST /v1/chat/completions: messages in, a reply out (platform-api.md, "Chat completion request"). */
import type { ChatRequest } from '../core/chat.js'
import { alternatives, invalidRequest } from '../core/errors.js'
import type { Access, Endpoint, Exchange, Reply } from '../core/exchange.js'
import { type Pace, paceFrom } from '../core/pace.js'
import { CHAT, chatIn } from '../core/read-chat.js'
import { didYouMean } from '../core/suggest.js'
import type { Replies, Said } from '../replies/index.js'
import type { Tokenizer } from '../tokenizer/index.js'
import { createCompletions } from './chat/completion.js'

interface Parts {
  readonly access: Access
  /** Ids of the models that may be asked. */
  readonly modelIds: readonly string[]
  readonly replies: Pick<Replies, 'answer'>
  /** The usual rhythm of streams. */
  readonly pace: Pace
  readonly tokenizer: Tokenizer
}

/** Checks the request, asks `replies` what the model says, and gives it the form that was asked for: whole or as a stream. */
export function chatCompletions({ access, modelIds, replies, pace, tokenizer }: Parts): Endpoint {
  const known = new Set(modelIds)
  const completions = createCompletions(tokenizer)

  function answer(request: ChatRequest, said: Said): Reply {
    const { source, remark, fault } = said
    const { contentType, headers, body, sent, tokens } = request.stream
      ? completions.streamed(request, said, paceFrom(said.pace, pace))
      : completions.whole(request, said)
    return { kind: 'reply', status: 200, contentType, headers, body, sent, source, remark, fault, tokens }
  }

  function reply(exchange: Exchange): Reply | Promise<Reply> {
    const request = chatIn(exchange)
    // The document: "Valid identifiers are those the model listing returns."
    if (!known.has(request.model)) throw unknownModel(request.model, modelIds)
    const canned = replies.answer(request, exchange)
    return canned instanceof Promise ? canned.then(found => answer(request, found)) : answer(request, canned)
  }

  return { method: 'POST', path: CHAT, access, takesBody: true, reply }
}

/** So many models are named; whoever has more looks at the listing. */
const NAMED = 20

const firstOf = (ids: readonly string[]) =>
  ids.length > NAMED ? [...ids.slice(0, NAMED), `one of ${ids.length - NAMED} more that GET /v1/models lists`] : ids

function unknownModel(model: string, known: readonly string[]) {
  const named = model.length > 100 ? `${model.slice(0, 100)}…` : model
  return invalidRequest(
    `model must be ${alternatives(firstOf(known))}, not ${JSON.stringify(named)}.${didYouMean(named, known)}`,
  )
}
