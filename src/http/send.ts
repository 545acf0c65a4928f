/** Sends replies: the only place where our own answers become bytes. */
import type { ServerResponse } from 'node:http'
import { MOST_TIMED_PIECES } from '../core/clock.js'
import { pacedText } from '../core/http.js'
import { isOpenBody, MOST_WRITTEN_PIECES, type PacedBody, type Reply } from '../core/reply.js'
import type { Pacer } from './pacer.js'

/**
 * What the code that sends answers may do with a response. Node's own has these members; `drain` and `close` are always
 * events of the response itself.
 */
export interface Writer {
  /** Headers are node's flat array of names and values. */
  writeHead(status: number, reason: string | undefined, headers: string[]): unknown
  /** Sends the head now, if the body begins later. */
  flushHeaders(): void
  /** Returns whether more may be written before `drain`. */
  write(chunk: string | Buffer, encoding?: BufferEncoding): boolean
  end(chunk?: string | Buffer, encoding?: BufferEncoding): unknown
  readonly writableNeedDrain: boolean
}

const WRITER = Symbol('writer')
type WrittenResponse = ServerResponse & { [WRITER]?: Writer }

/** Puts a writer in front of a response that has sent nothing yet. */
export function setWriter(response: WrittenResponse, writer: Writer): void {
  response[WRITER] = writer
}

/** What answers to this response are written to. */
export const writerOf = (response: WrittenResponse): Writer => response[WRITER] ?? response

/** What a paced stream needs besides its body. */
interface StreamOptions {
  readonly pacer: Pacer
  /** Receives the time of each piece in milliseconds after the head. */
  readonly piecesAtMs: number[]
}

/** The headers of an answer, except those that depend on how its body is sent. */
interface Head {
  readonly statusText: string | undefined
  readonly contentType: string
  /** As node's flat array, like `more`. */
  readonly cors: readonly string[]
  readonly requestId: string | undefined
  readonly more: readonly string[]
}

/** Writes a reply whose body is complete. `isEarly` says that the request may still be arriving. */
export function sendComplete(
  response: ServerResponse,
  head: Head,
  { status, body }: Pick<Reply, 'status' | 'body'>,
  isEarly: boolean,
): void {
  const writer = writerOf(response)
  const headers = flatHeaders(head)
  // Bytes are a stream of which all events are known. As with any other stream, no length is sent.
  if (typeof body !== 'string') {
    writer.writeHead(status, head.statusText, headers)
    if (Buffer.isBuffer(body)) return void writer.end(body)
    const text = pacedText(body)
    return void writer.end(text, body.isLatin1 ? 'latin1' : encodingOf(text))
  }
  const size = Buffer.byteLength(body)
  // RFC 9110 §8.6: a 204 has no Content-Length, not even 0. The response to HEAD has that of the missing body, if it is
  // known.
  if (status !== 204 && (size > 0 || (status !== 304 && response.req.method !== 'HEAD')))
    headers.push('content-length', String(size))
  writer.writeHead(status, head.statusText, headers)
  const encoding = encodingOf(body, size)
  if (isEarly) endAfterRequest(response, body, encoding)
  else writer.end(body, encoding)
}

/** Node joins head and text. As latin1, the text is copied as it is. */
const encodingOf = (text: string, bytes = Buffer.byteLength(text)) => (bytes === text.length ? 'latin1' : 'utf8')

/** How long the rest of a refused request's body is read. */
const MOST_REST_MS = 2000

/**
 * Sends the last part of an answer that has a length, but ends the response only when the request has arrived. Otherwise
 * node would close a connection that is not kept, and a client that still sends would lose the answer (RFC 9112 §9.6).
 */
export function endAfterRequest(response: ServerResponse, body: string, encoding: BufferEncoding = 'utf8'): void {
  const { req: request } = response
  const writer = writerOf(response)
  if (request.complete || request.destroyed) return void writer.end(body, encoding)
  writer.write(body, encoding)
  const timer = setTimeout(end, MOST_REST_MS)
  function end(): void {
    clearTimeout(timer)
    if (!response.destroyed) writer.end()
  }
  request.resume().once('end', end)
  response.once('close', end)
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

/**
 * Sends a reply whose body has a pace or is still being written. When the response closes, calls `done` with whether all
 * of the body was written, and for a paced body with the number of bytes that were.
 */
export function sendStream(
  response: ServerResponse,
  head: Head,
  { status, body }: { readonly status: number; readonly body: PacedBody },
  { pacer, piecesAtMs }: StreamOptions,
  done: (complete: boolean, sentBytes?: number) => void,
): void {
  // Looked up for each piece, since a request under way can be held at any time.
  const writer = () => writerOf(response)
  writer().writeHead(status, head.statusText, flatHeaders(head))
  if (response.req.method === 'HEAD') {
    writer().end()
    return done(true)
  }
  const encoding = body.isLatin1 ? 'latin1' : 'utf8'
  const open = isOpenBody(body) ? body : undefined
  const startMs = performance.now()
  let sentBytes = 0
  let isComplete = false
  function note(text: string): void {
    sentBytes += Buffer.byteLength(text, encoding)
    recordTime(piecesAtMs, startMs)
    if (open && open.pieces.length < MOST_WRITTEN_PIECES) open.pieces.push(text)
  }
  const sink = {
    write(text: string) {
      note(text)
      writer().write(text, encoding)
    },
    end(text?: string) {
      if (text !== undefined) note(text)
      isComplete = true
      writer().end(text, encoding)
    },
    isFull: () => writer().writableNeedDrain,
  }
  const stop = open ? open.play(sink) : pacer.play(body, sink)
  // The client learns at once that its request was accepted.
  if (sentBytes === 0 && !isComplete) writer().flushHeaders()
  response.once('close', () => {
    stop()
    if (open) done(isComplete || open.isEndless)
    else done(isComplete, sentBytes)
  })
}

/** Notes that a piece is sent now. */
export function recordTime(piecesAtMs: number[], startMs: number): void {
  if (piecesAtMs.length < MOST_TIMED_PIECES) piecesAtMs.push(Math.round((performance.now() - startMs) * 10) / 10)
}
