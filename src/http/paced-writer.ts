/** Writes the pieces of a paced body to a response. */
import type { ServerResponse } from 'node:http'
import { MOST_TIMED_PIECES } from '../core/clock.js'
import { LAST_CHUNK } from '../core/http.js'
import { isForeign } from './foreign.js'
import type { Sink } from './pacer.js'

/**
 * Writes chunks (RFC 9112 §7.1) with their frames in one write, where node would write size, text and line end
 * separately. Writes to the socket itself, where node would hold writes back until the end of the turn. With thousands
 * of streams that write a few words at a time, this is where the time goes. HTTP/1.0 clients get the text alone. So
 * does a fault (spoil.ts), which lets node frame what it passes on. A foreign server's response is written through its
 * own methods.
 *
 * A class, so that each of thousands of open streams keeps one object, not a closure for each method.
 */
export class PacedWriter implements Sink {
  /** Whether the whole body was written. */
  isComplete = false
  /** The length of what was written so far. */
  sentBytes = 0
  private isBegun = false
  private readonly isForeign: boolean
  private readonly isChunked: boolean
  private readonly startMs = performance.now()

  constructor(
    private readonly response: ServerResponse,
    /** What is sent before the first piece; empty if node sends the head. */
    private head: string,
    /** Whether each character of the body is one byte. */
    private readonly isLatin1: boolean,
    /** Receives the time of each piece, in milliseconds from now. */
    private readonly piecesAtMs: number[] | undefined,
  ) {
    this.isForeign = isForeign(response)
    this.isChunked = head !== '' || response.chunkedEncoding
    if (!this.isForeign) response.chunkedEncoding = false
  }

  write(text: string): void {
    this.send(text, '')
  }

  end(text: string): void {
    this.isComplete = true
    this.send(text, LAST_CHUNK)
    this.response.end()
  }

  /**
   * Checks the socket, if the response has one. While an earlier response occupies the connection, node buffers what is written.
   */
  isFull(): boolean {
    return (this.response.socket ?? this.response).writableNeedDrain
  }

  /** Sends the head if no piece was due yet: the client may want to know that the request was accepted. */
  begin(): void {
    const { response, head } = this
    if (this.isBegun) return
    if (head === '') return response.flushHeaders()
    this.isBegun = true
    this.head = ''
    response.socket?.write(head, 'latin1')
  }

  private send(text: string, behind: string): void {
    const { response, isLatin1, head, piecesAtMs } = this
    if (piecesAtMs) noteTime(piecesAtMs, this.startMs)
    const isNodes = !this.isBegun && head === ''
    this.isBegun = true
    const size = isLatin1 ? text.length : Buffer.byteLength(text)
    this.sentBytes += size
    if (this.isForeign) return void response.write(text, isLatin1 ? 'latin1' : 'utf8')
    // A chunk of zero bytes would be the last one.
    const framed = this.isChunked ? `${size === 0 ? '' : `${size.toString(16)}\r\n${text}\r\n`}${behind}` : text
    const encoding = size === text.length ? 'latin1' : 'utf8'
    const { socket } = response
    // Node sends its head with the first chunk. While an earlier response occupies the connection, there is no socket
    // yet.
    if (isNodes || !socket || !this.isChunked) return void response.write(framed, encoding)
    this.head = ''
    if (socket.writable) socket.write(head + framed, encoding)
  }
}

/** Notes that a piece is sent now. */
export function noteTime(piecesAtMs: number[], startMs: number): void {
  if (piecesAtMs.length < MOST_TIMED_PIECES) piecesAtMs.push(Math.round((performance.now() - startMs) * 10) / 10)
}
