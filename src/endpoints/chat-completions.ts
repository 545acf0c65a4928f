/** POST /v1/chat/completions: messages in, a reply out (platform-api.md, "Chat completion request"). */
import { type ChatRequest, chatRequest } from '../core/chat.js'
import { check } from '../core/check.js'
import { alternatives, emptyBody, invalidRequest, notJson } from '../core/errors.js'
import type { Access, Endpoint, Exchange, Reply } from '../core/exchange.js'
import { didYouMean } from '../core/suggest.js'
import type { CannedReply, Replies } from '../replies/index.js'
import { createCompletions } from './completion.js'

interface Parts {
  readonly access: Access
  /** Ids of the models that may be asked. */
  readonly modelIds: readonly string[]
  readonly replies: Replies
}

/** Checks the request, asks `replies` what the model says, and gives it the form that was asked for: whole or as a stream. */
export function chatCompletions({ access, modelIds, replies }: Parts): Endpoint {
  const known = new Set(modelIds)
  const completions = createCompletions()

  function answer(request: ChatRequest, canned: CannedReply): Reply {
    const { source } = canned
    const form = request.stream ? completions.streamed(request, canned) : completions.whole(request, canned)
    return { kind: 'reply', status: 200, source, ...form }
  }

  function reply({ body }: Exchange): Reply | Promise<Reply> {
    const request = requestIn(body)
    // The document: "Valid identifiers are those the model listing returns."
    if (!known.has(request.model)) throw unknownModel(request.model, modelIds)
    const canned = replies.answer(request)
    return canned instanceof Promise ? canned.then(found => answer(request, found)) : answer(request, canned)
  }

  return { method: 'POST', path: '/v1/chat/completions', access, takesBody: true, reply }
}

/** The body as a checked request. Throws a 400 that names the first thing that is wrong with it. */
function requestIn(body: Buffer | undefined): ChatRequest {
  if (!body || body.length === 0) throw emptyBody()
  const value = parsed(body)
  if (Array.isArray(value)) throw invalidRequest('The request body must be an object, not an array.')
  const checked = check(chatRequest, value, { firstOnly: true, whole: 'The request body' })
  if ('value' in checked) return checked.value
  throw invalidRequest(checked.mistakes[0]?.sentence ?? 'The request body is not a chat completion request.')
}

function parsed(body: Buffer): unknown {
  // RFC 8259 §8.1 lets a reader ignore a byte order mark, and some editors put one in front of a file that curl then sends.
  const text =
    body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf ? body.toString('utf8', 3) : body.toString('utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw notJson((error as Error).message)
  }
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
