/** The control API under /__standin: who may call its operations, and what holds for all of its answers. */
import { type NextFunction, type Request, type Response, Router } from 'express'
import { notFound } from '../core/errors.js'
import { isLoopback } from '../core/origins.js'
import { type ControlKeys, requireControl, showsToken } from '../keys/developer.js'
import { refuseForeign } from './cors.js'
import { type ControlParts, controlOperations } from './operations.js'
import { createOperationsRouter } from './operations-router.js'

interface Guarded extends ControlKeys {
  /** The address that was asked to be listened on; where others can reach it, they have to show a credential. */
  readonly host: string
}

export function createControl(parts: ControlParts & Guarded): Router {
  const { host, token } = parts
  const isClosed = !isLoopback(host)
  const admit = async ({ headers }: Request) => {
    if (isClosed) await requireControl(headers.authorization, parts)
  }
  const router = Router()
  router.use(protect)
  router.use(({ headers }, _response, next) => {
    refuseForeign(headers, host, showsToken(headers.authorization, token()))
    next()
  })
  router.use(
    createOperationsRouter(controlOperations(parts), async (request, access) => {
      if (access !== 'anyone') await admit(request)
      return undefined
    }),
  )
  router.use(async request => {
    await admit(request)
    throw notFound()
  })
  return router
}

/** Nothing is cached on the way or shown to other pages. */
function protect(_request: Request, response: Response, next: NextFunction): void {
  response.set({
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  })
  next()
}
