/** Operations on the faults that wait for requests. */
import { operation } from '../api/operation.js'
import { dataOf, object, scopeQuery, text } from '../api/shapes.js'
import { noSuchFault } from '../core/errors.js'
import { type FaultCall, faultCallSchema } from '../core/fault.js'

const waitingFault = object({ id: text, ...faultCallSchema.entries })

export interface WaitingFaults {
  /** Those that wait, the first in line first: those of a scope, or all without one. */
  waiting(scope?: string): readonly (FaultCall & { readonly id: string })[]
  /** Rejects with a ProblemsError for conditions that do not exist. */
  add(call: FaultCall): Promise<{ readonly id: string }>
  clear(scope?: string): void
  /** Gives back whether it waited. */
  remove(id: string): boolean
}

export const faultOperations = ({ faults }: { readonly faults: WaitingFaults }) => ({
  listFaults: operation({
    at: 'GET /faults',
    does: 'Lists the faults that wait for requests, in order.',
    query: scopeQuery,
    returns: dataOf(waitingFault),
    answer: 'The faults; `times` is how many requests each is still for.',
    run: ({ scope }) => ({ data: faults.waiting(scope) }),
  }),
  addFault: operation({
    at: 'POST /faults',
    does: 'Makes the next matching requests fail.',
    body: faultCallSchema,
    returns: object({ id: text }),
    status: 201,
    answer: 'It waits in line.',
    errors: { 409: 'Too many wait already.' },
    run({ body, scope }) {
      const own = body.scope ?? scope
      return faults.add(own === undefined ? body : { ...body, scope: own })
    },
  }),
  clearFaults: operation({
    at: 'DELETE /faults',
    does: 'Removes all waiting faults.',
    query: scopeQuery,
    answer: 'None waits.',
    run: ({ scope }) => faults.clear(scope),
  }),
  removeFault: operation({
    at: 'DELETE /faults/{id}',
    does: 'Removes one waiting fault.',
    answer: 'It waits no longer.',
    run({ id }) {
      if (!faults.remove(id)) throw noSuchFault(id)
    },
  }),
})
