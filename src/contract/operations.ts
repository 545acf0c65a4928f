/** What answers of the live platform and of recordings had against the contract, over HTTP. */
import { operation } from '../api/operation.js'
import { listOf, object } from '../api/shapes.js'
import { type Violating, type ViolationCounts, violating, violationCounts } from '../check/finding.js'

interface Parts {
  readonly violations: {
    counts(): ViolationCounts
    list(): readonly Violating[]
    /** Resolves when everything that has been answered is judged. */
    settle(): Promise<void>
  }
}

export const violationOperations = ({ violations }: Parts) => ({
  listViolations: operation({
    at: 'GET /violations',
    does: 'Lists what live and recorded answers broke of the contract.',
    returns: object({ counts: violationCounts, data: listOf(violating) }),
    answer:
      'How many violations there are, and the last exchanges that had some, the newest first, with their ids in the journal.',
    async run() {
      await violations.settle()
      return { counts: violations.counts(), data: violations.list() }
    },
  }),
})
