/** The express app for Standin's own paths, the control API and the dashboard. The first request for one of them loads it. */
import type { ErrorRequestHandler, Request } from 'express'
import { internalError, notFound, PlatformError } from '../core/errors.js'
import { isLoopback } from '../core/origins.js'
import { CONTROL, DASHBOARD, DASHBOARD_HEADER, TEST_HEADER } from '../core/paths.js'
import { refuseForeign } from '../http/cors.js'
import type { App } from '../http/entrance.js'
import { errorReply } from '../http/error-bodies.js'
import { express, Router } from '../http/express.js'
import { endAfterRequest } from '../http/send.js'
import { type ControlKeys, hasControlToken, requireControl } from '../keys/identify.js'
import type { ControlOperations } from './operations.js'
import { createOperationsRouter } from './operations-router.js'

interface AppParts {
  /** The host that the server was asked to listen on. It counts as one of our own names. */
  readonly host: string
  /** The control API, which decides for itself which callers to refuse. */
  readonly control: Router
  /** The pages below /dashboard. */
  readonly dashboard: Router
  readonly report: (error: unknown) => void
}

/** Creates the express app that serves Standin's own paths. */
export function createApp({ host, control, dashboard, report }: AppParts): App {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')

  app.use(CONTROL, control)
  app.use((request, _response, next) => {
    refuseForeign(request.headers, host)
    next()
  })
  app.use(DASHBOARD, dashboard)
  app.use(() => {
    throw notFound()
  })
  app.use(errorHandler(report))
  return app
}

/** Express recognises an error handler by its four parameters. */
const errorHandler =
  (report: (error: unknown) => void): ErrorRequestHandler =>
  (cause, request, response, _next) => {
    const error = cause instanceof PlatformError ? cause : internalError()
    if (error !== cause) report(cause)
    if (response.headersSent) return void response.destroy()
    const path = request.originalUrl.split('?', 1)[0] ?? ''
    const reply = errorReply(error, { path, headers: request.headers })
    for (let i = 0; i < (reply.headers?.length ?? 0); i += 2) {
      response.setHeader(reply.headers?.[i] ?? '', reply.headers?.[i + 1] ?? '')
    }
    response
      .status(reply.status)
      .type(reply.contentType)
      .set('content-length', String(Buffer.byteLength(reply.body)))
    endAfterRequest(response, reply.body)
  }

interface ControlAccess extends ControlKeys {
  readonly operations: ControlOperations
  /** Notes who makes the changes of a request. */
  readonly situation: { by(actor: ReturnType<typeof actorOf>): () => void }
  /**
   * The host that the server was asked to listen on. If other machines can reach it, callers must send the control
   * token.
   */
  readonly host: string
}

/** The control API under /__standin: who may call its operations, and the headers of all responses. */
export function createControl(parts: ControlAccess): Router {
  const { host, token, operations } = parts
  const requiresToken = !isLoopback(host)
  const checkToken = async ({ headers }: Request) => {
    if (requiresToken) await requireControl(headers.authorization, parts)
  }
  const router = Router()
  router.use(({ headers }, response, next) => {
    // Forbids caching, and loading by pages of other origins.
    response.set({
      'cache-control': 'no-store',
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    })
    refuseForeign(headers, host, hasControlToken(headers.authorization, token()))
    next()
  })
  router.use((request, response, next) => {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.once('close', parts.situation.by(actorOf(request)))
    }
    next()
  })
  router.use(
    createOperationsRouter(operations, async (request, access) => {
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

function actorOf({ headers }: Request) {
  if (headers[DASHBOARD_HEADER] !== undefined) return 'dashboard'
  return headers[TEST_HEADER] === undefined ? 'control API' : 'test'
}
