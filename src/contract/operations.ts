/** The operation that lists contract violations in answers of the live platform and of recordings. */

import { type EndpointViolations, type ViolationCounts, violating, violationCounts } from '../check/finding.js'
import { arrayOf, closed } from '../check/forms.js'
import { operation } from '../control/operation.js'

interface Parts {
  readonly violations: {
    counts(): ViolationCounts
    list(): readonly EndpointViolations[]
    /** Resolves when all answers so far have been checked. */
    settle(): Promise<void>
  }
}

export const violationOperations = ({ violations }: Parts) => ({
  listViolations: operation({
    at: 'GET /violations',
    does: 'Lists how live and recorded answers violated the contract.',
    returns: closed({ counts: violationCounts, data: arrayOf(violating) }),
    async run() {
      await violations.settle()
      return { counts: violations.counts(), data: violations.list() }
    },
  }),
})
