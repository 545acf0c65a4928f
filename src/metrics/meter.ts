/** Counts exchanges as they end. The text for Prometheus is written on request. */
import { uptimeMs } from '../core/clock.js'
import type { Endpoint, Exchange } from '../core/exchange.js'

/** The upper bounds of the buckets, in seconds; one more bucket takes longer times. */
export const bucketsSeconds: readonly number[] = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60,
]

/** A histogram of one kind of duration. */
export interface DurationCounts {
  /** How many times fell into each bucket. */
  readonly counts: number[]
  sumSeconds: number
}

/** All exchanges with one endpoint in one mode. */
export interface Series {
  readonly method: string
  readonly path: string
  readonly mode: string
  readonly byStatus: Map<number, number>
  /** From the request to the head of the answer, and to its end. */
  readonly firstByte: DurationCounts
  readonly total: DurationCounts
  /** Incomplete answers. */
  broken: number
  promptTokens: number
  completionTokens: number
}

export interface Meter {
  /** Takes an exchange that has ended. */
  count(exchange: Exchange): void
  series(): Iterable<Series>
}

export function createMeter(): Meter {
  const all = new Map<string, Series>()
  /** The same series by endpoint, because building the name for every request would take longer than counting it. */
  const byEndpoint = new WeakMap<Endpoint, { [mode: string]: Series | undefined }>()

  function seriesOf(endpoint: Endpoint | undefined, mode: string): Series {
    const ofEndpoint = endpoint && byEndpoint.get(endpoint)
    const known = ofEndpoint?.[mode]
    if (known) return known
    // Clients choose undocumented paths, so there may be any number of them.
    const path = endpoint?.isUndocumented ? 'elsewhere' : (endpoint?.path ?? 'none')
    const method = endpoint?.method ?? 'none'
    const name = `${method} ${path} ${mode}`
    const series = all.get(name) ?? newSeries(method, path, mode)
    all.set(name, series)
    if (endpoint && !endpoint.isUndocumented) byEndpoint.set(endpoint, { ...ofEndpoint, [mode]: series })
    return series
  }

  return {
    count({ endpoint, mode = 'none', outcome, startedMs, endedMs = uptimeMs() }) {
      const series = seriesOf(endpoint, mode)
      const status = outcome?.status ?? 0
      series.byStatus.set(status, (series.byStatus.get(status) ?? 0) + 1)
      addTime(series.total, endedMs - startedMs)
      if (outcome?.beganMs !== undefined) addTime(series.firstByte, outcome.beganMs - startedMs)
      if (!outcome?.complete) series.broken++
      if (outcome?.answer?.kind !== 'reply' || !outcome.answer.tokens) return
      series.promptTokens += outcome.answer.tokens.prompt
      series.completionTokens += outcome.answer.tokens.completion
    },
    series: () => all.values(),
  }
}

const newSeries = (method: string, path: string, mode: string): Series => ({
  ...{ method, path, mode, byStatus: new Map(), firstByte: noDurations(), total: noDurations() },
  ...{ broken: 0, promptTokens: 0, completionTokens: 0 },
})

const noDurations = (): DurationCounts => ({ counts: Array(bucketsSeconds.length + 1).fill(0), sumSeconds: 0 })

function addTime(times: DurationCounts, ms: number): void {
  const seconds = ms / 1000
  let bucket = 0
  while (bucket < bucketsSeconds.length && seconds > (bucketsSeconds[bucket] ?? 0)) bucket++
  times.counts[bucket] = (times.counts[bucket] ?? 0) + 1
  times.sumSeconds += seconds
}
