/** The page at /dashboard: where to point an app, and how to call the platform. */
import { type NextFunction, type Request, type Response, Router } from 'express'
import { startPage } from './start-page.js'
import { styles } from './styles.js'

/** What the page shows. Keys are not among it: they stand in the terminal of whoever started the platform. */
export interface DashboardFacts {
  readonly url: string
  readonly authUrl: string
  readonly mode: string
  readonly models: readonly string[]
  readonly endpoints: readonly {
    readonly method: string
    readonly path: string
    readonly access: 'anyone' | readonly string[]
  }[]
}

/** Makes the pages. `facts` is asked each time, since a reload may change them. */
export function createDashboard(facts: () => DashboardFacts): Router {
  const router = Router()
  router.use(protect)
  router.get('/', (_request, response) => void response.type('html').send(startPage(facts())))
  router.get('/style.css', (_request, response) => void response.type('css').send(styles))
  return router
}

/** No script runs, nothing is loaded from elsewhere, and no other page may frame this one. */
function protect(_request: Request, response: Response, next: NextFunction): void {
  response.set({
    'content-security-policy': "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'",
    'cache-control': 'no-store',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
  })
  next()
}
