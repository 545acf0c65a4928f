/** Rules as the first source of answers on paths that the user configured. */
import type { PathSource, Reply } from '../core/exchange.js'
import { isPaced, type Pace, paceFrom } from '../core/pace.js'
import type { HttpGeneration, HttpReplies } from '../replies/index.js'
import { paceRequested } from './chat-completions.js'

/** `usual` is the pace of streams for which neither the rule nor the request sets one. */
export const rulePaths = (replies: HttpReplies, usual: Pace): PathSource => ({
  ...replies,
  answer(exchange) {
    const asked = paceRequested(exchange.headers)
    const toReply = (said?: HttpGeneration) => said && replyOf(said, paceFrom(asked, paceFrom(said.pace, usual)))
    const said = replies.answer(exchange)
    return said instanceof Promise ? said.then(toReply) : toReply(said)
  },
})

function replyOf({ status, headers, contentType, body, answeredBy, fault }: HttpGeneration, pace: Pace): Reply {
  const head = { kind: 'reply', status, contentType, headers, answeredBy, fault } as const
  if (!isStream(body)) return { ...head, body }
  if (!isPaced(pace)) return { ...head, body: Buffer.from(body.join('')) }
  return { ...head, body: { head: '', before: '', pieces: body, after: '', tail: '', pace } }
}

const isStream = (body: HttpGeneration['body']): body is readonly string[] => Array.isArray(body)
