/** Looks up in the journal what gave an answer. Finds nothing if the control API is closed to the page. */
import type { JournalEntry } from '../../journal/operations.js'
import { controlWith } from '../api.js'
import type { AnswerOrigin } from './answer.js'
import { CHAT } from './ask-model.js'

interface Wanted {
  /** The request body as sent. */
  readonly request: string
  /** The id of the completion; empty if there is none, as in a refusal. */
  readonly completionId: string
  /** The service key, needed to use the control API from other machines. */
  readonly bearer: string | undefined
}

/** The end of a body contains the last message, which is enough to identify it. */
const TELLING = 2000
const WAIT_MS = 250

export async function findAnswer(wanted: Wanted): Promise<AnswerOrigin | undefined> {
  // An exchange enters the journal when it has ended, which may be a moment after the page has read its last byte.
  for (let round = 0; round < 3; round++) {
    if (round > 0) await new Promise(resolve => setTimeout(resolve, WAIT_MS))
    const entries = await entriesFor(wanted).catch(() => undefined)
    if (!entries) return undefined
    const entry = entries.findLast(({ response }) => JSON.stringify(response.body ?? '').includes(wanted.completionId))
    if (entry) return entry
  }
  return undefined
}

async function entriesFor({ request, bearer }: Wanted): Promise<readonly JournalEntry[]> {
  const body = { method: 'POST', path: CHAT, text: request.slice(-TELLING), limit: 5 }
  return (await controlWith(bearer)('POST /journal/find', { body })).data
}
