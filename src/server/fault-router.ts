/** Faults by call: POST puts one in line for the next requests, GET shows who waits, DELETE forgets them. */
import { Router } from 'express'
import { noSuchFault } from '../core/errors.js'
import { type FaultCall, faultCallSchema } from '../core/fault.js'
import { only } from '../core/only.js'
import { resetCall } from '../core/scope.js'
import type { FaultCalls } from '../faults/index.js'
import type { Paths } from './control/part.js'
import { listOf, object, text, wholeNumber } from './control/shapes.js'
import { jsonIn } from './json-in.js'
import { asRefusal } from './refusals.js'
import { scopeIn } from './scope-in.js'

/** What the line of faults is to whoever calls. */
export interface FaultsByCall extends Pick<FaultCalls, 'waiting' | 'clear' | 'remove'> {
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
  router
    .route('/:id')
    .delete(({ params: { id } }, response) => {
      if (!faults.remove(id)) throw noSuchFault(id)
      response.status(204).end()
    })
    .all(only('DELETE'))
  return router
}

const anObject = { type: 'object' }
const waiting = {
  type: 'object',
  properties: { id: text, fault: anObject, times: wholeNumber },
  required: ['id', 'fault', 'times'],
}

export const faultPaths: Paths = {
  '/faults': {
    get: {
      id: 'listFaults',
      does: 'Faults that still wait for requests, in their order.',
      query: resetCall,
      answers: {
        200: {
          what: 'The calls, each with how many requests it has still to befall.',
          schema: object({ data: listOf(waiting) }),
        },
      },
    },
    post: {
      id: 'addFault',
      does: 'Makes the next requests that fit fail.',
      body: faultCallSchema,
      answers: { 201: { what: 'It waits in line.', schema: object({ id: text }) } },
      errors: { 409: 'Too many wait already.' },
    },
    delete: {
      id: 'clearFaults',
      does: 'Forgets those that wait.',
      query: resetCall,
      answers: { 204: { what: 'None waits.' } },
    },
  },
  '/faults/{id}': {
    delete: {
      id: 'removeFault',
      does: 'Forgets one that waits.',
      answers: { 204: { what: 'It does not wait any more.' } },
    },
  },
}
