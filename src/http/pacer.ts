/** Plays paced bodies with a timer wheel, which all streams share and which stops when there are none. */
import type { PacedBody } from '../core/exchange.js'
import type { Pace } from '../core/pace.js'
import { mulberry32 } from '../core/random.js'

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
  /** The body and its sink; both `undefined` once the stream has ended. A slot may hold the stream a little longer. */
  paced: PacedBody | undefined
  sink: Sink | undefined
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

/** With this, a stream ends about 3 ms late among thousands of others; with 5 ms it would be 6. Shorter ticks gain nothing. */
const TICK_MS = 2

/** One turn of the wheel is SLOTS ticks. Entries that are due in a later turn are put back. */
const SLOTS = 1024

/** How soon a stream whose client reads too slowly is checked again. */
const SLOW_READER_MS = 5

/**
 * Tolerance for rounding errors in sums of fractions of milliseconds. Without it, a piece could just miss its tick.
 */
const ROUNDING_MS = 1e-6

/** A wheel that moves every `tickMs`. Due times count from the start of a stream, so delays do not add up. */
class TimerWheel implements Pacer {
  /** Empty until the first stream begins: most platforms of a test suite never play one. */
  private slots: Stream[][] = []
  private timer: NodeJS.Timeout | undefined
  private wheelStartMs = 0
  private tick = 0
  private playingStreams = 0

  constructor(
    private readonly tickMs: number,
    private readonly nowMs: () => number,
  ) {}

  play(paced: PacedBody, sink: Sink): () => void {
    const now = this.nowMs()
    const stream = begin(paced, sink, now)
    if (this.slots.length === 0) this.slots = Array.from({ length: SLOTS }, () => [])
    if (this.playingStreams++ === 0) {
      this.wheelStartMs = now
      this.tick = 0
      this.timer = setInterval(() => this.turn(), this.tickMs)
    }
    this.advance(stream, now)
    return () => this.finish(stream)
  }

  private turn() {
    const now = this.nowMs()
    const currentTick = Math.floor((now - this.wheelStartMs) / this.tickMs)
    while (this.tick < currentTick) {
      this.tick++
      const slot = this.tick % SLOTS
      const due = this.slots[slot] as Stream[]
      if (due.length === 0) continue
      this.slots[slot] = []
      const wheel = this.timer
      for (const stream of due) this.advance(stream, now)
      // The last stream has ended, and a new one has started the wheel again.
      if (this.timer !== wheel) return
    }
  }

  /** Writes everything that is due now in one go, and waits for the next piece. */
  private advance(stream: Stream, now: number) {
    const { paced, sink } = stream
    if (!paced || !sink) return
    if (sink.isFull()) return this.wait(stream, now + SLOW_READER_MS)
    const elapsedMs = now - stream.startMs + ROUNDING_MS
    if (stream.nextMs <= elapsedMs) {
      const text = (stream.sentPieces === 0 ? paced.head : '') + duePieces(stream, paced, elapsedMs)
      // A stream without pieces still has a head and a tail. They are due when the first piece would have been.
      if (stream.sentPieces === paced.pieces.length) {
        this.finish(stream)
        return sink.end(text + paced.tail)
      }
      sink.write(text)
      if (!stream.paced) return
    }
    this.wait(stream, stream.startMs + stream.nextMs)
  }

  private wait(stream: Stream, untilMs: number) {
    const dueTick = Math.ceil((untilMs - this.wheelStartMs) / this.tickMs)
    this.slots[Math.max(dueTick, this.tick + 1) % SLOTS]?.push(stream)
  }

  private finish(stream: Stream) {
    if (!stream.paced) return
    stream.paced = undefined
    stream.sink = undefined
    if (--this.playingStreams > 0) return
    clearInterval(this.timer)
    for (const slot of this.slots) slot.length = 0
  }
}

export const createPacer = ({ tickMs = TICK_MS, nowMs = () => performance.now() } = {}): Pacer =>
  new TimerWheel(tickMs, nowMs)

function begin(paced: PacedBody, sink: Sink, now: number): Stream {
  const { firstTokenMs, tokensPerSecond } = paced.pace
  const vary = createVariation(paced.pace, paced.seed ?? 0)
  const firstMs = paced.atMs?.[0] ?? (vary ? firstTokenMs * vary() : firstTokenMs)
  return {
    paced,
    sink,
    startMs: now,
    firstMs,
    stepMs: tokensPerSecond === 0 ? 0 : 1000 / tokensPerSecond,
    drawFactor: vary,
    sentPieces: 0,
    nextMs: firstMs,
  }
}

/** Returns the pieces that are due after `elapsedMs`, with their frames, and sets the time of the next one. */
function duePieces(stream: Stream, { before, pieces, after, atMs }: PacedBody, elapsedMs: number): string {
  let text = ''
  while (stream.nextMs <= elapsedMs && stream.sentPieces < pieces.length) {
    text += before + pieces[stream.sentPieces] + after
    stream.sentPieces++
    if (atMs) {
      stream.nextMs = atMs[stream.sentPieces] ?? stream.nextMs
      continue
    }
    // Counts from the start, or from when this piece was due, so that a late piece does not delay the following ones.
    stream.nextMs = stream.drawFactor
      ? stream.nextMs + stream.stepMs * stream.drawFactor()
      : stream.firstMs + stream.sentPieces * stream.stepMs
  }
  return text
}

/**
 * Creates a function that draws the factor of each pause: 1 on average, and the same sequence for the same seed.
 * Returns `undefined` for a pace whose pauses are all the same.
 */
function createVariation({ jitter }: Pace, seed: number): (() => number) | undefined {
  if (jitter === 0) return undefined
  const random = mulberry32(seed)
  return () => 1 + jitter * (2 * random() - 1)
}
