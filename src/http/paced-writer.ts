/** Writes the pieces of a paced body. */
import { MOST_TIMED_PIECES } from '../core/clock.js'
import type { Sink } from './pacer.js'
import type { Writer } from './writer.js'

/** A class, so that each of thousands of open streams keeps one object, not a closure for each method. */
export class PacedWriter implements Sink {
  /** Whether the whole body was written. */
  isComplete = false
  /** The length of what was written so far. */
  sentBytes = 0
  private hasBegun = false
  private readonly startMs = performance.now()

  constructor(
    private readonly writer: Writer,
    private readonly encoding: 'latin1' | 'utf8',
    /** Receives the time of each piece, in milliseconds from now. */
    private readonly piecesAtMs: number[] | undefined,
  ) {}

  write(text: string): void {
    this.note(text)
    this.writer.write(text, this.encoding)
  }

  end(text: string): void {
    this.isComplete = true
    this.note(text)
    this.writer.end(text, this.encoding)
  }

  isFull(): boolean {
    return this.writer.writableNeedDrain
  }

  /** Sends the head if no piece was due yet, so that the client knows that its request was accepted. */
  begin(): void {
    if (!this.hasBegun) this.writer.flushHeaders()
  }

  private note(text: string): void {
    this.hasBegun = true
    this.sentBytes += Buffer.byteLength(text, this.encoding)
    if (this.piecesAtMs) recordTime(this.piecesAtMs, this.startMs)
  }
}

/** Notes that a piece is sent now. */
export function recordTime(piecesAtMs: number[], startMs: number): void {
  if (piecesAtMs.length < MOST_TIMED_PIECES) piecesAtMs.push(Math.round((performance.now() - startMs) * 10) / 10)
}
