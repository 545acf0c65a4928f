/** Paces streams: when each piece leaves, and how streams that share their speed slow one another down. */
import type { Paced } from '../core/exchange.js'
import { variation } from './variation.js'

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

/** Makes a wheel that moves every `tickMs`. Deadlines count from a stream's own start, so lateness never adds up. */
export function createPacer({ tickMs = TICK_MS, nowMs = () => performance.now() } = {}): Pacer {
  const slots: Stream[][] = Array.from({ length: SLOTS }, () => [])
  const sharedTimes = new Map<number, SharedTime>()
  let timer: NodeJS.Timeout | undefined
  let wheelStartMs = 0
  let tick = 0
  let playing = 0

  function play(paced: Paced, sink: Sink): () => void {
    const now = nowMs()
    const stream = begin(paced, sink, now)
    if (playing++ === 0) {
      wheelStartMs = now
      tick = 0
      timer = setInterval(turn, tickMs)
    }
    advance(stream, now)
    return () => finish(stream)
  }

  function begin(paced: Paced, sink: Sink, now: number): Stream {
    const { pace, promptTokens = 0, seed = 0 } = paced
    const { firstTokenMs, tokensPerSecond, promptTokensPerSecond, fullSpeedStreams } = pace
    // The others have had the speed of their number so far.
    readAllShared(now)
    const shared = fullSpeedStreams === 0 ? undefined : joinShared(fullSpeedStreams, now)
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

  function turn() {
    const now = nowMs()
    const upTo = Math.floor((now - wheelStartMs) / tickMs)
    while (tick < upTo) {
      tick++
      const slot = tick % SLOTS
      const due = slots[slot] as Stream[]
      if (due.length === 0) continue
      slots[slot] = []
      const wheel = timer
      for (const stream of due) advance(stream, now)
      // The last stream has ended and another begun meanwhile: that one is on a new wheel.
      if (timer !== wheel) return
    }
  }

  /** Writes everything that is due by now, in one go, and waits for the next piece. */
  function advance(stream: Stream, now: number) {
    const { paced, sink, shared } = stream
    if (!paced || !sink) return
    if (sink.isFull()) return wait(stream, now + BEHIND_MS)
    const elapsedMs = (shared ? readShared(shared, now, playing) : now) - stream.startMs + ROUNDING_MS
    if (stream.nextMs <= elapsedMs) {
      const text = (stream.sent === 0 ? paced.head : '') + duePieces(stream, paced, elapsedMs)
      // A stream without any pieces still has a head and a tail, due when its first piece would have been.
      if (stream.sent === paced.pieces.length) {
        finish(stream)
        return sink.end(text + paced.tail)
      }
      sink.write(text)
      if (!stream.paced) return
    }
    if (!shared) return wait(stream, stream.startMs + stream.nextMs)
    const leftMs = stream.nextMs - elapsedMs
    const slowness = stretch(shared, playing)
    wait(stream, now + (slowness === 1 ? leftMs : Math.min(leftMs * slowness, SHARING_MS)))
  }

  function wait(stream: Stream, untilMs: number) {
    const wanted = Math.ceil((untilMs - wheelStartMs) / tickMs)
    slots[Math.max(wanted, tick + 1) % SLOTS]?.push(stream)
  }

  function finish(stream: Stream) {
    if (!stream.paced) return
    stream.paced = undefined
    stream.sink = undefined
    if (sharedTimes.size > 0) readAllShared(nowMs())
    if (stream.shared && --stream.shared.streams === 0) sharedTimes.delete(stream.shared.fullSpeedStreams)
    if (--playing > 0) return
    clearInterval(timer)
    for (const slot of slots) slot.length = 0
  }

  function joinShared(fullSpeedStreams: number, now: number): SharedTime {
    const time = sharedTimes.get(fullSpeedStreams) ?? { fullSpeedStreams, streams: 0, readMs: now, passedMs: 0 }
    time.streams++
    sharedTimes.set(fullSpeedStreams, time)
    return time
  }

  /** Before their number changes, so that each stretch of time counts at the speed that it had. */
  function readAllShared(now: number) {
    for (const time of sharedTimes.values()) readShared(time, now, playing)
  }

  return { play }
}

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
