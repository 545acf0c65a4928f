/** The operation that makes requests fail. */

import { closed, text } from '../check/forms.js'
import { type FaultCall, faultCallSchema } from '../core/fault.js'
import { operation } from '../core/operation.js'

interface WaitingFaults {
  /** Rejects with a ProblemsError for unknown conditions. */
  add(call: FaultCall): { readonly id: string }
}

export const faultOperations = ({ faults }: { readonly faults: WaitingFaults }) => ({
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
})
