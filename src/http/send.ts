/** Sends a reply: the only place where our own answers become bytes. */
import { type IncomingMessage, ServerResponse, STATUS_CODES, validateHeaderValue } from 'node:http'
import { MOST_WRITTEN_PIECES, type OpenBody, type PacedBody, type Reply } from '../core/exchange.js'
import { HEAD_ROOM, LAST_CHUNK } from '../core/http.js'
import { leaveUnread } from './body.js'
import { noteTime, PacedWriter } from './paced-writer.js'
import type { Pacer } from './pacer.js'

/** A body that is sent in a rhythm. */
interface Playing {
  readonly pacer: Pacer
  /** Receives the time of each piece in milliseconds after the head. */
  readonly piecesAtMs: number[] | undefined
}

/** The headers of an answer, except those that depend on how its body is sent. */
interface Head {
  readonly contentType: string
  /** As node's flat array, like `more`. */
  readonly cors: readonly string[]
  readonly requestId: string | undefined
  readonly more: readonly string[]
}

/** Writes a reply whose body is complete. */
export function sendWhole(response: ServerResponse, head: Head, reply: Reply, body: string | Buffer): void {
  const { status, sent, isRecorded } = reply
  const isUsual = !isRecorded && isOwn(response) && response.isUsual(status)
  if (typeof body !== 'string') {
    // A stream whose events are all known already. As with any other stream, no length is sent.
    if (isUsual && body.length > 0) return response.leaveInOneChunk(reply, headOf(status, head), body)
    response.writeHead(status, flat(head))
    response.end(body, sent)
    return
  }
  const size = Buffer.byteLength(body)
  const encoding = size === body.length ? 'latin1' : 'utf8'
  if (isUsual) return response.leaveAtOnce(status, headOf(status, head, size), body, encoding)
  const headers = flat(head)
  // RFC 9110 §8.6: a 204 has no Content-Length, not even 0. The response to HEAD has that of the missing body, if it is
  // known.
  if (status !== 204 && (size > 0 || (status !== 304 && response.req.method !== 'HEAD')))
    headers.push('content-length', String(size))
  response.writeHead(status, headers)
  response.end(body, encoding)
}

/** The headers as node's flat array. */
function flat({ contentType, cors, requestId, more }: Head): string[] {
  const headers = contentType === '' ? [...cors] : ['content-type', contentType, ...cors]
  if (requestId !== undefined) headers.push('x-request-id', requestId)
  headers.push(...more)
  return headers
}

/** Longer than clients keep idle connections, so that no client reuses one that is being closed. */
export const KEEP_ALIVE_MS = 65_000

const keepAlive = `\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_MS / 1000}\r\n`

/**
 * The head of a response on a connection that stays open, exactly as node writes it. Without a size, the body is
 * chunked.
 */
function headOf(status: number, { contentType, cors, requestId, more }: Head, size?: number): string {
  if (begin.status !== status || begin.contentType !== contentType || begin.cors !== cors) {
    const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
    const type = contentType === '' ? '' : linesOf(['content-type', contentType])
    begin = { status, contentType, cors, text: line + type + linesOf(cors) }
  }
  const id = requestId === undefined ? '' : `x-request-id: ${requestId}\r\n`
  const further = more.length === 0 ? '' : linesOf(more)
  const length = size === undefined ? '' : `content-length: ${size}\r\n`
  const framing = size === undefined ? 'Transfer-Encoding: chunked\r\n\r\n' : '\r\n'
  return `${begin.text}${id}${further}${length}Date: ${dateNow()}${keepAlive}${framing}`
}

/** The start of the last head. The next one is nearly always the same. */
let begin = { status: 0, contentType: '', cors: [] as readonly string[], text: '' }

