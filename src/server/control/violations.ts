/** What answers of the live platform and of recordings had against the contract, over HTTP. */
import { Router } from 'express'
import type { Violating, ViolationCounts } from '../../core/finding.js'
import { only } from '../../core/only.js'
import type { ControlPart } from './part.js'
import { called, listOf, object, orNothing, text, wholeNumber } from './shapes.js'

export interface Judged {
  readonly violations: {
    counts(): ViolationCounts
    list(): readonly Violating[]
    /** Resolves when everything that has been answered is judged. */
    settle(): Promise<void>
  }
}

export const countsShape = object({ documented: wholeNumber, decided: wholeNumber, unjudged: wholeNumber })

const violating = object({
  id: text,
  method: text,
  endpoint: orNothing(text),
  status: wholeNumber,
  mode: text,
  violations: listOf(called('Violation')),
})

export function createViolationsPart({ violations }: Judged): ControlPart {
  const router = Router()
  router
    .route('/')
    .get(async (_request, response) => {
      await violations.settle()
      response.json({ counts: violations.counts(), data: violations.list() })
    })
    .all(only('GET', 'HEAD'))
  const answers = {
    200: {
      what: 'How many there are, and the last exchanges that had some, the newest first, with their ids in the journal.',
      schema: object({ counts: countsShape, data: listOf(violating) }),
    },
  }
  const does = 'What answers of the live platform and of recordings had against the contract.'
  return { at: '/violations', router, paths: { '/violations': { get: { id: 'listViolations', does, answers } } } }
}
