/** The dashboard at /dashboard: its page, and the REST API for the page and for scripts. */
import { readFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { NextFunction, Request, Response } from 'express'
import { type Admit, createOperationsRouter } from '../control/operations-router.js'
import { methodNotAllowed, notFound, refusal } from '../core/errors.js'
import { DASHBOARD } from '../core/paths.js'
import { express, Router } from '../http/express.js'
import { missingCredential, wrongKind } from '../keys/errors.js'
import type { Identify } from '../keys/identify.js'
import { type ConfigJson, type DashboardApiParts, dashboardOperations } from './operations.js'
import { formerRoutes, routes } from './routes.js'

type DashboardParts = DashboardApiParts & { readonly identify: Identify }

export function createDashboard(parts: DashboardParts): Router {
  const router = Router()
  router.use(setSecurityHeaders)
  router.use('/api', createOperationsRouter(dashboardOperations(parts), createAdmit(parts)))
  router.use(createPageFiles(parts.config))
  router.use(throwForMalformedPath)
  return router
}

const createAdmit =
  ({ identify }: DashboardParts): Admit =>
  async ({ method, originalUrl, headers: { authorization } }, access) => {
    if (access !== 'user') return undefined
    const caller = await identify(authorization)
    if (caller.kind === 'user') return caller
    if (caller.kind === 'anonymous' || caller.kind === 'refused' || caller.kind === 'stranger')
      throw missingCredential()
    throw wrongKind(caller.kind, ['user'], `${method} ${originalUrl.split('?', 1)[0]}`)
  }

/** Prevents guessing of content types, caching, referrers, and that other sites load or frame the page. */
function setSecurityHeaders(_request: Request, response: Response, next: NextFunction): void {
  response.set({
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  next()
}

/** Treats malformed paths as unknown. Express recognizes an error handler by its four parameters. */
function throwForMalformedPath(error: unknown, _request: Request, _response: Response, _next: NextFunction): never {
  throw error instanceof URIError ? notFound() : error
}

/** The path is the same from src/dashboard as from dist/chunks, where the build puts this file. */
// Not import.meta.dirname, which jest 29 does not have.
const folder = fileURLToPath(new URL('../../dist/dashboard', import.meta.url))

/** Serves the built page and its assets. Calls `config` for each request, because a reload may change it. */
function createPageFiles(config: DashboardParts['config']): Router {
  const router = Router()
  const paths = [...Object.values(routes), ...Object.keys(formerRoutes)].map(
    route => route.slice(DASHBOARD.length) || '/',
  )
  const sendPage = async (request: Request, response: Response, status = 200) => {
    const gzip = acceptsGzip(request)
    const html = await readFile(path.join(folder, gzip ? 'index.html.gz' : 'index.html')).catch(() => {
      throw pageNotBuilt()
    })
    if (gzip) response.set('content-encoding', 'gzip')
    response
      .status(status)
      .set('content-security-policy', contentSecurityPolicy(await config()))
      .vary('accept-encoding')
      .type('html')
      .send(html)
  }
  router
    .route(paths)
    .get((request, response) => sendPage(request, response))
    .all(({ method }) => {
      throw methodNotAllowed(method, ['GET', 'HEAD'])
    })
  router.use(
    '/assets',
    useCompressed,
    express.static(path.join(folder, 'assets'), { index: false, setHeaders: setAssetHeaders }),
  )
  // Browsers get a page with links, scripts the documented error.
  router.get(/^/, (request, response, next) =>
    request.accepts(['json', 'html']) === 'html' ? sendPage(request, response, 404) : next(),
  )
  return router
}

const acceptsGzip = (request: Request) => request.acceptsEncodings('gzip', 'identity') === 'gzip'

/** Serves the compressed copy that the build puts beside each file. */
function useCompressed(request: Request, _response: Response, next: NextFunction): void {
  if (acceptsGzip(request)) request.url = request.url.replace(/\.(?:js|css)(?=$|\?)/, '$&.gz')
  next()
}

/** Assets can be cached forever, because their names change with their content. */
function setAssetHeaders(response: ServerResponse, file: string): void {
  response.setHeader('cache-control', 'public, max-age=31536000, immutable')
  response.setHeader('vary', 'accept-encoding')
  if (!file.endsWith('.gz')) return
  response.setHeader('content-encoding', 'gzip')
  response.setHeader(
    'content-type',
    file.endsWith('.js.gz') ? 'text/javascript; charset=utf-8' : 'text/css; charset=utf-8',
  )
}

/** Allows only scripts, styles and connections of this origin, and connections to the auth backend if it has another one. */
function contentSecurityPolicy({ url, auth_url }: ConfigJson): string {
  const { origin } = new URL(auth_url)
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `connect-src 'self'${origin === new URL(url).origin ? '' : ` ${origin}`}`,
    "img-src 'self' data:",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')
}

const pageNotBuilt = () => refusal(503, 'page_not_built', 'The dashboard is not built yet. Run "npm run build" once.')