/** Throws the same error as node for characters that are not allowed in a header. */
function linesOf(headers: readonly string[]): string {
  let lines = ''
  for (let i = 0; i < headers.length; i += 2) {
    const [name = '', value = ''] = [headers[i], headers[i + 1]]
    validateHeaderValue(name, value)
    lines += `${name}: ${value}\r\n`
  }
  return lines
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

/** A response of our own server. */
interface OwnResponse extends ServerResponse {
  /**
   * False for everything that node frames in another way or sends later: HTTP/1.0 clients, connections that are to be
   * closed, HEAD, statuses without a body, pipelined responses that have to wait, and responses whose methods a fault
   * has replaced.
   */
  isUsual(status: number): boolean
  leaveAtOnce(status: number, head: string, body: string, encoding: 'latin1' | 'utf8'): void
  leaveInOneChunk(reply: Reply, head: string, body: Buffer): void
}

const isOwn = (response: ServerResponse): response is OwnResponse => 'leaveAtOnce' in response

/**
 * Creates the class of a server's responses. Usually head and body are sent as one text in one write. Node would write an empty text
 * after them, and joining the two takes a quarter of the time of a whole request. Each server has its own class, because express changes
 * the prototype.
 */
export function createResponseClass(): typeof ServerResponse {
  return class<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
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
      this.socket?.write(head + body, encoding)
      noteAndEnd(this, status)
    }

    leaveInOneChunk({ status, framed, sent }: Reply, head: string, body: Buffer): void {
      const { socket } = this
      const front = `${head}${body.length.toString(16)}\r\n`
      if (framed && front.length <= HEAD_ROOM) {
        const start = HEAD_ROOM - front.length
        framed.write(front, start, 'latin1')
        socket?.write(framed.subarray(start), sent)
      } else {
        socket?.cork()
        socket?.write(front, 'latin1')
        socket?.write(body, sent)
        socket?.write(`\r\n${LAST_CHUNK}`, 'latin1')
        socket?.uncork()
      }
      noteAndEnd(this, status)
    }
  }
}

function noteAndEnd(response: ServerResponse, status: number): void {
  note(response, status)
  response.end()
  leaveUnread(response.req)
}

/** Sets the fields that node sets when it has written a head. After that, `end` only ends the response. */
function note(response: ServerResponse, status: number): void {
  response.statusCode = status
  const noted = response as unknown as { _header: string; _headerSent: boolean }
  // Node only checks that there is one. The real one would be kept for as long as a stream is open.
  noted._header = 'sent'
  noted._headerSent = true
}

/** Writes the head of a response with an unknown length. Returns whether that was all, as for HEAD. */
function isOnlyHead(response: ServerResponse, headers: string[], status: number): boolean {
  response.writeHead(status, headers)
  if (response.req.method !== 'HEAD') return false
  response.end()
  return true
}

/**
 * Sends a reply whose body has a rhythm, and calls `done` once: with true when all of it was written, with false when
 * the client disconnected early, and with the bytes that were written.
 */
export function sendPaced(
  response: ServerResponse,
  head: Head,
  { status }: Pick<Reply, 'status'>,
  body: PacedBody,
  { pacer, piecesAtMs }: Playing,
  done: (complete: boolean, sentBytes?: number) => void,
): void {
  const isUsual = isOwn(response) && response.isUsual(status)
  const text = isUsual ? headOf(status, head) : ''
  if (isUsual) note(response, status)
  else if (isOnlyHead(response, flat(head), status)) return done(true)
  const writer = new PacedWriter(response, text, body.isLatin1 === true, piecesAtMs)
  const stop = pacer.play(body, writer)
  writer.begin()
  response.on('close', () => {
    stop()
    done(writer.isComplete, writer.sentBytes)
  })
}

/** Sends a reply whose body is written as it comes, and calls `done` once, as `sendPaced` does. */
export function sendOpen(
  response: ServerResponse,
  head: Head,
  { status }: Pick<Reply, 'status'>,
  body: OpenBody,
  piecesAtMs: number[] | undefined,
  done: (complete: boolean) => void,
): void {
  if (isOnlyHead(response, flat(head), status)) return done(true)
  response.flushHeaders()
  const { pieces, isEndless } = body
  const startMs = performance.now()
  let complete = isEndless
  const stop = body.play({
    write(text) {
      if (pieces.length < MOST_WRITTEN_PIECES) pieces.push(text)
      if (piecesAtMs) noteTime(piecesAtMs, startMs)
      response.write(text)
    },
    end() {
      complete = true
      response.end()
    },
  })
  response.once('close', () => {
    stop()
    done(complete)
  })
}
