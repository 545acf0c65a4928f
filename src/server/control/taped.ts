/** What became of recordings, over HTTP: the requests that none answered, and the receipt of the run. */
import { Router } from 'express'
import { only } from '../../core/only.js'
import { journalScope } from '../../journal/index.js'
import type { Miss } from '../../recordings/index.js'
import { queryIn } from '../query-in.js'
import type { ControlPart } from './part.js'
import { listOf, object, orNothing, text, wholeNumber } from './shapes.js'
import { countsShape } from './violations.js'

export interface Taped {
  /** The last requests that no recording answered. */
  readonly misses: () => readonly Miss[]
  /** What came of recordings so far; nothing where no mode has to do with them. */
  readonly receipt: () => object | undefined
}

const difference = object({ field: text, 'recorded?': text, 'asked?': text })
const miss = object({
  at: text,
  scope: text,
  method: text,
  path: text,
  reason: text,
  'nearest?': object({ file: text, differences: listOf(difference) }),
})
const summary = object({
  served: wholeNumber,
  missed: wholeNumber,
  unused: listOf(text),
  recorded: wholeNumber,
  notRecorded: listOf(text),
  passed: wholeNumber,
  violations: countsShape,
})

export function createMissesPart({ misses }: Taped): ControlPart {
  const router = Router()
  router
    .route('/')
    .get((request, response) => {
      const { scope } = queryIn(request, journalScope)
      response.json({ data: misses().filter(miss => scope === undefined || miss.scope === scope) })
    })
    .all(only('GET', 'HEAD'))
  const answers = { 200: { what: 'The misses, the newest first.', schema: object({ data: listOf(miss) }) } }
  const does = 'The last requests that no recording answered, each with what it differs in from the nearest one.'
  return {
    at: '/misses',
    router,
    paths: { '/misses': { get: { id: 'listMisses', does, query: journalScope, answers } } },
  }
}

export function createReceiptPart({ receipt }: Taped): ControlPart {
  const router = Router()
  router
    .route('/')
    .get((_request, response) => void response.json(receipt() ?? null))
    .all(only('GET', 'HEAD'))
  const answers = {
    200: { what: 'The receipt; null where no mode has needed recordings.', schema: orNothing(summary) },
  }
  const does = 'What came of recordings so far.'
  return { at: '/receipt', router, paths: { '/receipt': { get: { id: 'getReceipt', does, answers } } } }
}
