/** Sends a reply: the one place where an answer of ours becomes bytes. */
import type { ServerResponse } from 'node:http'
import type { Paced, Reply } from '../core/exchange.js'
import type { Pacer } from '../streaming/pacer.js'

/**
 * Writes `reply` with the `common` headers and calls `done` once: with true when all of it was handed over, with false when the
 * client left before. Without a body (204) there is no content type either.
 */
export function send(
  response: ServerResponse,
  reply: Reply,
  common: readonly string[],
  pacer: Pacer,
  done: (complete: boolean) => void,
): void {
  const { status, contentType, body, headers } = reply
  const head = contentType === '' ? [] : ['content-type', contentType]
  if (common.length > 0) head.push(...common)
  if (headers) head.push(...headers)
  if (typeof body !== 'string') return sendPaced(response, status, head, body, pacer, done)
  if (status !== 204 && contentType !== 'text/event-stream') {
    const size = Buffer.byteLength(body)
    head.push('content-length', String(size))
    response.writeHead(status, head)
    // One byte a character: then node puts head and body together and writes once.
    response.end(body, size === body.length ? 'latin1' : 'utf8')
  } else {
    response.writeHead(status, head)
    response.end(body)
  }
  done(true)
}

function sendPaced(
  response: ServerResponse,
  status: number,
  head: string[],
  body: Paced,
  pacer: Pacer,
  done: (complete: boolean) => void,
): void {
  response.writeHead(status, head)
  // A client that waits for the first token may already want to know that the request was taken.
  if (body.rhythm.firstTokenMs > 0) response.flushHeaders()
  let complete = false
  const stop = pacer.play(body, {
    write: text => response.write(text),
    end: text => {
      complete = true
      response.end(text)
    },
    isFull: () => response.writableNeedDrain,
  })
  response.once('close', () => {
    stop()
    done(complete)
  })
}
