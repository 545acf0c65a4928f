/** Plays paced bodies in their rhythm: one shared wheel turns for all streams, and stands still when there are none. */
import type { Paced } from '../core/exchange.js'
import type { Pace } from '../core/pace.js'
import { mulberry32 } from '../core/random.js'

/** Where a stream goes. */
export interface Sink {
  write(text: string): void
  end(text: string): void
  /** Whether the reader is behind: nothing is written until it has caught up. */
  isFull(): boolean
}

export interface Pacer {
  /** Starts a stream; what it gives back stops it and lets go of everything of it. Stopping twice does nothing. */
  play(paced: Paced, sink: Sink): () => void
}

interface Stream {
  /** What is played and where to; nothing when it has ended, though its slot may hold the stream a little longer. */
  paced: Paced | undefined
  sink: Sink | undefined
  /** The time it goes by where it shares its speed; otherwise it goes by the clock. */
  readonly shared: SharedTime | undefined
  /** On the clock it goes by. */
  readonly startMs: number
  /** From its start to the first piece. */
  readonly firstMs: number
  /** From a piece to the next, as a rule. */
  readonly stepMs: number
  /** Draws by how much a pause differs from the rule, where it does. */
  readonly vary: (() => number) | undefined
  /** Pieces that have left. */
  sent: number
  /** When the next piece is due, after the start. */
  nextMs: number
}

/** Fine enough that a stream ends some 3 ms late under thousands of others, where 5 ms make it 6; finer ticks gain nothing more. */
const TICK_MS = 2

/** One turn of the wheel is SLOTS ticks; what is due later passes by and is put back. */
const SLOTS = 1024

/** How soon a reader that is behind is looked at again. */
const BEHIND_MS = 5

/** How soon a stream that has been slowed down is looked at again: by then it may have become faster. */
const SHARING_MS = 50

/** What adding up fractions of milliseconds may get wrong; without it a piece would miss its tick by nothing. */
const ROUNDING_MS = 1e-6

/** A wheel that moves every `tickMs`. Deadlines count from a stream's own start, so lateness never adds up. */
class Wheel implements Pacer {
  private readonly slots: Stream[][] = Array.from({ length: SLOTS }, () => [])
  private readonly sharedTimes = new Map<number, SharedTime>()
  private timer: NodeJS.Timeout | undefined
  private wheelStartMs = 0
  private tick = 0
  private playing = 0

  constructor(
    private readonly tickMs: number,
    private readonly nowMs: () => number,
  ) {}

  play(paced: Paced, sink: Sink): () => void {
    const now = this.nowMs()
    const stream = this.begin(paced, sink, now)
    if (this.playing++ === 0) {
      this.wheelStartMs = now
      this.tick = 0
      this.timer = setInterval(() => this.turn(), this.tickMs)
    }
    this.advance(stream, now)
    return () => this.finish(stream)
  }

  private begin(paced: Paced, sink: Sink, now: number): Stream {
    const { pace, promptTokens = 0, seed = 0 } = paced
    const { firstTokenMs, tokensPerSecond, promptTokensPerSecond, fullSpeedStreams } = pace
    // The others have had the speed of their number so far.
    this.readAllShared(now)
    const shared = fullSpeedStreams === 0 ? undefined : this.joinShared(fullSpeedStreams, now)
    const vary = variation(pace, seed)
    const readingMs = promptTokensPerSecond === 0 ? 0 : (promptTokens * 1000) / promptTokensPerSecond
    const firstMs = paced.atMs?.[0] ?? readingMs + (vary ? firstTokenMs * vary() : firstTokenMs)
    return {
      paced,
      sink,
      shared,
      startMs: shared ? shared.passedMs : now,
      firstMs,
      stepMs: tokensPerSecond === 0 ? 0 : 1000 / tokensPerSecond,
      vary,
      sent: 0,
      nextMs: firstMs,
    }
  }

  private turn() {
    const now = this.nowMs()
    const upTo = Math.floor((now - this.wheelStartMs) / this.tickMs)
    while (this.tick < upTo) {
      this.tick++
      const slot = this.tick % SLOTS
      const due = this.slots[slot] as Stream[]
      if (due.length === 0) continue
      this.slots[slot] = []
      const wheel = this.timer
      for (const stream of due) this.advance(stream, now)
      // The last stream has ended and another begun meanwhile: that one is on a new wheel.
      if (this.timer !== wheel) return
    }
  }

