/** Serves metrics over HTTP in the format that Prometheus scrapes. */
import { operation, TextAnswer } from '../api/operation.js'
import { importOnce } from '../core/work.js'

interface Exposition {
  readonly contentType: string
  text(): Promise<string>
}

export function metricOperations({ metrics }: { readonly metrics: () => Promise<Exposition> }) {
  const exposition = importOnce(metrics)
  return {
    getMetrics: operation({
      at: 'GET /metrics',
      does: 'Returns the metrics of this process for Prometheus.',
      returns: 'text/plain',
      async run() {
        const { contentType, text } = await exposition()
        return new TextAnswer(contentType, await text())
      },
    }),
  }
}
