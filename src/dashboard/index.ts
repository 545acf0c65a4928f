/** The user dashboard at /dashboard: its page, and the REST API that the page and scripts use. */
import { type NextFunction, type Request, type Response, Router } from 'express'
import { missingCredential, notFound, wrongKind } from '../core/errors.js'
import { type Admit, createOperationsRouter } from '../http/operations-router.js'
import type { Identify } from '../keys/identify.js'
import { type DashboardApiParts, dashboardOperations } from './operations.js'
import { createPageFiles } from './page-files.js'

export type DashboardParts = DashboardApiParts & { readonly identify: Identify }

export function createDashboard(parts: DashboardParts): Router {
  const router = Router()
  router.use(protect)
  router.use('/api', createOperationsRouter(dashboardOperations(parts), admitting(parts)))
  router.use(createPageFiles(parts.config))
  router.use(unreadablePath)
  return router
}

const admitting =
  ({ identify }: DashboardParts): Admit =>
  async ({ method, originalUrl, headers: { authorization } }, access) => {
    if (access !== 'user') return undefined
    const caller = await identify(authorization)
    if (caller.kind === 'user') return caller
    if (caller.kind === 'anonymous' || caller.kind === 'refused' || caller.kind === 'stranger')
      throw missingCredential()
    throw wrongKind(caller.kind, ['user'], `${method} ${originalUrl.split('?', 1)[0]}`)
  }

/** Content types are not guessed, nothing is cached or shown to other pages, and no other page may load or frame this one. */
function protect(_request: Request, response: Response, next: NextFunction): void {
  response.set({
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  next()
}

/** Malformed paths are treated as unknown. Four parameters are how express knows an error handler. */
function unreadablePath(error: unknown, _request: Request, _response: Response, _next: NextFunction): never {
  throw error instanceof URIError ? notFound() : error
}