  /** Writes everything that is due by now, in one go, and waits for the next piece. */
  private advance(stream: Stream, now: number) {
    const { paced, sink, shared } = stream
    if (!paced || !sink) return
    if (sink.isFull()) return this.wait(stream, now + BEHIND_MS)
    const elapsedMs = (shared ? readShared(shared, now, this.playing) : now) - stream.startMs + ROUNDING_MS
    if (stream.nextMs <= elapsedMs) {
      const text = (stream.sent === 0 ? paced.head : '') + duePieces(stream, paced, elapsedMs)
      // A stream without any pieces still has a head and a tail, due when its first piece would have been.
      if (stream.sent === paced.pieces.length) {
        this.finish(stream)
        return sink.end(text + paced.tail)
      }
      sink.write(text)
      if (!stream.paced) return
    }
    if (!shared) return this.wait(stream, stream.startMs + stream.nextMs)
    const leftMs = stream.nextMs - elapsedMs
    const slowness = stretch(shared, this.playing)
    this.wait(stream, now + (slowness === 1 ? leftMs : Math.min(leftMs * slowness, SHARING_MS)))
  }

  private wait(stream: Stream, untilMs: number) {
    const wanted = Math.ceil((untilMs - this.wheelStartMs) / this.tickMs)
    this.slots[Math.max(wanted, this.tick + 1) % SLOTS]?.push(stream)
  }

  private finish(stream: Stream) {
    if (!stream.paced) return
    stream.paced = undefined
    stream.sink = undefined
    if (this.sharedTimes.size > 0) this.readAllShared(this.nowMs())
    if (stream.shared && --stream.shared.streams === 0) this.sharedTimes.delete(stream.shared.fullSpeedStreams)
    if (--this.playing > 0) return
    clearInterval(this.timer)
    for (const slot of this.slots) slot.length = 0
  }

  private joinShared(fullSpeedStreams: number, now: number): SharedTime {
    const time = this.sharedTimes.get(fullSpeedStreams) ?? { fullSpeedStreams, streams: 0, readMs: now, passedMs: 0 }
    time.streams++
    this.sharedTimes.set(fullSpeedStreams, time)
    return time
  }

  /** Before their number changes, so that each stretch of time counts at the speed that it had. */
  private readAllShared(now: number) {
    for (const time of this.sharedTimes.values()) readShared(time, now, this.playing)
  }
}

export const createPacer = ({ tickMs = TICK_MS, nowMs = () => performance.now() } = {}): Pacer =>
  new Wheel(tickMs, nowMs)

/** The pieces that are due after `elapsedMs`, with their frames; the next one gets its time. */
function duePieces(stream: Stream, { before, pieces, after, atMs }: Paced, elapsedMs: number): string {
  let text = ''
  while (stream.nextMs <= elapsedMs && stream.sent < pieces.length) {
    text += before + pieces[stream.sent] + after
    stream.sent++
    if (atMs) {
      stream.nextMs = atMs[stream.sent] ?? stream.nextMs
      continue
    }
    // Counted from the start, or drawn pause after pause: either way what came too late does not move what is to come.
    stream.nextMs = stream.vary
      ? stream.nextMs + stream.stepMs * stream.vary()
      : stream.firstMs + stream.sent * stream.stepMs
  }
  return text
}

/** The time of all streams with one `fullSpeedStreams`. */
interface SharedTime {
  readonly fullSpeedStreams: number
  /** How many streams go by it. */
  streams: number
  /** When it was last read, on the real clock. */
  readMs: number
  /** What had passed of it then. */
  passedMs: number
}

/** How many milliseconds one of its milliseconds takes while `playing` streams play. */
const stretch = ({ fullSpeedStreams }: SharedTime, playing: number) => Math.max(1, playing / fullSpeedStreams)

/** Lets it pass until `nowMs`, in which `playing` streams were playing all the time; gives back what has passed of it. */
function readShared(time: SharedTime, nowMs: number, playing: number): number {
  if (nowMs > time.readMs) {
    time.passedMs += (nowMs - time.readMs) / stretch(time, playing)
    time.readMs = nowMs
  }
  return time.passedMs
}

/**
 * Makes what draws the factor of one pause after another, 1 on average and the same from the same seed; `undefined` for a pace whose
 * pauses are all alike.
 */
export function variation({ jitter, distribution }: Pace, seed: number): (() => number) | undefined {
  if (jitter === 0 || distribution === 'fixed') return undefined
  const random = mulberry32(seed)
  if (distribution === 'uniform') return () => 1 + jitter * (2 * random() - 1)
  // A lognormal variable has the mean exp(mu + sigma² / 2), so this mu makes it 1.
  return () => Math.exp(jitter * normal(random) - jitter ** 2 / 2)
}

/** Box and Muller's: two even numbers make one of the standard normal distribution. */
const normal = (random: () => number) => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
