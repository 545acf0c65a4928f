/** Faults by call: POST puts one in line for the next requests, GET shows who waits, DELETE forgets them. */
import type { IncomingMessage } from 'node:http'
import { Router } from 'express'
import { check } from '../core/check.js'
import { emptyBody, invalidRequest, notJson, PlatformError, unreadableRequest } from '../core/errors.js'
import { type FaultCall, faultCallSchema } from '../core/fault.js'
import { only } from '../core/only.js'
import type { FaultCalls } from '../faults/index.js'
import { readBody, requireJson } from './body.js'

/** No fault comes near it. */
const LIMIT_BYTES = 65_536

export function createFaultRouter(calls: FaultCalls): Router {
  const router = Router()
  router
    .route('/')
    .get((_request, response) => void response.json({ data: calls.waiting() }))
    .post(async (request, response) => {
      response.status(201).json(calls.add(callIn(await bodyOf(request))))
    })
    .delete((_request, response) => {
      calls.clear()
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'POST', 'DELETE'))
  return router
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  requireJson(request)
  const body = await new Promise<Buffer | PlatformError | undefined>(done => readBody(request, LIMIT_BYTES, done))
  if (body instanceof PlatformError) throw body
  // Nobody is there to be told.
  if (!body) throw unreadableRequest()
  if (body.length === 0) throw emptyBody()
  return body
}

/** Throws a 400 that names the first thing that is wrong. */
function callIn(body: Buffer): FaultCall {
  let value: unknown
  try {
    value = JSON.parse(body.toString('utf8'))
  } catch (error) {
    throw notJson((error as Error).message)
  }
  const checked = check(faultCallSchema, value, { firstOnly: true, whole: 'The request body' })
  if ('value' in checked) return checked.value
  throw invalidRequest(checked.mistakes[0]?.sentence ?? 'The request body is not a fault.')
}
