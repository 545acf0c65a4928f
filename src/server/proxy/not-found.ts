/** Holds back a 404 until it is known whether its body is the documented one (platform-api.md, "Errors"). */
import type { IncomingMessage } from 'node:http'
import { decoded } from '../../core/decode.js'
import { notFound } from '../../core/errors.js'
import type { Exchange } from '../../core/exchange.js'
import { errorReply } from '../error-bodies.js'
import { without, withoutHops } from './headers.js'

/** A longer body than this is not the documented one. */
const MOST_BYTES = 65_536

interface Fitting {
  /** Node's flat array. */
  readonly headers: readonly string[]
  readonly body: Buffer
  /** Whether it stands in the place of another one. */
  readonly isMended?: true
}

/** Calls back with the answer as it came if it fits, and with the documented one in its place otherwise; not at all if it breaks off. */
export function fitting(answer: IncomingMessage, exchange: Exchange, done: (fitting: Fitting) => void): void {
  const chunks: Buffer[] = []
  let size = 0
  let isTooLong = false
  answer.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= MOST_BYTES) chunks.push(chunk)
    else if (!isTooLong) {
      isTooLong = true
      done(documented(answer, exchange))
      answer.destroy()
    }
  })
  answer.on('end', () => {
    if (isTooLong) return
    const body = Buffer.concat(chunks)
    const fits = exchange.method === 'HEAD' ? saysJson(answer) : isDocumented(body, answer)
    done(fits ? { headers: withoutHops(answer), body } : documented(answer, exchange))
  })
}

const ofBody = new Set(['content-type', 'content-length', 'content-encoding'])

function documented(answer: IncomingMessage, exchange: Exchange): Fitting {
  const { contentType, body: text } = errorReply(notFound(), exchange)
  const body = Buffer.from(text)
  const headers = without(withoutHops(answer), ofBody)
  return {
    headers: [...headers, 'content-type', contentType, 'content-length', String(body.length)],
    body,
    isMended: true,
  }
}

/** All that can be told of a body that was not asked for. */
const saysJson = ({ headers }: IncomingMessage) => /^application\/json\b/i.test(headers['content-type'] ?? '')

function isDocumented(body: Buffer, { headers }: IncomingMessage): boolean {
  try {
    const value: unknown = JSON.parse(decoded(body, headers['content-encoding'], MOST_BYTES).toString())
    const { error, path } = value as Readonly<Record<string, unknown>>
    return typeof error === 'string' && typeof path === 'string'
  } catch {
    return false
  }
}
