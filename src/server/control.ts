/** The control API under /__standin: whether the platform is ready, and the messages that a live backend would have sent. */
import { type NextFunction, type Request, type Response, Router } from 'express'
import { requireDeveloper } from '../auth/developer.js'
import type { Identify } from '../auth/identify.js'
import type { People } from '../auth/people.js'
import { only } from '../core/only.js'

/** What may be known about a running platform by whoever reaches it. Keys are not among it. */
export interface Readiness {
  readonly mode: string
  readonly url: string
  readonly version: string
}

export interface ControlParts {
  readonly readiness: () => Readiness
  readonly identify: Identify
  readonly people: Pick<People, 'messages' | 'clearMessages'>
}

export function createControl({ readiness, identify, people }: ControlParts): Router {
  const router = Router()
  router
    .route('/ready')
    .get((_request, response) => void response.json({ ready: true, ...readiness() }))
    .all(only('GET', 'HEAD'))
  router
    .route('/outbox')
    .all(async ({ socket: { remoteAddress }, headers: { authorization } }: Request, _response, next: NextFunction) => {
      // A message holds what signs somebody in.
      await requireDeveloper({ remoteAddress, authorization }, identify)
      next()
    })
    .get(async (_request, response: Response) => void response.json({ data: await people.messages() }))
    .delete(async (_request, response) => {
      await people.clearMessages()
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'DELETE'))
  return router
}
