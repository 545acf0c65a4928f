/** Writes the counts as Prometheus reads them, with its own client library. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { bucketsSeconds, type DurationCounts, type Meter, type Series } from './meter.js'

/** Facts besides the exchanges, read at each scrape. */
export interface Gauged {
  readonly version: string
  readonly mode: string
  /** The size of the journal, and how many exchanges it had no room for. */
  readonly journal: { readonly kept: number; readonly passedOver: number }
  /** How recordings were used; nothing if no mode uses them. */
  readonly receipt?: Receipt | undefined
}

interface Receipt {
  readonly served: number
  readonly missed: number
  readonly recorded: number
  readonly passed: number
}

export interface Exposition {
  readonly contentType: string
  text(): Promise<string>
}

type Place = 'method' | 'path' | 'mode'

/** Also starts to measure the process: memory, event loop, garbage collection. */
export function createExposition(meter: Meter, gauged: () => Gauged): Exposition {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })

  const requests = new Counter<Place | 'status'>({
    name: 'standin_requests_total',
    help: 'Requests that have ended, by what was asked, where the answer came from, and its status (0: none left).',
    labelNames: ['method', 'path', 'mode', 'status'],
    registers: [],
    collect() {
      this.reset()
      for (const { byStatus, ...series } of meter.series()) {
        for (const [status, count] of byStatus) this.inc({ ...placeOf(series), status }, count)
      }
    },
  })
  const broken = new Counter<Place>({
    name: 'standin_answers_broken_total',
    help: 'Answers that did not arrive whole: the client left, or the stream was cut.',
    labelNames: ['method', 'path', 'mode'],
    registers: [],
    collect() {
      this.reset()
      for (const series of meter.series()) this.inc(placeOf(series), series.broken)
    },
  })
  const tokens = new Counter<Place | 'kind'>({
    name: 'standin_tokens_total',
    help: 'Tokens of prompts and of completions.',
    labelNames: ['method', 'path', 'mode', 'kind'],
    registers: [],
    collect() {
      this.reset()
      for (const series of meter.series()) {
        if (series.promptTokens === 0) continue
        this.inc({ ...placeOf(series), kind: 'prompt' }, series.promptTokens)
        this.inc({ ...placeOf(series), kind: 'completion' }, series.completionTokens)
      }
    },
  })
  const times = [
    timed('standin_first_byte_seconds', 'From a request to the head of its answer.', () =>
      placed(meter, ({ firstByte }) => firstByte),
    ),
    timed('standin_request_duration_seconds', 'From a request to the end of its answer.', () =>
      placed(meter, ({ total }) => total),
    ),
  ]
  const recordings = new Counter<'outcome'>({
    name: 'standin_recordings_total',
    help: 'Requests answered from recordings (served) or by none (missed), exchanges put on disk (recorded), requests carried to the live platform (passed).',
    labelNames: ['outcome'],
    registers: [],
    collect() {
      this.reset()
      const { receipt } = gauged()
      if (!receipt) return
      for (const outcome of ['served', 'missed', 'recorded', 'passed'] as const) this.inc({ outcome }, receipt[outcome])
    },
  })
  const kept = new Gauge({
    name: 'standin_journal_entries',
    help: 'Exchanges that the journal keeps.',
    registers: [],
    collect() {
      this.set(gauged().journal.kept)
    },
  })
  const passedOver = new Counter({
    name: 'standin_journal_passed_over_total',
    help: 'Exchanges that the journal did not keep, since there were too many at once.',
    registers: [],
    collect() {
      this.reset()
      this.inc(gauged().journal.passedOver)
    },
  })
  const info = new Gauge<'version' | 'mode'>({
    name: 'standin_info',
    help: 'Which version runs, and in which mode.',
    labelNames: ['version', 'mode'],
    registers: [],
    collect() {
      this.reset()
      const { version, mode } = gauged()
      this.set({ version, mode }, 1)
    },
  })
  const own = [requests, broken, tokens, ...times, recordings, kept, passedOver, info]
  for (const metric of own) registry.registerMetric(metric as unknown as Gauge)
  return { contentType: registry.contentType, text: () => registry.metrics() }
}

const placeOf = ({ method, path, mode }: Pick<Series, Place>) => ({ method, path, mode })

interface Placed {
  readonly labels: ReturnType<typeof placeOf>
  readonly times: DurationCounts
}

const placed = (meter: Meter, timesOf: (series: Series) => DurationCounts): readonly Placed[] =>
  [...meter.series()].map(series => ({ labels: placeOf(series), times: timesOf(series) }))

/**
 * A histogram whose times were sorted into their buckets as they came. The library's own has to observe each of them; what a registry writes
 * down is what `get` says.
 */
const timed = (name: string, help: string, all: () => readonly Placed[]) => ({
  name,
  get: async () => ({ name, help, type: 'histogram', values: all().flatMap(placed => linesOf(name, placed)) }),
})

function linesOf(name: string, { labels, times: { counts, sumSeconds } }: Placed) {
  let total = 0
  const buckets = counts.map((count, i) => {
    total += count
    return { metricName: `${name}_bucket`, labels: { ...labels, le: bucketsSeconds[i] ?? '+Inf' }, value: total }
  })
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels, value: sumSeconds },
    { metricName: `${name}_count`, labels, value: total },
  ]
}
