/** The user's API keys over REST: listed, made, rolled, revoked. */
import { type Request, type Response, Router } from 'express'
import type { ApiKeys } from '../auth/api-keys.js'
import type { Identify } from '../auth/identify.js'
import { newKeyRequest, rollRequest } from '../core/dashboard-request.js'
import { only } from '../core/only.js'
import { requireUser, type User } from './callers.js'
import { readBody } from './json-body.js'
import type { KeyJson, ListJson, NewKeyJson } from './wire.js'

interface Parts {
  readonly identify: Identify
  readonly apiKeys: ApiKeys
  /** Milliseconds since 1970, on the clock that keys expire by. */
  readonly now: () => number
}

export function createKeysApi({ identify, apiKeys, now }: Parts): Router {
  const newKey = newKeyRequest(now)

  /** A handler that is told which user asks; anybody else gets a 401. */
  const forUser =
    <Json>(answer: (user: User, request: Request, response: Response<Json>) => Promise<unknown>) =>
    async (request: Request, response: Response<Json>) =>
      answer(await requireUser(request, identify), request, response)

  const list = forUser<ListJson<KeyJson>>(async ({ id }, _request, response) =>
    response.json({ data: await apiKeys.list(id) }),
  )

  const create = forUser<NewKeyJson>(async ({ id }, request, response) => {
    const { name, expires_at, expires_in } = await readBody(request, newKey)
    const expiry = expires_in === undefined ? (expires_at ?? null) : now() + expires_in * 1000
    const expiresAt = expiry === null ? null : new Date(expiry).toISOString()
    response.status(201).json(await apiKeys.create(id, { name, expiresAt }))
  })

  const roll = forUser<NewKeyJson>(async ({ id }, request, response) => {
    const { overlap_seconds } = await readBody(request, rollRequest, {})
    response.status(201).json(await apiKeys.roll(id, String(request.params.id), overlap_seconds * 1000))
  })

  const revoke = forUser<KeyJson>(async ({ id }, request, response) =>
    response.json(await apiKeys.revoke(id, String(request.params.id))),
  )

  const router = Router()
  router
    .route('/')
    .get(list)
    .post(create)
    .all(only('GET', 'HEAD', 'POST'))
  router.route('/:id').delete(revoke).all(only('DELETE'))
  router.route('/:id/roll').post(roll).all(only('POST'))
  return router
}
