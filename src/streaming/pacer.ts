/** Plays paced bodies in their rhythm: one shared wheel turns for all streams, and stands still when there are none. */
import type { Paced } from '../core/exchange.js'

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
  paced: Paced | undefined
  readonly sink: Sink
  readonly startMs: number
  /** Pieces that have left. */
  sent: number
}

/** One turn of the wheel is SLOTS ticks; what is due later passes by and is put back. */
const SLOTS = 1024

/** Makes a wheel that moves every `tickMs`. Deadlines count from a stream's own start, so lateness never adds up. */
export function createPacer({ tickMs = 5, nowMs = () => performance.now() } = {}): Pacer {
  const slots: Stream[][] = Array.from({ length: SLOTS }, () => [])
  let timer: NodeJS.Timeout | undefined
  let wheelStartMs = 0
  let tick = 0
  let playing = 0

  function play(paced: Paced, sink: Sink): () => void {
    const stream: Stream = { paced, sink, startMs: nowMs(), sent: 0 }
    if (playing++ === 0) {
      wheelStartMs = stream.startMs
      tick = 0
      timer = setInterval(turn, tickMs)
    }
    advance(stream, stream.startMs)
    return () => finish(stream)
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
    const { paced, sink, sent } = stream
    if (!paced) return
    if (sink.isFull()) return wait(stream, now + tickMs)
    const ready = piecesDue(paced, now - stream.startMs)
    const due = Math.min(paced.pieces.length, ready)
    // A stream without any pieces still has a head and a tail, due when its first piece would have been.
    if (due > sent || (ready > 0 && due === paced.pieces.length)) {
      let text = sent === 0 ? paced.head : ''
      for (let i = sent; i < due; i++) text += paced.before + paced.pieces[i] + paced.after
      stream.sent = due
      if (due === paced.pieces.length) {
        finish(stream)
        return sink.end(text + paced.tail)
      }
      sink.write(text)
    }
    wait(stream, stream.startMs + dueMs(paced, due))
  }

  function wait(stream: Stream, untilMs: number) {
    const wanted = Math.ceil((untilMs - wheelStartMs) / tickMs)
    slots[Math.max(wanted, tick + 1) % SLOTS]?.push(stream)
  }

  function finish(stream: Stream) {
    if (!stream.paced) return
    stream.paced = undefined
    if (--playing > 0) return
    clearInterval(timer)
    for (const slot of slots) slot.length = 0
  }

  return { play }
}

/** When piece `i` is due, in milliseconds after the start. */
function dueMs({ pace: { firstTokenMs, tokensPerSecond } }: Paced, i: number): number {
  return tokensPerSecond === 0 ? firstTokenMs : firstTokenMs + (i * 1000) / tokensPerSecond
}

/** How many pieces are due after `elapsedMs`. */
function piecesDue({ pace: { firstTokenMs, tokensPerSecond } }: Paced, elapsedMs: number): number {
  const playedMs = elapsedMs - firstTokenMs
  if (playedMs < 0) return 0
  return tokensPerSecond === 0 ? Number.POSITIVE_INFINITY : Math.floor((playedMs * tokensPerSecond) / 1000) + 1
}
