/** Rules as the first source of answers on configured paths. */
import type { PathSource } from '../core/exchange.js'
import { isPaced, type Pace, paceFrom } from '../core/pace.js'
import type { Reply } from '../core/reply.js'
import type { HttpGeneration, HttpReplies } from '../replies/index.js'
import { requestedPaceOf } from './chat-completions.js'

/** `usual` is the pace of streams for which neither the rule nor the request sets one. */
export const rulePaths = (replies: HttpReplies, usual: Pace): PathSource => ({
  ...replies,
  answer(exchange) {
    const requested = requestedPaceOf(exchange.headers)
    const toReply = (generation?: HttpGeneration) =>
      generation && replyOf(generation, paceFrom(requested, paceFrom(generation.pace, usual)))
    const generation = replies.answer(exchange)
    return generation instanceof Promise ? generation.then(toReply) : toReply(generation)
  },
})

function replyOf({ status, headers, contentType, body, answeredBy, fault }: HttpGeneration, pace: Pace): Reply {
  const head = { kind: 'reply', status, contentType, headers, answeredBy, fault } as const
  if (!isStream(body)) return { ...head, body }
  if (!isPaced(pace)) return { ...head, body: Buffer.from(body.join('')) }
  return { ...head, body: { head: '', before: '', pieces: body, after: '', tail: '', pace } }
}

const isStream = (body: HttpGeneration['body']): body is readonly string[] => Array.isArray(body)
