/** Serves metrics over HTTP in the format that Prometheus scrapes. */
import type { Registry } from 'prom-client'
import { operation, TextAnswer } from '../api/operation.js'
import { once } from '../core/work.js'

export function metricOperations({ metrics }: { readonly metrics: () => Promise<Registry> }) {
  const registry = once(metrics)
  return {
    getMetrics: operation({
      at: 'GET /metrics',
      does: 'Returns the metrics of this process for Prometheus.',
      returns: 'text/plain',
      async run() {
        const metrics = await registry()
        return new TextAnswer(metrics.contentType, await metrics.metrics())
      },
    }),
  }
}
