/** What is not on the line: Standin's own paths, on express. Loaded by the first request for one of them. */
import express, { type ErrorRequestHandler } from 'express'
import { internalError, notFound, PlatformError } from '../core/errors.js'
import { CONTROL, DASHBOARD } from '../core/paths.js'
import { refuseForeign } from './cors.js'
import type { App, Prototypes } from './entrance.js'
import { errorReply } from './error-bodies.js'

interface Parts {
  readonly prototypes: Prototypes
  /** The address that was asked to be listened on; its name is one of our own. */
  readonly host: string
  /** The control API, which knows by itself whom to refuse. */
  readonly control: express.Router
  /** The pages under /dashboard. */
  readonly dashboard: express.Router
  readonly report: (error: unknown) => void
}

/** Makes the express app behind the line. */
export function createApp({ prototypes, host, control, dashboard, report }: Parts): App {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  adopt(app, prototypes)

  app.use(CONTROL, control)
  app.use((request, _response, next) => {
    refuseForeign(request.headers, host)
    next()
  })
  app.use(DASHBOARD, dashboard)
  app.use(() => {
    throw notFound()
  })
  app.use(toErrorBody(report))
  return app
}

/**
 * Express gives each request and response its own prototypes with setPrototypeOf, which costs V8 its fast paths, here and on
 * the line. Ours take express's as their parents once, and express then finds what it wants to set already in place.
 */
function adopt(app: express.Express, { request, response }: Prototypes): void {
  Object.setPrototypeOf(request, app.request)
  Object.setPrototypeOf(response, app.response)
  app.request = request as express.Request
  app.response = response as express.Response
}

/** Four parameters are how express knows an error handler. */
const toErrorBody =
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
    response.status(reply.status).type(reply.contentType).send(reply.body)
  }
