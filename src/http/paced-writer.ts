/** Writes the pieces of a paced body to a response. */
import type { ServerResponse } from 'node:http'
import { MOST_TIMED_PIECES } from '../core/clock.js'
import { LAST_CHUNK } from '../core/http.js'
import { isForeign } from './foreign-server.js'
import type { Sink } from './pacer.js'

/**
 * Writes each chunk (RFC 9112 §7.1) with its framing in one write, where node would write size, text and line end
 * separately. Writes directly to the socket, where node would hold writes back until the end of the turn. Most of the
 * time of thousands of streams, which write a few words at a time, would go there. HTTP/1.0 clients get the text alone.
 * So does a fault (damage-response.ts), which lets node do the framing. The response of a foreign server is written
 * through its own methods.
 *
 * A class, so that each of thousands of open streams keeps one object, not a closure for each method.
 */
export class PacedWriter implements Sink {
  /** Whether the whole body was written. */
  isComplete = false
  /** The length of what was written so far. */
  sentBytes = 0
  private hasBegun = false
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
   * Checks the socket, if the response has one. While an earlier response uses the connection, it has none, and node
   * buffers what is written.
   */
  isFull(): boolean {
    return (this.response.socket ?? this.response).writableNeedDrain
  }

  /** Sends the head if no piece was due yet, so that the client knows that its request was accepted. */
  begin(): void {
    const { response, head } = this
    if (this.hasBegun) return
    if (head === '') return response.flushHeaders()
    this.hasBegun = true
    this.head = ''
    response.socket?.write(head, 'latin1')
  }

  private send(text: string, suffix: string): void {
    const { response, isLatin1, head, piecesAtMs } = this
    if (piecesAtMs) recordTime(piecesAtMs, this.startMs)
    const nodeSendsHead = !this.hasBegun && head === ''
    this.hasBegun = true
    const size = isLatin1 ? text.length : Buffer.byteLength(text)
    this.sentBytes += size
    if (this.isForeign) return void response.write(text, isLatin1 ? 'latin1' : 'utf8')
    // A chunk of zero bytes would be the last one.
    const chunk = this.isChunked ? `${size === 0 ? '' : `${size.toString(16)}\r\n${text}\r\n`}${suffix}` : text
    const encoding = size === text.length ? 'latin1' : 'utf8'
    const { socket } = response
    // Node sends its head with the first chunk. While an earlier response uses the connection, there is no socket.
    if (nodeSendsHead || !socket || !this.isChunked) return void response.write(chunk, encoding)
    this.head = ''
    if (socket.writable) socket.write(head + chunk, encoding)
  }
}

/** Notes that a piece is sent now. */
export function recordTime(piecesAtMs: number[], startMs: number): void {
  if (piecesAtMs.length < MOST_TIMED_PIECES) piecesAtMs.push(Math.round((performance.now() - startMs) * 10) / 10)
}
