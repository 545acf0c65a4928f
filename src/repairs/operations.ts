/** Operations that repair what an exchange got: what is possible for it, and doing it. */
import * as v from 'valibot'
import { arrayOf, closed, moment, optional, optionalMember, orNull, text, wholeNumber, word } from '../check/forms.js'
import { dataOf, operation, type ValueOf } from '../core/operation.js'
import { repairIds } from '../journal/index.js'
import { answerForms } from '../replies/index.js'

const offer = closed({
  id: word(repairIds),
  /** What it does, in a few words. */
  says: text,
  /** What it applies to, and how many of the last requests are that. */
  applies: orNull(text),
  /** Why it is not possible. */
  refused: orNull(text),
  /** What an answer by hand can be. */
  answer: optionalMember(
    closed({
      forms: arrayOf(word(answerForms)),
      tools: arrayOf(text),
      /** What was answered before, to begin with. */
      before: closed({ as: word(answerForms), says: text, tool: text }),
    }),
  ),
})
export type RepairOffer = ValueOf<typeof offer>

const wish = closed({
  id: word(repairIds),
  as: optional(word(answerForms), 'What an answer by hand is; text by default.'),
  says: optional(
    text,
    'What it says: the words, the JSON, the arguments of the tool, or a fault such as status=429; retryAfter=2.',
  ),
  tool: optional(text, 'The tool that it calls.'),
})
export type RepairWish = v.InferOutput<typeof wish>

const done = closed({
  /** What was done, and what came back. */
  did: text,
  /** The exchange that came of it. */
  exchange: orNull(text),
  /** The id for DELETE /situation/{id}, which takes it back. */
  undo: orNull(text),
  /** The lines that make it last: of a rule file, or of the configuration. */
  yaml: optionalMember(text),
  /** A key that the endpoint takes. */
  key: optionalMember(text),
})
const failed = closed({ failed: text, exchange: orNull(text) })
export type RepairResult = ValueOf<typeof done> | ValueOf<typeof failed>

const answered = closed({
  /** `rule "weather"`, `canned reply`, or `nothing`. */
  by: text,
  /** Its beginning. */
  says: text,
})
const changedAnswers = closed({
  /** The files that were saved: of rules, or the configuration. */
  files: arrayOf(text),
  /** When; `null` if nothing has been saved since the start. */
  at: orNull(moment),
  requests: wholeNumber,
  /** Those that are answered differently, the newest first. */
  data: arrayOf(closed({ id: text, title: text, before: answered, after: answered })),
})
export type ChangedAnswers = ValueOf<typeof changedAnswers>

/** What was saved last, and when. */
export interface SavedFiles {
  readonly files: readonly string[]
  readonly at: string
}

interface RepairParts {
  readonly repairs: {
    /** Throws a 404 for an exchange that the journal does not have. */
    offers(exchange: string): Promise<readonly RepairOffer[]>
    repair(exchange: string, wish: RepairWish): Promise<RepairResult>
  }
  readonly sinceSave: { changed(): Promise<ChangedAnswers> }
}

export const repairOperations = ({ repairs, sinceSave }: RepairParts) => ({
  listChangedAnswers: operation({
    at: 'GET /replies/changed',
    does: 'Lists which of the last 200 emulated requests the last save answers differently. Nothing is counted, journaled or changed.',
    returns: changedAnswers,
    run: () => sinceSave.changed(),
  }),
  listRepairs: operation({
    at: 'GET /journal/{id}/repairs',
    does: 'Lists what can be done so that the request gets another answer.',
    returns: dataOf(offer),
    run: async ({ id }) => ({ data: await repairs.offers(id) }),
  }),
  repair: operation({
    at: 'POST /journal/{id}/repairs',
    does: 'Does one of these, and says what really happened. It applies from the next request on, until it is taken back or everything is reset.',
    body: wish,
    bodyReading: { bytes: 4_194_304 },
    returns: v.union([done, failed]),
    run: ({ id, body }) => repairs.repair(id, body),
  }),
})
