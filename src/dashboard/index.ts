/** The page at /dashboard: where to point an app, and how to call the platform. */
import { type NextFunction, type Request, type Response, Router } from 'express'
import { methodNotAllowed } from '../core/errors.js'
import { type DashboardFacts, startPage } from './start-page.js'
import { styles } from './styles.js'

/** Makes the pages. `facts` is asked each time, since a reload may change them. */
export function createDashboard(facts: () => DashboardFacts): Router {
  const router = Router()
  router.use(protect)
  router
    .route('/')
    .get((_request, response) => void response.type('html').send(startPage(facts())))
    .all(onlyGet)
  router
    .route('/style.css')
    .get((_request, response) => void response.type('css').send(styles))
    .all(onlyGet)
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

const onlyGet = ({ method }: Request) => {
  throw methodNotAllowed(method, ['GET', 'HEAD'])
}
