/** Operations on queued faults. */

import { closed, text } from '../check/forms.js'
import { dataOf, operation, scopeQuery } from '../control/operation.js'
import { noSuchFault } from '../core/errors.js'
import { type FaultCall, faultCallSchema } from '../core/fault.js'

/** A fault that waits for requests. */
export const waitingFault = closed({ id: text, ...faultCallSchema.entries })

interface WaitingFaults {
  /** The waiting faults of a scope, or of all scopes, in order. */
  waiting(scope?: string): readonly (FaultCall & { readonly id: string })[]
  /** Rejects with a ProblemsError for unknown conditions. */
  add(call: FaultCall): { readonly id: string }
  clear(scope?: string): void
  /** Returns whether it was waiting. */
  remove(id: string): boolean
}

export const faultOperations = ({ faults }: { readonly faults: WaitingFaults }) => ({
  listFaults: operation({
    at: 'GET /faults',
    does: 'Lists the faults that wait for requests, in order.',
    query: scopeQuery,
    returns: dataOf(waitingFault),
    run: ({ scope }) => ({ data: faults.waiting(scope) }),
  }),
  addFault: operation({
    at: 'POST /faults',
    does: 'Makes the next matching requests fail.',
    body: faultCallSchema,
    returns: closed({ id: text }),
    status: 201,
    run({ body, scope }) {
      const callScope = body.scope ?? scope
      return faults.add(callScope === undefined ? body : { ...body, scope: callScope })
    },
  }),
  clearFaults: operation({
    at: 'DELETE /faults',
    does: 'Removes all waiting faults.',
    query: scopeQuery,
    run: ({ scope }) => faults.clear(scope),
  }),
  removeFault: operation({
    at: 'DELETE /faults/{id}',
    does: 'Removes one waiting fault.',
    run({ id }) {
      if (!faults.remove(id)) throw noSuchFault(id)
    },
  }),
})
