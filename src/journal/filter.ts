/** Which exchanges are asked for. */
import * as v from 'valibot'
import { closed, number, optional, word } from '../check/check.js'
import { factTest } from '../core/caller.js'
import { callerKinds, modes } from '../core/exchange.js'
import type { JournaledExchange } from './entry.js'
import { factsOf } from './facts.js'

const text = v.string('text')
const anId = 'the id of an exchange, such as 17'
const id = v.pipe(v.string(anId), v.regex(/^\d{1,15}$/, anId))
const aStatus = 'a status such as 429, a class such as 4xx, or none'
const status = v.union(
  [
    v.pipe(v.number(aStatus), v.integer(aStatus), v.minValue(100, aStatus), v.maxValue(999, aStatus)),
    v.pipe(v.string(aStatus), v.regex(/^([1-9](\d\d|xx)|none)$/, aStatus)),
  ],
  aStatus,
)

/** What all wanted exchanges have in common; the same words here, in tests, as flags of `standin tail`, and on the dashboard. */
export const journalFilter = closed({
  method: optional(text, 'The method: POST.'),
  path: optional(text, 'The path; * stands for anything.'),
  endpoint: optional(text, 'The endpoint, such as POST /v1/chat/completions; * stands for anything.'),
  status: optional(status, 'The status, a class such as 4xx, or none where no answer has left.'),
  mode: optional(word(modes), 'Where the answer came from.'),
  model: optional(text, 'The model that was asked; * stands for anything.'),
  caller: optional(
    word(callerKinds),
    'Which kind of credential was sent: refused for one that opens nothing, anonymous without one.',
  ),
  credential: optional(
    text,
    'A part of how the credential is shown: the name of a key, "revoked key", "expired token", an address; "none" without one.',
  ),
  source: optional(text, 'A part of what gave the answer: a rule, a recording.'),
  scope: optional(text, 'The scope that asked.'),
  search: optional(text, 'A part of the path, status, source, model, prompt (its beginning), error or credential.'),
  text: optional(text, 'A part of the body of the request.'),
  complete: optional(v.boolean('true or false'), 'Whether the answer came to its end.'),
  problems: optional(v.boolean('true or false'), 'Whether it was missed, refused, failed or cut.'),
  after: optional(id, 'The id of the one behind which to begin.'),
  before: optional(id, 'The id of the one before which to end.'),
})
export type JournalFilter = v.InferOutput<typeof journalFilter>

const page = 'a whole number'
const limit = optional(
  v.pipe(number(1, 1000, page), v.integer(`${page} from 1 to 1000`)),
  'No more than so many: the first ones where `after` is given, and the last ones otherwise.',
)

/** The same of a page of what the journal keeps. */
export const journalSearch = closed({ ...journalFilter.entries, limit })

/** And of a reader that may stay. */
export const journalQuery = closed({
  ...journalSearch.entries,
  follow: optional(
    v.boolean('true or false'),
    'Answers with an event stream that goes on with what happens from now on, behind all that came after `after`, or else the last `limit` ones, where one of them is given.',
  ),
  brief: optional(
    v.boolean('true or false'),
    'Tells each in short, without headers and bodies; a follower is told many at a time.',
  ),
})

/** A test for what the journal keeps. */
export function filterOf(filter: JournalFilter): (kept: Pick<JournaledExchange, 'id' | 'exchange'>) => boolean {
  const { text, after, before, ...rest } = filter
  const first = after === undefined ? 0 : Number(after)
  const end = before === undefined ? Number.POSITIVE_INFINITY : Number(before)
  // Looked for as bytes: making texts of all bodies would take far longer.
  const bytes = text === undefined ? undefined : Buffer.from(text)
  const fits = factTest(rest)
  return ({ id, exchange }) =>
    id > first &&
    id < end &&
    fits(factsOf(exchange)) &&
    (bytes === undefined || (exchange.body?.includes(bytes) ?? false))
}
