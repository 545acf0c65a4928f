/** The body of a reply as the bytes that leave, for whoever looks at it afterwards. */
import type { Paced, Reply } from './exchange.js'

export function replyBytes({ body, again }: Pick<Reply, 'body' | 'again'>): Buffer {
  if (typeof body === 'string') return Buffer.from(body)
  if (Buffer.isBuffer(body)) return again?.() ?? body
  return Buffer.from(textOf(body), body.bytewise ? 'latin1' : 'utf8')
}

const textOf = ({ head, before, pieces, after, tail }: Paced) =>
  head + pieces.map(piece => before + piece + after).join('') + tail
