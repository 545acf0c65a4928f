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
  /** The time of streams that share a speed; `undefined` for a stream that follows the clock. */
  readonly shared: SharedTime | undefined
  /** When it started, by its shared time or the clock. */
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

/** How soon a slowed-down stream is checked again, since it may have become faster by then. */
const SHARED_SPEED_MS = 50

/**
 * Tolerance for rounding errors in sums of fractions of milliseconds. Without it, a piece could just miss its tick.
 */
const ROUNDING_MS = 1e-6

/** A wheel that moves every `tickMs`. Due times count from the start of a stream, so delays do not add up. */
class TimerWheel implements Pacer {
  /** Empty until the first stream begins: most platforms of a test suite never play one. */
  private slots: Stream[][] = []
  private readonly sharedTimes = new Map<number, SharedTime>()
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
    const stream = this.begin(paced, sink, now)
    if (this.slots.length === 0) this.slots = Array.from({ length: SLOTS }, () => [])
    if (this.playingStreams++ === 0) {
      this.wheelStartMs = now
      this.tick = 0
      this.timer = setInterval(() => this.turn(), this.tickMs)
    }
    this.advance(stream, now)
    return () => this.finish(stream)
  }

  private begin(paced: PacedBody, sink: Sink, now: number): Stream {
    const { pace, promptTokens = 0, seed = 0 } = paced
    const { firstTokenMs, tokensPerSecond, promptTokensPerSecond, fullSpeedStreams } = pace
    // Until now, the other streams ran at the speed for the previous number of streams.
    this.updateAllShared(now)
    const shared = fullSpeedStreams === 0 ? undefined : this.joinShared(fullSpeedStreams, now)
    const vary = createVariation(pace, seed)
    const readingMs = promptTokensPerSecond === 0 ? 0 : (promptTokens * 1000) / promptTokensPerSecond
    const firstMs = paced.atMs?.[0] ?? readingMs + (vary ? firstTokenMs * vary() : firstTokenMs)
    return {
      paced,
      sink,
      shared,
      startMs: shared ? shared.elapsedMs : now,
      firstMs,
      stepMs: tokensPerSecond === 0 ? 0 : 1000 / tokensPerSecond,
      drawFactor: vary,
      sentPieces: 0,
      nextMs: firstMs,
    }
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
    const { paced, sink, shared } = stream
    if (!paced || !sink) return
    if (sink.isFull()) return this.wait(stream, now + SLOW_READER_MS)
    const elapsedMs = (shared ? updateShared(shared, now, this.playingStreams) : now) - stream.startMs + ROUNDING_MS
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
    if (!shared) return this.wait(stream, stream.startMs + stream.nextMs)
    const leftMs = stream.nextMs - elapsedMs
    const slowness = slowdown(shared, this.playingStreams)
    this.wait(stream, now + (slowness === 1 ? leftMs : Math.min(leftMs * slowness, SHARED_SPEED_MS)))
  }

  private wait(stream: Stream, untilMs: number) {
    const dueTick = Math.ceil((untilMs - this.wheelStartMs) / this.tickMs)
    this.slots[Math.max(dueTick, this.tick + 1) % SLOTS]?.push(stream)
  }

  private finish(stream: Stream) {
    if (!stream.paced) return
    stream.paced = undefined
    stream.sink = undefined
    if (this.sharedTimes.size > 0) this.updateAllShared(this.nowMs())
    if (stream.shared && --stream.shared.streams === 0) this.sharedTimes.delete(stream.shared.fullSpeedStreams)
    if (--this.playingStreams > 0) return
    clearInterval(this.timer)
    for (const slot of this.slots) slot.length = 0
  }

  private joinShared(fullSpeedStreams: number, now: number): SharedTime {
    const time = this.sharedTimes.get(fullSpeedStreams) ?? {
      fullSpeedStreams,
      streams: 0,
      updatedMs: now,
      elapsedMs: 0,
    }
    time.streams++
    this.sharedTimes.set(fullSpeedStreams, time)
    return time
  }

  /** Called before the number of streams changes, so that the time until now counts at the speed it had. */
  private updateAllShared(now: number) {
    for (const time of this.sharedTimes.values()) updateShared(time, now, this.playingStreams)
  }
}

export const createPacer = ({ tickMs = TICK_MS, nowMs = () => performance.now() } = {}): Pacer =>
  new TimerWheel(tickMs, nowMs)

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

/** The common time of all streams with one `fullSpeedStreams`. */
interface SharedTime {
  readonly fullSpeedStreams: number
  /** The number of streams that follow it. */
  streams: number
  /** When it was last read, on the real clock. */
  updatedMs: number
  /** What it showed then. */
  elapsedMs: number
}

/** How many real milliseconds one of its milliseconds takes while `playing` streams play. */
const slowdown = ({ fullSpeedStreams }: SharedTime, playing: number) => Math.max(1, playing / fullSpeedStreams)

/** Advances it to `nowMs`, given that `playing` streams have played since the last reading. Returns the new value. */
function updateShared(time: SharedTime, nowMs: number, playing: number): number {
  if (nowMs > time.updatedMs) {
    time.elapsedMs += (nowMs - time.updatedMs) / slowdown(time, playing)
    time.updatedMs = nowMs
  }
  return time.elapsedMs
}

/**
 * Creates a function that draws the factor of each pause: 1 on average, and the same sequence for the same seed.
 * Returns `undefined` for a pace whose pauses are all the same.
 */
export function createVariation({ jitter, distribution }: Pace, seed: number): (() => number) | undefined {
  if (jitter === 0 || distribution === 'fixed') return undefined
  const random = mulberry32(seed)
  if (distribution === 'uniform') return () => 1 + jitter * (2 * random() - 1)
  // A lognormal variable has the mean exp(mu + sigma² / 2), so this mu makes it 1.
  return () => Math.exp(jitter * normal(random) - jitter ** 2 / 2)
}

/** A number of the standard normal distribution, made from two uniform ones by Box and Muller's method. */
const normal = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
