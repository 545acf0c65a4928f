/** The control API under /__standin: who may call its operations, and the headers of all responses. */
import { type NextFunction, type Request, type Response, Router } from 'express'
import { notFound } from '../core/errors.js'
import { isLoopback } from '../core/origins.js'
import { type ControlKeys, hasControlToken, requireControl } from '../keys/identify.js'
import { refuseForeign } from './cors.js'
import { type ControlParts, controlOperations } from './operations.js'
import { createOperationsRouter } from './operations-router.js'

interface ControlAccess extends ControlKeys {
  /**
   * The host that the server was asked to listen on. If other machines can reach it, callers must send the control
   * token.
   */
  readonly host: string
}

export function createControl(parts: ControlParts & ControlAccess): Router {
  const { host, token } = parts
  const requiresToken = !isLoopback(host)
  const checkToken = async ({ headers }: Request) => {
    if (requiresToken) await requireControl(headers.authorization, parts)
  }
  const router = Router()
  router.use(setSecurityHeaders)
  router.use(({ headers }, _response, next) => {
    refuseForeign(headers, host, hasControlToken(headers.authorization, token()))
    next()
  })
  router.use(
    createOperationsRouter(controlOperations(parts), async (request, access) => {
      if (access !== 'anyone') await checkToken(request)
      return undefined
    }),
  )
  router.use(async request => {
    await checkToken(request)
    throw notFound()
  })
  return router
}

/** Forbids caching, and loading by pages of other origins. */
function setSecurityHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.set({
    'cache-control': 'no-store',
    'cross-origin-resource-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
  })
  next()
}
