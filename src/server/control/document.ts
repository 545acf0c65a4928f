/** The document of everything that is answered, over HTTP. */
import { Router } from 'express'
import { only } from '../../core/only.js'
import type { ControlPart, Paths } from './part.js'

export interface Documented {
  /** OpenAPI, of the configuration in force; made when somebody asks for it. */
  readonly document: () => Promise<object>
}

const paths: Paths = {
  '/openapi.json': {
    get: {
      id: 'getDocument',
      does: 'This document.',
      answers: { 200: { what: 'A document of OpenAPI 3.1.', schema: { type: 'object' } } },
    },
  },
}

export function createDocumentPart({ document }: Documented): ControlPart {
  const router = Router()
  router
    .route('/')
    .get(async (_request, response) => void response.json(await document()))
    .all(only('GET', 'HEAD'))
  return { at: '/openapi.json', router, paths }
}
