/** What the developer sees of the app's people over REST: users, messages that were not sent, API keys that were refused. */
import { type NextFunction, type Request, type Response, Router } from 'express'
import type { ApiKeys } from '../auth/api-keys.js'
import type { ControlKeys } from '../auth/developer.js'
import type { People } from '../auth/people.js'
import { pageRequest } from '../core/dashboard-request.js'
import { only } from '../core/only.js'
import { requireDeveloper } from './callers.js'
import { checked } from './json-body.js'
import type { ListJson, MessageJson, PageJson, PersonJson, RefusalJson } from './wire.js'

interface Parts {
  readonly keys: ControlKeys
  readonly apiKeys: Pick<ApiKeys, 'refusals'>
  readonly people: People
}

export function createPeopleApi({ keys, apiKeys, people }: Parts): Router {
  const router = Router()
  const onlyDeveloper = async (request: Request, _response: Response, next: NextFunction) => {
    await requireDeveloper(request, keys)
    next()
  }
  router
    .route('/users')
    .all(onlyDeveloper)
    .get(async (request, response: Response<PageJson<PersonJson>>) => {
      const { users, total } = await people.users(checked(pageRequest, { ...request.query }, 'The query'))
      response.json({ data: users, total })
    })
    .all(only('GET', 'HEAD'))
  router
    .route('/messages')
    .all(onlyDeveloper)
    .get(async (_request, response: Response<ListJson<MessageJson>>) => {
      response.json({ data: await people.messages() })
    })
    .delete(async (_request, response) => {
      await people.clearMessages()
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'DELETE'))
  router
    .route('/refusals')
    .all(onlyDeveloper)
    .get((_request, response: Response<ListJson<RefusalJson>>) => {
      response.json({ data: apiKeys.refusals() })
    })
    .all(only('GET', 'HEAD'))
  return router
}
