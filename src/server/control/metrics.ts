/** Metrics over HTTP, in the form that Prometheus scrapes. */
import { Router } from 'express'
import { only } from '../../core/only.js'
import { onceLoaded } from '../../core/work.js'
import type { Exposition } from '../../metrics/index.js'
import type { ControlPart } from './part.js'

export function createMetricsPart(load: () => Promise<Exposition>): ControlPart {
  const exposition = onceLoaded(load)
  const router = Router()
  router
    .route('/')
    .get(async (_request, response) => {
      const { contentType, text } = await exposition()
      response.set('content-type', contentType).send(await text())
    })
    .all(only('GET', 'HEAD'))
  const what = 'Requests, times, tokens, recordings and the process itself, in the text format of Prometheus.'
  const answers = { 200: { what, type: 'text/plain' } }
  const get = { id: 'getMetrics', does: 'Metrics of this process, for Prometheus.', answers }
  return { at: '/metrics', router, paths: { '/metrics': { get } } }
}
