/** Selects exchanges. */
import * as v from 'valibot'
import { closed, integer, optional, text, word } from '../check/forms.js'
import { factTest } from '../core/caller.js'
import { callerKinds, modes } from '../core/exchange.js'
import { answerTest } from './bodies.js'
import { factsOf } from './facts.js'
import type { JournaledExchange } from './fields.js'

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

/** Conditions on exchanges; the same names in the API, in tests and on the dashboard. */
export const journalFilter = closed({
  method: optional(text, 'The method: POST.'),
  path: optional(text, 'The path. * matches anything.'),
  endpoint: optional(text, 'The endpoint, such as POST /v1/chat/completions; * matches anything.'),
  status: optional(status, 'The status, a class such as 4xx, or none if no answer was sent.'),
  mode: optional(word(modes), 'Where the answer came from.'),
  model: optional(text, 'The requested model; * matches anything.'),
  call: optional(text, 'The call of an MCP server, such as tools/call get_weather; * matches anything.'),
  caller: optional(word(callerKinds), 'The kind of credential: refused for an invalid one, anonymous for none.'),
  credential: optional(
    text,
    'Part of the displayed credential: the name of a key, "revoked key", "expired token", an address; "none" if there is none.',
  ),
  source: optional(text, 'Part of the source of the answer: a rule, a recording.'),
  scope: optional(text, 'The scope of the request.'),
  search: optional(text, 'Part of the path, status, source, model, prompt (its beginning), call, error or credential.'),
  text: optional(text, 'Part of the body of the request.'),
  answer: optional(
    text,
    'Part of the text of the answer, where the chunks of a stream are joined; of its first 64 KB.',
  ),
  complete: optional(v.boolean('true or false'), 'Whether the answer is complete.'),
  problems: optional(v.boolean('true or false'), 'Whether it was refused, failed or cut, or has findings.'),
  run: optional(id, 'The run of an agent, by the id of its first exchange.'),
  after: optional(id, 'Only exchanges after the one with this id.'),
  before: optional(id, 'Only exchanges before the one with this id.'),
})
export type JournalFilter = v.InferOutput<typeof journalFilter>

const limit = optional(
  integer(1, 1000),
  'The maximum number: the first ones if `after` is given, otherwise the last ones.',
)

/** The query for a page of the journal. */
export const journalSearch = closed({ ...journalFilter.entries, limit })

/** The query for a page or a stream of the journal. */
export const journalQuery = closed({
  ...journalSearch.entries,
  follow: optional(
    v.boolean('true or false'),
    'Answers with an event stream of new exchanges. It begins with all exchanges after `after`, or with the last `limit` ones, if one of them is given.',
  ),
  brief: optional(
    v.boolean('true or false'),
    'Returns each exchange in short, without headers and bodies; a stream sends several at a time.',
  ),
})

/** Creates a function that checks whether an exchange matches the filter. */
export function filterOf(filter: JournalFilter): (journaled: Pick<JournaledExchange, 'id' | 'exchange'>) => boolean {
  const { text, answer, run, after, before, ...rest } = filter
  const afterId = after === undefined ? 0 : Number(after)
  const beforeId = before === undefined ? Number.POSITIVE_INFINITY : Number(before)
  // Searched as bytes, because converting all bodies to text would take far longer.
  const bytes = text === undefined ? undefined : Buffer.from(text)
  const isAnswered = answer === undefined ? () => true : answerTest(answer)
  const matches = factTest(rest)
  return ({ id, exchange }) =>
    id > afterId &&
    id < beforeId &&
    (run === undefined || String(exchange.run ?? id) === run) &&
    matches(factsOf(exchange)) &&
    (bytes === undefined || (exchange.body?.includes(bytes) ?? false)) &&
    isAnswered(exchange)
}
