/** Sends a reply: the one place where an answer of ours becomes bytes. */
import { type IncomingMessage, ServerResponse, STATUS_CODES } from 'node:http'
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

/** Writes a reply whose body is all there, with these headers, to which it adds. */
export function sendWhole(
  response: ServerResponse,
  { status, sent }: Reply,
  body: string | Buffer,
  headers: string[],
): void {
  if (typeof body !== 'string') {
    // A stream whose every event is there already; no length is sent, as with any other stream.
    response.writeHead(status, headers)
    response.end(body, sent)
    return
  }
  const size = Buffer.byteLength(body)
  // RFC 9110 §8.6: a 204 has no length, not even zero; and a head alone only that of the body that would be there, if that is known.
  if (status !== 204 && (size > 0 || (status !== 304 && response.req.method !== 'HEAD')))
    headers.push('content-length', String(size))
  const encoding = size === body.length ? 'latin1' : 'utf8'
  if (response instanceof OwnResponse && response.isUsual(status)) {
    return response.leaveAtOnce(status, headOf(status, headers), body, encoding)
  }
  response.writeHead(status, headers)
  response.end(body, encoding)
}

/** Longer than clients keep a connection for reuse, so that none reuses one that is just being closed. */
export const KEEP_ALIVE_MS = 65_000

const afterHeaders = `\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_MS / 1000}\r\n\r\n`

/** The head of an answer on a connection that stays open: letter for letter what node writes. */
function headOf(status: number, headers: readonly string[]): string {
  let head = status === 200 ? 'HTTP/1.1 200 OK\r\n' : `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
  for (let i = 0; i < headers.length; i += 2) head += `${headers[i]}: ${headers[i + 1]}\r\n`
  return `${head}Date: ${dateNow()}${afterHeaders}`
}

let dateMs = 0
let date = ''

function dateNow(): string {
  const nowMs = Date.now()
  if (nowMs - dateMs >= 1000 || nowMs < dateMs) {
    dateMs = nowMs - (nowMs % 1000)
    date = new Date(nowMs).toUTCString()
  }
  return date
}

/**
 * A response of our own server. Where nothing is unusual, head and body leave it as one text in one write: node hands an empty text on
 * behind them, so that the socket has two to gather, which takes a quarter of the time of a whole request.
 */
export class OwnResponse<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
  /**
   * False for all that node frames in another way, or later: a client of HTTP/1.0, a connection that is to be closed, HEAD, a status without a
   * body, a response that another one is ahead of, and one whose methods were replaced, as a fault does.
   */
  isUsual(status: number): boolean {
    const { socket, req } = this
    return (
      this.shouldKeepAlive &&
      socket?.writable === true &&
      status >= 200 &&
      status !== 204 &&
      status !== 304 &&
      req.httpVersionMinor === 1 &&
      req.method !== 'HEAD' &&
      this.end === ServerResponse.prototype.end
    )
  }

  leaveAtOnce(status: number, head: string, body: string, encoding: 'latin1' | 'utf8'): void {
    this.statusCode = status
    // What node notes when it has written a head; `end` then only ends.
    const noted = this as unknown as { _header: string; _headerSent: boolean }
    noted._header = head
    noted._headerSent = true
    this.socket?.write(head + body, encoding)
    this.end()
  }
}

type Write = (text: string, behind: string) => void

/** Writes a reply whose body has a rhythm, and calls `done` once: with true when all of it was handed over, with false when the client left before. */
export function sendPaced(
  response: ServerResponse,
  status: number,
  headers: readonly string[],
  body: Paced,
  { pacer, piecesAtMs }: Playing,
  done: (complete: boolean) => void,
): void {
  response.writeHead(status, headers as string[])
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
