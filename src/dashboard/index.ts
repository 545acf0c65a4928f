/** The user dashboard at /dashboard: its page, and the REST API that the page and scripts use. */
import { type NextFunction, type Request, type Response, Router } from 'express'
import type { ApiKeys } from '../auth/api-keys.js'
import type { ControlKeys } from '../auth/developer.js'
import type { Identify } from '../auth/identify.js'
import type { People } from '../auth/people.js'
import { notFound } from '../core/errors.js'
import { only } from '../core/only.js'
import { createKeysApi } from './keys-api.js'
import { createPageFiles } from './page-files.js'
import { createPeopleApi } from './people-api.js'
import type { ConfigJson } from './wire.js'

/** What anybody may know who can reach the dashboard. Secrets are not among it: they stand in the terminal. */
export interface DashboardFacts {
  readonly url: string
  readonly authUrl: string
  readonly anonKey: string
  /** Who the auth backend is: Standin, or a live one behind it. */
  readonly authMode: 'local' | 'proxy'
  readonly mode: string
  readonly version: string
  readonly models: readonly string[]
  readonly endpoints: readonly {
    readonly method: string
    readonly path: string
    readonly access: 'anyone' | readonly string[]
  }[]
  /** The development user, shown where somebody signs in. */
  readonly signIn?: { readonly email: string; readonly password: string }
}

export interface DashboardParts {
  /** Asked each time, since a reload may change them. */
  readonly facts: () => Promise<DashboardFacts>
  readonly identify: Identify
  /** What shows from another machine that the developer asks. */
  readonly keys: ControlKeys
  readonly apiKeys: ApiKeys
  /** Milliseconds since 1970, on the clock that keys expire by. */
  readonly now: () => number
  /** For the developer's views. */
  readonly people: People
}

export function createDashboard({ facts, identify, keys, apiKeys, now, people }: DashboardParts): Router {
  const router = Router()
  router.use(protect)
  router
    .route('/api/config')
    .get(async (_request, response: Response<ConfigJson>) => response.json(configJson(await facts())))
    .all(only('GET', 'HEAD'))
  router.use('/api/keys', createKeysApi({ identify, apiKeys, now }))
  router.use('/api', createPeopleApi({ keys, apiKeys, people }))
  router.use(createPageFiles(facts))
  router.use(unreadablePath)
  return router
}

/** Nothing is guessed, kept or told to others, and no other page may load or frame this one. */
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

function configJson({ authUrl, anonKey, authMode, endpoints, signIn, ...facts }: DashboardFacts): ConfigJson {
  const { url, mode, version, models } = facts
  return {
    ...{ url, auth_url: authUrl, anon_key: anonKey, auth_mode: authMode, mode, version, models },
    // Picked one by one: what is handed in may know more than may be told.
    endpoints: endpoints.map(({ method, path, access }) => ({ method, path, access })),
    ...(signIn && { sign_in: { email: signIn.email, password: signIn.password } }),
  }
}

/** An id that cannot be decoded is the id of nothing. Four parameters are how express knows an error handler. */
function unreadablePath(error: unknown, _request: Request, _response: Response, _next: NextFunction): never {
  throw error instanceof URIError ? notFound() : error
}
