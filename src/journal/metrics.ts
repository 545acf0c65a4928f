/** Metrics for Prometheus, by its own client library. Loaded when they are read for the first time. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Exchange } from '../core/exchange.js'

interface Sources {
  readonly journal: {
    exchanges(): readonly { readonly exchange: Exchange }[]
    follow(listener: (exchange: Exchange) => void): void
  }
  readonly version: string
  readonly mode: () => string
  /** How recordings were used; `undefined` if no mode uses them. */
  readonly receipt: () => Readonly<Record<'served' | 'missed' | 'recorded' | 'passed', number>> | undefined
}

const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]

/** Counts every exchange from now on, and those that the journal still has. */
export function createMetrics({ journal, version, mode, receipt }: Sources): Registry {
  const registry = new Registry()
  const metric = (name: string, help: string, ...more: readonly string[]) => ({
    name: `standin_${name}`,
    help,
    labelNames: ['method', 'path', 'mode', ...more],
    registers: [registry],
  })
  const requests = new Counter(metric('requests_total', 'Requests that have ended; status 0: no answer.', 'status'))
  const broken = new Counter(metric('answers_broken_total', 'Answers that the client or a fault cut short.'))
  const tokens = new Counter(metric('tokens_total', 'Tokens of prompts and of completions.', 'kind'))
  const firstByte = new Histogram({ ...metric('first_byte_seconds', 'Until the head of the answer.'), buckets })
  const total = new Histogram({ ...metric('request_duration_seconds', 'Until the end of the answer.'), buckets })
  const info = new Gauge({ ...metric('info', 'The running version.'), labelNames: ['version', 'mode'], collect })
  const used = new Gauge({ ...metric('recordings', 'Use of recordings.'), labelNames: ['outcome'] })

  function observe(exchange: Exchange): void {
    const { outcome, startedMs, endedMs = startedMs } = exchange
    const labels = labelsOf(exchange)
    requests.inc({ ...labels, status: outcome?.status ?? 0 })
    if (!outcome?.complete) broken.inc(labels)
    if (outcome?.beganMs !== undefined) firstByte.observe(labels, (outcome.beganMs - startedMs) / 1000)
    total.observe(labels, (endedMs - startedMs) / 1000)
    if (outcome?.answer?.kind !== 'reply' || !outcome.answer.tokens) return
    for (const kind of ['prompt', 'completion'] as const) tokens.inc({ ...labels, kind }, outcome.answer.tokens[kind])
  }

  /** Called at each reading. */
  function collect(): void {
    info.reset()
    info.set({ version, mode: mode() }, 1)
    const { served = 0, missed = 0, recorded = 0, passed = 0 } = receipt() ?? {}
    for (const [outcome, count] of Object.entries({ served, missed, recorded, passed })) used.set({ outcome }, count)
  }

  collectDefaultMetrics({ register: registry })
  for (const { exchange } of journal.exchanges()) observe(exchange)
  journal.follow(observe)
  return registry
}

function labelsOf({ endpoint, mode }: Exchange) {
  // Clients choose undocumented paths, so there may be any number of them.
  const path = endpoint?.isUndocumented ? 'elsewhere' : (endpoint?.path ?? 'none')
  return { method: endpoint?.method ?? 'none', path, mode: mode ?? 'none' }
}
