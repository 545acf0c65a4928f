/** Counts exchanges, their durations and the memory that they hold, cheaply enough for heavy load. */
import { uptimeMs } from '../core/clock.js'
import type { Exchange, Reply, UpstreamResponse } from '../core/exchange.js'

/** The counts since the last `take`. */
interface TrafficTotals {
  readonly requests: number
  /** Refused, failed or incomplete. */
  readonly errors: number
  /** The median, to within a twentieth; null if there were no answers. */
  readonly p50Ms: number | null
  /** The 95th percentile. */
  readonly p95Ms: number | null
}

/** Each step is a tenth longer than the one before it. 200 steps reach from a twentieth of a millisecond to hours. */
const SHORTEST_MS = 0.05
const STEP = Math.log(1.1)
const STEPS = 200

export function createTally() {
  const steps = new Uint32Array(STEPS)
  let requests = 0
  let errors = 0
  const peek = (): TrafficTotals => ({
    requests,
    errors,
    p50Ms: percentile(steps, requests, 0.5),
    p95Ms: percentile(steps, requests, 0.95),
  })
  return {
    add(exchange: Exchange, durationMs: number): void {
      requests++
      if (hasFailed(exchange)) errors++
      const step = Math.ceil(Math.log(Math.max(durationMs, SHORTEST_MS) / SHORTEST_MS) / STEP)
      steps[Math.min(step, STEPS - 1)] = (steps[Math.min(step, STEPS - 1)] ?? 0) + 1
    },
    peek,
    /** Returns the counts and starts again from zero. */
    take() {
      const totals = peek()
      steps.fill(0)
      requests = 0
      errors = 0
      return totals
    },
  }
}

/** The counts of one second. */
export interface SecondTotals extends TrafficTotals {
  /** The end of the second, in milliseconds since 1970. */
  readonly endMs: number
}

const SECOND_MS = 1000
/** How many seconds are kept. */
export const MOST_SECONDS = 120

/** Counts second by second. There is no timer: a second is closed by the first request after it, or by reading. */
export function createSeconds() {
  const tally = createTally()
  const pastSeconds = new Map<number, TrafficTotals>()
  let current = 0

  function closeSecond(now: number): void {
    const totals = tally.take()
    if (totals.requests > 0) pastSeconds.set(current, totals)
    for (const second of pastSeconds.keys()) if (second <= now - MOST_SECONDS) pastSeconds.delete(second)
    current = now
  }

  return {
    add(exchange: Exchange, durationMs: number, nowMs: number): void {
      const second = Math.floor(nowMs / SECOND_MS)
      if (second !== current) closeSecond(second)
      tally.add(exchange, durationMs)
    },
    /** At most the last two minutes: from the first second with a request to the current one. */
    last(nowMs = uptimeMs()): readonly SecondTotals[] {
      const second = Math.floor(nowMs / SECOND_MS)
      if (second !== current) closeSecond(second)
      const now = tally.peek()
      const first = pastSeconds.keys().next().value ?? current
      if (first === current && now.requests === 0) return []
      const startMs = Date.now() - nowMs
      return Array.from({ length: current - first + 1 }, (_, i) => {
        const second = first + i
        const totals = second === current ? now : (pastSeconds.get(second) ?? noTraffic)
        return { ...totals, endMs: Math.round(startMs + (second + 1) * SECOND_MS) }
      })
    },
  }
}

const noTraffic: TrafficTotals = { requests: 0, errors: 0, p50Ms: null, p95Ms: null }

const hasFailed = ({ outcome }: Exchange) => !outcome?.complete || outcome.status === 0 || outcome.status >= 400

function percentile(steps: Uint32Array, count: number, fraction: number): number | null {
  if (count === 0) return null
  const rank = Math.ceil(count * fraction)
  let total = 0
  const step = steps.findIndex(stepCount => {
    total += stepCount
    return total >= rank
  })
  // The middle of the step on its logarithmic scale.
  const ms = SHORTEST_MS * Math.exp((step - 0.5) * STEP)
  return Number(ms.toPrecision(3))
}

/** How much memory an exchange holds, counting only parts that can be large. */
export function sizeOf({ path, query, body, chat, outcome }: Exchange): number {
  const bodyBytes = body?.length ?? 0
  // The parsed chat request is kept in addition to its bytes.
  const requestBytes = path.length + query.length + bodyBytes + (chat ? bodyBytes : 0)
  const { answer, upstream, piecesAtMs = noTimes } = outcome ?? {}
  return (
    requestBytes +
    piecesAtMs.length * TIME_BYTES +
    (answer ? memoryOf(answer) : 0) +
    (upstream ? memoryOf(upstream) : 0)
  )
}

const noTimes: readonly number[] = []
const TIME_BYTES = 8
/** The memory that a piece of a body takes in addition to its bytes. */
const PIECE_BYTES = 150
const TEXT_BYTES = 24

/**
 * Counts the pieces of a stream in full, although they may be shared with their rule or recording. Bytes that can be
 * computed again are not kept.
 */
function memoryOf(answer: Reply | UpstreamResponse): number {
  if (answer.kind === 'upstream') return answer.beginning.reduce((sum, { length }) => sum + length + PIECE_BYTES, 0)
  const { body, regenerate } = answer
  if (typeof body === 'string') return body.length
  if (Buffer.isBuffer(body)) return regenerate ? 0 : body.length
  return body.pieces.reduce((sum, { length }) => sum + length + TEXT_BYTES, 0)
}
