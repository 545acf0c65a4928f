/** POST forgets what tests have left behind: in one scope, or in all where none is said. */
import { type Request, Router } from 'express'
import { only } from '../core/only.js'
import { resetCall } from '../core/scope.js'
import type { Paths } from './control/part.js'
import { jsonIn } from './json-in.js'
import { scopeIn } from './scope-in.js'

export type Reset = (scope?: string) => Promise<void>

export function createResetRouter(reset: Reset): Router {
  const router = Router()
  router
    .route('/')
    .post(async (request, response) => {
      const { scope } = hasBody(request) ? await jsonIn(request, resetCall) : {}
      await reset(scope ?? scopeIn(request))
      response.status(204).end()
    })
    .all(only('POST'))
  return router
}

/** Whoever has nothing to say may send nothing at all. */
const hasBody = ({ headers }: Request) =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

export const resetPaths: Paths = {
  '/reset': {
    post: {
      id: 'reset',
      does: 'Forgets what tests have left behind in a scope, or in all of them: rules, what rules remember, faults, which recordings were played, and the journal. Without a scope pace, limits and faults by chance are also as the configuration has them, and nothing is used of the limits.',
      query: resetCall,
      body: resetCall,
      isBodyOptional: true,
      answers: { 204: { what: 'It is forgotten.' } },
    },
  },
}
