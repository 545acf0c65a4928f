/** Sends replies: the only place where our own answers become bytes. */
import { type IncomingMessage, ServerResponse, STATUS_CODES, validateHeaderValue } from 'node:http'
import { MOST_WRITTEN_PIECES, type OpenBody, type PacedBody, type Reply } from '../core/exchange.js'
import { HEAD_ROOM, LAST_CHUNK } from '../core/http.js'
import { discardBody } from './body.js'
import { PacedWriter, recordTime } from './paced-writer.js'
import type { Pacer } from './pacer.js'

/** What a paced stream needs besides its body. */
interface StreamOptions {
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
export function sendComplete(response: ServerResponse, head: Head, reply: Reply, body: string | Buffer): void {
  const { status, onSent, isRecorded } = reply
  const isDirect = !isRecorded && isOwnResponse(response) && response.canWriteDirectly(status)
  if (typeof body !== 'string') {
    // A stream of which all events are known. As with any other stream, no length is sent.
    if (isDirect && body.length > 0) return response.writeSingleChunk(reply, headOf(status, head), body)
    response.writeHead(status, flatHeaders(head))
    response.end(body, onSent)
    return
  }
  const size = Buffer.byteLength(body)
  const encoding = size === body.length ? 'latin1' : 'utf8'
  if (isDirect) return response.writeComplete(status, headOf(status, head, size), body, encoding)
  const headers = flatHeaders(head)
  // RFC 9110 §8.6: a 204 has no Content-Length, not even 0. The response to HEAD has that of the missing body, if it is
  // known.
  if (status !== 204 && (size > 0 || (status !== 304 && response.req.method !== 'HEAD')))
    headers.push('content-length', String(size))
  response.writeHead(status, headers)
  response.end(body, encoding)
}

/** The headers as node's flat array. */
function flatHeaders({ contentType, cors, requestId, more }: Head): string[] {
  const headers = contentType === '' ? [...cors] : ['content-type', contentType, ...cors]
  if (requestId !== undefined) headers.push('x-request-id', requestId)
  headers.push(...more)
  return headers
}

/** Longer than clients keep idle connections, so that no client reuses one that is being closed. */
export const KEEP_ALIVE_MS = 65_000

const keepAlive = `\r\nConnection: keep-alive\r\nKeep-Alive: timeout=${KEEP_ALIVE_MS / 1000}\r\n`

/**
 * The head of a response on a connection that stays open, exactly as node would write it. Without a size, the body is
 * chunked.
 */
function headOf(status: number, { contentType, cors, requestId, more }: Head, size?: number): string {
  if (cachedHead.status !== status || cachedHead.contentType !== contentType || cachedHead.cors !== cors) {
    const line = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? 'unknown'}\r\n`
    const type = contentType === '' ? '' : headerLines(['content-type', contentType])
    cachedHead = { status, contentType, cors, text: line + type + headerLines(cors) }
  }
  const id = requestId === undefined ? '' : `x-request-id: ${requestId}\r\n`
  const moreLines = more.length === 0 ? '' : headerLines(more)
  const length = size === undefined ? '' : `content-length: ${size}\r\n`
  const framing = size === undefined ? 'Transfer-Encoding: chunked\r\n\r\n' : '\r\n'
  return `${cachedHead.text}${id}${moreLines}${length}Date: ${httpDate()}${keepAlive}${framing}`
}

/** The start of the last head, since that of the next one is nearly always the same. */
let cachedHead = { status: 0, contentType: '', cors: [] as readonly string[], text: '' }

/** Throws the same error as node for characters that are not allowed in a header. */
function headerLines(headers: readonly string[]): string {
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

function httpDate(): string {
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
   * Whether the response can be written directly to the socket. False if node would frame it in another way or send it
   * later: for HTTP/1.0 clients, connections that are about to close, HEAD, statuses without a body, pipelined responses
   * that have to wait, and responses whose methods a fault has replaced.
   */
  canWriteDirectly(status: number): boolean
  writeComplete(status: number, head: string, body: string, encoding: 'latin1' | 'utf8'): void
  writeSingleChunk(reply: Reply, head: string, body: Buffer): void
}

const isOwnResponse = (response: ServerResponse): response is OwnResponse => 'writeComplete' in response

/**
 * Creates the class of a server's responses. Usually, head and body are sent as one text in one write. Node would add a
 * write of an empty text, and joining the two takes a quarter of the time of a request. Each server has its own class,
 * because `usePrototypes` of app.ts changes the prototype.
 */
export function createResponseClass(): typeof ServerResponse {
  return class<R extends IncomingMessage = IncomingMessage> extends ServerResponse<R> {
    canWriteDirectly(status: number): boolean {
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

    writeComplete(status: number, head: string, body: string, encoding: 'latin1' | 'utf8'): void {
      this.socket?.write(head + body, encoding)
      markSentAndEnd(this, status)
    }

    writeSingleChunk({ status, framedBody, onSent }: Reply, head: string, body: Buffer): void {
      const { socket } = this
      const front = `${head}${body.length.toString(16)}\r\n`
      if (framedBody && front.length <= HEAD_ROOM) {
        const start = HEAD_ROOM - front.length
        framedBody.write(front, start, 'latin1')
        socket?.write(framedBody.subarray(start), onSent)
      } else {
        socket?.cork()
        socket?.write(front, 'latin1')
        socket?.write(body, onSent)
        socket?.write(`\r\n${LAST_CHUNK}`, 'latin1')
        socket?.uncork()
      }
      markSentAndEnd(this, status)
    }
  }
}

function markSentAndEnd(response: ServerResponse, status: number): void {
  markHeadSent(response, status)
  response.end()
  discardBody(response.req)
}

/** Sets the fields that node sets when it has written a head. After that, `end` only ends the response. */
function markHeadSent(response: ServerResponse, status: number): void {
  response.statusCode = status
  const internals = response as unknown as { _header: string; _headerSent: boolean }
  // Node only checks that there is a head. The real one would be kept for as long as a stream is open.
  internals._header = 'sent'
  internals._headerSent = true
}

/** Writes the head of a response of unknown length. Returns whether the response is then complete, as for HEAD. */
function writeHead(response: ServerResponse, headers: string[], status: number): boolean {
  response.writeHead(status, headers)
  if (response.req.method !== 'HEAD') return false
  response.end()
  return true
}

/**
 * Sends a reply whose body has a pace. When the response closes, calls `done` with whether all of the body was written,
 * and with the number of bytes that were.
 */
export function sendPaced(
  response: ServerResponse,
  head: Head,
  { status }: Pick<Reply, 'status'>,
  body: PacedBody,
  { pacer, piecesAtMs }: StreamOptions,
  done: (complete: boolean, sentBytes?: number) => void,
): void {
  const isDirect = isOwnResponse(response) && response.canWriteDirectly(status)
  const text = isDirect ? headOf(status, head) : ''
  if (isDirect) markHeadSent(response, status)
  else if (writeHead(response, flatHeaders(head), status)) return done(true)
  const writer = new PacedWriter(response, text, body.isLatin1 === true, piecesAtMs)
  const stop = pacer.play(body, writer)
  writer.begin()
  response.on('close', () => {
    stop()
    done(writer.isComplete, writer.sentBytes)
  })
}

/** Sends a reply whose body is still being written. When the response closes, calls `done` with whether it is complete. */
export function sendOpen(
  response: ServerResponse,
  head: Head,
  { status }: Pick<Reply, 'status'>,
  body: OpenBody,
  piecesAtMs: number[] | undefined,
  done: (complete: boolean) => void,
): void {
  if (writeHead(response, flatHeaders(head), status)) return done(true)
  response.flushHeaders()
  const { pieces, isEndless } = body
  const startMs = performance.now()
  let complete = isEndless
  const stop = body.play({
    write(text) {
      if (pieces.length < MOST_WRITTEN_PIECES) pieces.push(text)
      if (piecesAtMs) recordTime(piecesAtMs, startMs)
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
