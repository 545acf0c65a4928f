/** Faults by call: POST puts one in line for the next requests, GET shows who waits, DELETE forgets them. */
import { Router } from 'express'
import { faultCallSchema } from '../core/fault.js'
import { only } from '../core/only.js'
import type { FaultCalls } from '../faults/index.js'
import { jsonIn } from './json-in.js'

export function createFaultRouter(calls: FaultCalls): Router {
  const router = Router()
  router
    .route('/')
    .get((_request, response) => void response.json({ data: calls.waiting() }))
    .post(async (request, response) => {
      response.status(201).json(calls.add(await jsonIn(request, faultCallSchema)))
    })
    .delete((_request, response) => {
      calls.clear()
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'POST', 'DELETE'))
  return router
}
