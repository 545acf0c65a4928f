/** Operations on the whole state: users, sessions, keys and messages as one document. */
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import * as v from 'valibot'
import { operation, StreamedAnswer } from '../api/operation.js'
import { named } from '../api/shapes.js'
import { ProblemsError } from '../check/problem.js'
import { invalidRequest } from '../core/errors.js'
import { documentText, parseDocument, type StateDocument, stateDocument } from './document.js'

/**
 * Some thousands of users with their sessions. An import replaces everything in one transaction, whose time grows with
 * the size.
 */
export const STATE_LIMIT_BYTES = 8_388_608

interface Parts {
  readonly exportState: () => Promise<StateDocument>
  /** Rejects with a ProblemsError for an invalid document. */
  readonly importState: (document: unknown) => Promise<void>
}

export const stateOperations = ({ exportState, importState }: Parts) => ({
  exportState: operation({
    at: 'GET /state',
    does: 'Returns users, sessions, keys and messages as one document.',
    returns: named('StateDocument', stateDocument),
    answer: 'The document.',
    async run() {
      const document = await exportState()
      return new StreamedAnswer(
        'application/json; charset=utf-8',
        response => pipeline(Readable.from(documentText(document)), response),
        () => document,
      )
    },
  }),
  importState: operation({
    at: 'PUT /state',
    does: 'Replaces the whole state with a document.',
    body: stateDocument,
    takes: v.unknown(),
    bodyReading: { bytes: STATE_LIMIT_BYTES, parse: parseDocument },
    answer: 'The state is replaced.',
    run: ({ body }) => importState(body).catch(refuse),
  }),
})

/** Reports all mistakes of a document at once. */
function refuse(error: unknown): never {
  if (!(error instanceof ProblemsError)) throw error
  throw invalidRequest(error.problems.map(({ sentence }) => sentence).join(' '))
}
