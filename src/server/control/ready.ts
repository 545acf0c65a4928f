/** Whether the platform is ready, over HTTP, and what may be known of it by whoever reaches it. */
import { Router } from 'express'
import { modes } from '../../core/exchange.js'
import { only } from '../../core/only.js'
import type { ControlPart } from './part.js'
import { object, oneOf, text } from './shapes.js'

/** Keys are not among it. */
export interface Readiness {
  readonly mode: string
  readonly url: string
  readonly version: string
}

const schema = object({ ready: { const: true }, mode: oneOf(modes), url: text, version: text })

export function createReadyPart(readiness: () => Readiness): ControlPart {
  const router = Router()
  router
    .route('/')
    .get((_request, response) => void response.json({ ready: true, ...readiness() }))
    .all(only('GET', 'HEAD'))
  const answers = { 200: { what: 'It is ready.', schema } }
  const does = 'Answers as soon as the platform does.'
  return { at: '/ready', isOpen: true, router, paths: { '/ready': { get: { id: 'getReady', does, answers } } } }
}
