/** The document of the control API over HTTP; made when somebody first asks for it. */
import { Router } from 'express'
import { once } from '../../core/once.js'
import { only } from '../../core/only.js'
import type { ControlPart } from './part.js'
import type { Readiness } from './ready.js'

const paths = {
  '/openapi.json': {
    get: {
      id: 'getDocument',
      does: 'This document.',
      answers: { 200: { what: 'A document of OpenAPI 3.1.', schema: { type: 'object' } } },
    },
  },
}

/** `parts` are all that it is about, itself included. */
export function createDocumentPart(parts: () => readonly ControlPart[], readiness: () => Readiness): ControlPart {
  const document = once(async () => {
    const { openApiOf } = await import('./openapi.js')
    return openApiOf(parts(), readiness())
  })
  const router = Router()
  router
    .route('/')
    .get(async (_request, response) => void response.json(await document()))
    .all(only('GET', 'HEAD'))
  return { at: '/openapi.json', router, paths }
}
