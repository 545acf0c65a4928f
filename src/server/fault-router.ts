/** Faults by call: POST puts one in line for the next requests, GET shows who waits, DELETE forgets them. */
import { Router } from 'express'
import { type FaultCall, faultCallSchema } from '../core/fault.js'
import { only } from '../core/only.js'
import type { FaultCalls } from '../faults/index.js'
import { jsonIn } from './json-in.js'
import { asRefusal } from './refusals.js'
import { scopeIn } from './scope-in.js'

/** What the line of faults is to whoever calls. */
export interface FaultsByCall extends Pick<FaultCalls, 'waiting' | 'clear'> {
  /** Rejects with a ProblemsError for conditions that there are not. */
  add(call: FaultCall): Promise<{ readonly id: string }>
}

export function createFaultRouter(faults: FaultsByCall): Router {
  const router = Router()
  router
    .route('/')
    .get((request, response) => void response.json({ data: faults.waiting(scopeIn(request)) }))
    .post(async (request, response) => {
      const call = await jsonIn(request, faultCallSchema)
      const scope = call.scope ?? scopeIn(request)
      response.status(201).json(await faults.add(scope === undefined ? call : { ...call, scope }).catch(asRefusal))
    })
    .delete((request, response) => {
      faults.clear(scopeIn(request))
      response.status(204).end()
    })
    .all(only('GET', 'HEAD', 'POST', 'DELETE'))
  return router
}
