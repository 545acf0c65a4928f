/** Writes the counts in Prometheus format, with Prometheus's own client library. */
import { Counter, collectDefaultMetrics, Gauge, Registry } from 'prom-client'
import { bucketsSeconds, type DurationCounts, type Meter, type Series } from './meter.js'

/** Facts besides the exchanges, read at each scrape. */
interface PlatformFacts {
  readonly version: string
  readonly mode: string
  /** The size of the journal, and the number of exchanges that it did not keep. */
  readonly journal: { readonly kept: number; readonly passedOver: number }
  /** How recordings were used; absent if no mode uses them. */
  readonly receipt?: Receipt | undefined
}

interface Receipt {
  readonly served: number
  readonly missed: number
  readonly recorded: number
  readonly passed: number
}

const endpointLabels = ['method', 'path', 'mode'] as const

/** Also starts measuring the process: memory, event loop, garbage collection. */
export function createExposition(meter: Meter, readFacts: () => PlatformFacts) {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  for (const metric of [...exchangeMetrics(meter), ...platformMetrics(readFacts)]) {
    registry.registerMetric(metric as unknown as Gauge)
  }
  return { contentType: registry.contentType, text: () => registry.metrics() }
}

/** A counter that takes its value from elsewhere whenever it is read. */
const counter = <Label extends string>(
  name: string,
  help: string,
  labelNames: readonly Label[],
  setCounts: (counter: Counter<Label>) => void,
) =>
  new Counter<Label>({
    ...{ name, help, labelNames },
    registers: [],
    collect() {
      this.reset()
      setCounts(this)
    },
  })

const exchangeMetrics = (meter: Meter) => [
  counter(
    'standin_requests_total',
    'Requests that have ended, by endpoint, mode, and status (0: no answer was sent).',
    [...endpointLabels, 'status'],
    counter => {
      for (const { byStatus, ...series } of meter.series()) {
        for (const [status, count] of byStatus) counter.inc({ ...labelsOf(series), status }, count)
      }
    },
  ),
  counter(
    'standin_answers_broken_total',
    'Incomplete answers: the client disconnected, or the stream was cut.',
    endpointLabels,
    counter => {
      for (const series of meter.series()) counter.inc(labelsOf(series), series.broken)
    },
  ),
  counter('standin_tokens_total', 'Tokens of prompts and of completions.', [...endpointLabels, 'kind'], counter => {
    for (const series of meter.series()) {
      if (series.promptTokens + series.completionTokens === 0) continue
      counter.inc({ ...labelsOf(series), kind: 'prompt' }, series.promptTokens)
      counter.inc({ ...labelsOf(series), kind: 'completion' }, series.completionTokens)
    }
  }),
  histogram('standin_first_byte_seconds', 'From a request to the head of its answer.', () =>
    durationsOf(meter, ({ firstByte }) => firstByte),
  ),
  histogram('standin_request_duration_seconds', 'From a request to the end of its answer.', () =>
    durationsOf(meter, ({ total }) => total),
  ),
]

const platformMetrics = (readFacts: () => PlatformFacts) => [
  counter(
    'standin_recordings_total',
    'Requests answered from recordings (served) or without a recording (missed), exchanges saved to disk (recorded), requests forwarded to the live platform (passed).',
    ['outcome'],
    counter => {
      const { receipt } = readFacts()
      if (!receipt) return
      for (const outcome of outcomes) counter.inc({ outcome }, receipt[outcome])
    },
  ),
  new Gauge({
    name: 'standin_journal_entries',
    help: 'Exchanges that the journal keeps.',
    registers: [],
    collect() {
      this.set(readFacts().journal.kept)
    },
  }),
  counter(
    'standin_journal_passed_over_total',
    'Exchanges that the journal did not keep, because there were too many at once.',
    [],
    counter => counter.inc(readFacts().journal.passedOver),
  ),
  new Gauge<'version' | 'mode'>({
    name: 'standin_info',
    help: 'The running version and its mode.',
    labelNames: ['version', 'mode'],
    registers: [],
    collect() {
      this.reset()
      const { version, mode } = readFacts()
      this.set({ version, mode }, 1)
    },
  }),
]

const outcomes = ['served', 'missed', 'recorded', 'passed'] as const

const labelsOf = ({ method, path, mode }: Pick<Series, (typeof endpointLabels)[number]>) => ({ method, path, mode })

interface LabelledDurations {
  readonly labels: ReturnType<typeof labelsOf>
  readonly times: DurationCounts
}

const durationsOf = (meter: Meter, timesOf: (series: Series) => DurationCounts): readonly LabelledDurations[] =>
  [...meter.series()].map(series => ({ labels: labelsOf(series), times: timesOf(series) }))

/**
 * A histogram whose times are already sorted into buckets. The library's own would have to observe each one. A registry
 * writes what `get` returns.
 */
const histogram = (name: string, help: string, read: () => readonly LabelledDurations[]) => ({
  name,
  get: async () => ({ name, help, type: 'histogram', values: read().flatMap(durations => linesOf(name, durations)) }),
})

function linesOf(name: string, { labels, times: { counts, sumSeconds } }: LabelledDurations) {
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
