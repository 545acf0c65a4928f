/** Plays paced bodies with one timer for all of them, which stops when there are none. */

import { mulberry32 } from '../core/clock.js'
import type { PacedBody } from '../core/reply.js'

/** Where a stream is written. */
export interface Sink {
  write(text: string): void
  end(text: string): void
  /** Whether the client reads too slowly. Nothing is written until it has caught up. */
  isFull(): boolean
}

export interface Pacer {
  /**
   * Starts a stream. Returns a function that stops it and frees everything it holds; calling that twice does nothing.
   */
  play(paced: PacedBody, sink: Sink): () => void
}

interface Stream {
  readonly paced: PacedBody
  readonly sink: Sink
  readonly startMs: number
  /** From the start to the first piece. */
  readonly firstMs: number
  /** The mean time between two pieces. */
  readonly stepMs: number
  /** Draws the factor by which a pause varies; `undefined` if pauses do not vary. */
  readonly drawFactor: (() => number) | undefined
  /** The number of pieces sent. */
  sentPieces: number
  /** When the next piece is due, counted from the start. */
  nextMs: number
}

const TICK_MS = 2

/** Tolerance for rounding errors in sums of fractions of milliseconds. Without it, a piece could just miss its tick. */
const ROUNDING_MS = 1e-6

/** Due times count from the start of a stream, so delays do not add up. */
export function createPacer({ tickMs = TICK_MS, nowMs = () => performance.now() } = {}): Pacer {
  const playing = new Set<Stream>()
  let timer: NodeJS.Timeout | undefined

  function stop(stream: Stream): void {
    if (playing.delete(stream) && playing.size === 0) clearInterval(timer)
  }

  /** Writes everything that is due in one go. */
  function advance(stream: Stream, now: number): void {
    const elapsedMs = now - stream.startMs + ROUNDING_MS
    if (stream.nextMs > elapsedMs || stream.sink.isFull()) return
    const { paced, sink } = stream
    const text = (stream.sentPieces === 0 ? paced.head : '') + duePieces(stream, elapsedMs)
    // A stream without pieces still has a head and a tail. They are due when the first piece would have been.
    if (stream.sentPieces < paced.pieces.length) return sink.write(text)
    stop(stream)
    sink.end(text + paced.tail)
  }

  function tick(): void {
    const now = nowMs()
    for (const stream of playing) advance(stream, now)
  }

  return {
    play(paced, sink) {
      const now = nowMs()
      const stream = begin(paced, sink, now)
      if (playing.size === 0) timer = setInterval(tick, tickMs)
      playing.add(stream)
      advance(stream, now)
      return () => stop(stream)
    },
  }
}

function begin(paced: PacedBody, sink: Sink, startMs: number): Stream {
  const { firstTokenMs, tokensPerSecond, jitter } = paced.pace
  const random = mulberry32(paced.seed ?? 0)
  // 1 on average, and the same sequence for the same seed.
  const drawFactor = jitter === 0 ? undefined : () => 1 + jitter * (2 * random() - 1)
  const firstMs = paced.atMs?.[0] ?? firstTokenMs * (drawFactor?.() ?? 1)
  const stepMs = tokensPerSecond === 0 ? 0 : 1000 / tokensPerSecond
  return { paced, sink, startMs, firstMs, stepMs, drawFactor, sentPieces: 0, nextMs: firstMs }
}

/** Returns the pieces that are due after `elapsedMs`, with their frames, and sets the time of the next one. */
function duePieces(stream: Stream, elapsedMs: number): string {
  const { before, pieces, after, atMs } = stream.paced
  let text = ''
  while (stream.nextMs <= elapsedMs && stream.sentPieces < pieces.length) {
    text += before + pieces[stream.sentPieces] + after
    stream.sentPieces++
    // Counts from the start, or from when this piece was due, so that a late piece does not delay the following ones.
    if (atMs) stream.nextMs = atMs[stream.sentPieces] ?? stream.nextMs
    else if (stream.drawFactor) stream.nextMs += stream.stepMs * stream.drawFactor()
    else stream.nextMs = stream.firstMs + stream.sentPieces * stream.stepMs
  }
  return text
}
