/** Says which exchanges somebody wants to see. */
import * as v from 'valibot'
import { callerInWords } from '../core/caller.js'
import { closed, number, optional, word } from '../core/check.js'
import { callerKinds, modes } from '../core/exchange.js'
import { glob } from '../core/glob.js'
import type { Kept } from './entry.js'

const text = v.string('text')
const anId = 'the id of an exchange, such as 17'
const id = v.pipe(v.string(anId), v.regex(/^\d{1,15}$/, anId))
const aStatus = 'a status such as 429, or a class such as 4xx'
const status = v.union(
  [
    v.pipe(v.number(aStatus), v.integer(aStatus), v.minValue(100, aStatus), v.maxValue(999, aStatus)),
    v.pipe(v.string(aStatus), v.regex(/^[1-9](\d\d|xx)$/, aStatus)),
  ],
  aStatus,
)

/** What all that are wanted have in common. */
export const journalFilter = closed({
  method: optional(text, 'The method: POST.'),
  path: optional(text, 'The path; * stands for anything.'),
  status: optional(status, 'The status, or a class such as 4xx.'),
  mode: optional(word(modes), 'Where the answer came from.'),
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
  text: optional(text, 'A part of the body of the request.'),
  complete: optional(v.boolean('true or false'), 'Whether the answer came to its end.'),
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

/** And of a reader who may stay. */
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

/** Which ones to forget. */
export const journalScope = closed({ scope: journalFilter.entries.scope })

/** A test for what the journal keeps. */
export function filterOf(filter: JournalFilter): (kept: Pick<Kept, 'id' | 'exchange'>) => boolean {
  const { method, path, status, mode, caller, credential, source, scope, text, complete, after, before } = filter
  const pattern = path === undefined ? undefined : glob(path)
  const first = after === undefined ? 0 : Number(after)
  const end = before === undefined ? Number.POSITIVE_INFINITY : Number(before)
  const shown = credential?.toLowerCase()
  // Looked for as bytes: making texts of all bodies would take far longer.
  const bytes = text === undefined ? undefined : Buffer.from(text)
  return ({ id, exchange }) => {
    const { outcome } = exchange
    return (
      id > first &&
      id < end &&
      (method === undefined || exchange.method === method.toUpperCase()) &&
      (pattern === undefined || pattern.test(exchange.path)) &&
      (status === undefined || isOf(String(status), outcome?.status ?? 0)) &&
      (mode === undefined || exchange.mode === mode) &&
      (caller === undefined || exchange.caller.kind === caller) &&
      (shown === undefined || (callerInWords(exchange.caller) || 'none').toLowerCase().includes(shown)) &&
      (source === undefined || (outcome?.source ?? '').includes(source)) &&
      (scope === undefined || exchange.scope === scope) &&
      (complete === undefined || (outcome?.complete ?? false) === complete) &&
      (bytes === undefined || (exchange.body?.includes(bytes) ?? false))
    )
  }
}

const isOf = (wanted: string, status: number) =>
  wanted.endsWith('xx') ? String(status).startsWith(wanted.charAt(0)) : String(status) === wanted
