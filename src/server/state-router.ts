/** The state by call: GET exports users, sessions, keys and messages as one document, PUT replaces them by one. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Router } from 'express'
import { ProblemsError } from '../check/problem.js'
import { invalidRequest } from '../core/errors.js'
import { only } from '../core/only.js'
import { type StateDocument, stateDocument } from '../core/state-document.js'
import { documentText, parseDocument } from '../state/index.js'
import type { Paths } from './control/part.js'
import { anyJsonIn } from './json-in.js'

export interface StateParts {
  readonly exportState: () => Promise<StateDocument>
  /** Rejects with a ProblemsError for a document that cannot be used. */
  readonly importState: (document: unknown) => Promise<void>
}

/** Some thousands of users with their sessions. It is put in place in one go, which takes the longer the more there is. */
export const STATE_LIMIT_BYTES = 8_388_608

export function createStateRouter({ exportState, importState }: StateParts): Router {
  const router = Router()
  router
    .route('/')
    .get(async (_request, response) => {
      const document = await exportState()
      await pipeline(Readable.from(documentText(document)), response.type('json'))
    })
    .put(async (request, response) => {
      const document = await anyJsonIn(request, STATE_LIMIT_BYTES, parseDocument)
      await importState(document).catch(error => {
        throw error instanceof ProblemsError
          ? invalidRequest(error.problems.map(({ sentence }) => sentence).join(' '))
          : error
      })
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'PUT'))
  return router
}

export const statePaths: Paths = {
  '/state': {
    get: {
      id: 'exportState',
      does: 'Users, sessions, keys and messages as one document.',
      answers: { 200: { what: 'The document.', schema: { type: 'object' } } },
    },
    put: {
      id: 'importState',
      does: 'Replaces all of the state by what a document says.',
      body: stateDocument,
      answers: { 204: { what: 'It is replaced.' } },
    },
  },
}
