/** Sends a reply: the one place where an answer of ours becomes bytes. */
import type { ServerResponse } from 'node:http'
import { MOST_PIECES_TIMED } from '../core/clock.js'
import type { Paced, Reply } from '../core/exchange.js'
import { isForeign } from './foreign.js'
import type { Pacer } from './pacer.js'

/** How a body leaves that has a rhythm. */
interface Playing {
  readonly pacer: Pacer
  /** Takes the time of each piece after the head, in milliseconds. */
  readonly piecesAtMs: number[] | undefined
}

/**
 * Writes `reply` with these headers, to which it adds, and calls `done` once: with true when all of it was handed over, with false when the
 * client left before.
 */
export function send(
  response: ServerResponse,
  { status, body, sent }: Reply,
  headers: string[],
  playing: Playing,
  done: (complete: boolean) => void,
): void {
  if (typeof body === 'string') sendText(response, status, headers, body)
  else if (Buffer.isBuffer(body)) {
    // A stream whose every event is there already; no length is sent, as with any other stream.
    response.writeHead(status, headers)
    response.end(body, sent)
  } else {
    response.writeHead(status, headers)
    return sendPaced(response, body, playing, done)
  }
  done(true)
}

function sendText(response: ServerResponse, status: number, headers: string[], body: string): void {
  const size = Buffer.byteLength(body)
  // RFC 9110 §8.6: a 204 has no length, not even zero; and a head alone only that of the body that would be there, if that is known.
  if (status !== 204 && (size > 0 || (status !== 304 && response.req.method !== 'HEAD')))
    headers.push('content-length', String(size))
  response.writeHead(status, headers)
  // One byte a character: then node puts head and body together and writes once.
  response.end(body, size === body.length ? 'latin1' : 'utf8')
}

type Write = (text: string, behind: string) => void

function sendPaced(
  response: ServerResponse,
  body: Paced,
  { pacer, piecesAtMs }: Playing,
  done: (complete: boolean) => void,
): void {
  // A HEAD request need not wait for a body to be played.
  if (response.req.method === 'HEAD') {
    response.end()
    return done(true)
  }
  const write = timed(chunkWriter(response, body.bytewise === true), piecesAtMs)
  let begun = false
  let complete = false
  const stop = pacer.play(body, {
    write: text => {
      begun = true
      write(text, '')
    },
    end: text => {
      begun = true
      complete = true
      write(text, LAST_CHUNK)
      response.end()
    },
    // Its socket's to say, once it has one: while another answer is ahead of it on the connection, node keeps what it writes.
    isFull: () => (response.socket ?? response).writableNeedDrain,
  })
  // A client that waits for the first token may already want to know that the request was taken.
  if (!begun) response.flushHeaders()
  response.once('close', () => {
    stop()
    done(complete)
  })
}

/** Notes when each piece leaves. */
function timed(write: Write, piecesAtMs: number[] | undefined): Write {
  if (!piecesAtMs) return write
  const startMs = performance.now()
  return (text, behind) => {
    if (piecesAtMs.length < MOST_PIECES_TIMED) piecesAtMs.push(Math.round((performance.now() - startMs) * 10) / 10)
    write(text, behind)
  }
}

const LAST_CHUNK = '0\r\n\r\n'

/**
 * Writes chunks (RFC 9112 §7.1) frame and all, where node would hand size, text and line end over one by one, and to the socket itself,
 * where node would hold each back until the end of the turn: with thousands of streams that write a few words at a time it is this
 * that takes the time. A client of HTTP/1.0 gets the text alone, and so does a fault (spoil.ts), which leaves it to node to frame what
 * it lets pass; a response of a foreign server is left to its own methods.
 */
function chunkWriter(response: ServerResponse, bytewise: boolean): Write {
  if (isForeign(response)) return text => void response.write(text, bytewise ? 'latin1' : 'utf8')
  const chunked = response.chunkedEncoding
  response.chunkedEncoding = false
  let first = true
  return (text, behind) => {
    const size = bytewise ? text.length : Buffer.byteLength(text)
    // A chunk without any bytes would be the last one.
    const framed = chunked ? `${size === 0 ? '' : `${size.toString(16)}\r\n${text}\r\n`}${behind}` : text
    const encoding = size === text.length ? 'latin1' : 'utf8'
    const { socket } = response
    // The head goes with the first chunk; and while another answer is ahead on the connection, there is no socket yet.
    if (first || !socket || !chunked) response.write(framed, encoding)
    else if (socket.writable) socket.write(framed, encoding)
    first = false
  }
}
