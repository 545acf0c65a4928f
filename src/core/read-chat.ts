/** Reads the body of a chat completion request, once for all who want to know what is in it. */
import { check } from '../check/check.js'
import { type ChatRequest, chatRequest } from './chat.js'
import { emptyBody, invalidRequest, notJson } from './errors.js'
import type { Exchange } from './exchange.js'

/** Where chat completions are asked for. */
export const CHAT = '/v1/chat/completions'

/** What an exchange asks of a model. Throws a 400 that names the first thing that is wrong with its body. */
export function chatIn(exchange: Pick<Exchange, 'body' | 'chat'>): ChatRequest {
  exchange.chat ??= requestIn(exchange.body)
  return exchange.chat
}

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
