/** What can be asked of the journal: its exchanges page by page or as they happen, one of them, how many there are, and forgetting them. */
import * as v from 'valibot'
import { operation, type Streamed, TextAnswer } from '../api/operation.js'
import { listOf, maybe, named, object, optional, scopeQuery, text, whole, yesOrNo } from '../api/shapes.js'
import { type JournalFilter, journalFilter, journalQuery, journalSearch } from './filter.js'
import { exchange, exchangeInBrief, followed, type JournalEntry } from './shapes.js'

export type { JournalBrief, JournalEntry, Tick } from './shapes.js'

/** How many are shown where the query does not say. */
const PAGE = 100
/** And to a search for certain ones: a test wants them all. */
const ALL = 1000

/** How much of each exchange is shown: its bodies in part, which is usual, no bodies, or all of them. */
export type Detail = 'usual' | 'brief' | 'whole'

export interface Reader {
  /** The last `limit` of those that fit, or the first ones where the filter says after which. */
  page(filter: JournalFilter, limit: number, shown?: Detail): Streamed
  /** Those that come from now on, after the last `limit` ones, or after all that came after `lastId`. */
  follow(filter: JournalFilter, from: { limit?: number | undefined; lastId: unknown; isBrief: boolean }): Streamed
  /** Throws a 404 that says whether there ever was one. */
  get(id: string): JournalEntry
  curl(id: string): string
  /** Sends the request once more, with its own credential; resolves with the id of the new exchange once that is over. */
  sendAgain(id: string): Promise<string>
  count(filter: JournalFilter): number
  clear(filter: JournalFilter): void
}

const exchanges = named('Exchanges', object({ data: listOf(exchange), next: maybe(text) }))
const briefs = named('BriefExchanges', object({ data: listOf(exchangeInBrief), next: maybe(text) }))
const pageAnswer =
  'Exchanges, the newest last. `next` is there where there are more: the id from which to go on, as `after` where that was asked for, and as `before` otherwise.'

/** Long because it lists what can be asked of the journal, one operation after the other. */
export const journalOperations = ({ reader }: { readonly reader: Reader }) => ({
  listExchanges: operation({
    at: 'GET /journal',
    does: 'Lists the last exchanges that match; with `follow` streams new ones, with `brief` returns each in short.',
    query: journalQuery,
    headers: { 'Last-Event-ID': 'The id of the last event that a follower has seen; goes on after it.' },
    returns: v.union([exchanges, briefs]),
    answer: pageAnswer,
    streams: { answer: 'With `follow`: what comes, as events.', events: followed },
    run({ query: { follow = false, brief = false, limit, ...filter }, headers }) {
      if (!follow) return reader.page(filter, limit ?? PAGE, brief ? 'brief' : 'usual')
      return reader.follow(filter, { limit, isBrief: brief, lastId: headers['last-event-id'] })
    },
  }),
  clearExchanges: operation({
    at: 'DELETE /journal',
    does: 'Deletes all exchanges, or those of one scope.',
    query: scopeQuery,
    answer: 'They are forgotten.',
    run: ({ query }) => reader.clear(query),
  }),
  countExchanges: operation({
    at: 'POST /journal/count',
    does: 'Counts the exchanges that match.',
    body: journalFilter,
    returns: object({ count: whole }),
    answer: 'Their number.',
    run: ({ body }) => ({ count: reader.count(body) }),
  }),
  findExchanges: operation({
    at: 'POST /journal/find',
    does: 'Returns the exchanges that match, at most a thousand.',
    body: object({
      ...journalSearch.entries,
      whole: optional(yesOrNo, 'Shows bodies in full, however long they are.'),
    }),
    returns: exchanges,
    answer: pageAnswer,
    run: ({ body: { limit = ALL, whole, ...filter } }) => reader.page(filter, limit, whole ? 'whole' : 'usual'),
  }),
  getExchange: operation({
    at: 'GET /journal/{id}',
    does: 'Returns one exchange.',
    returns: exchange,
    answer: 'The exchange.',
    run: ({ id }) => reader.get(id),
  }),
  sendExchangeAgain: operation({
    at: 'POST /journal/{id}/again',
    does: 'Sends the request once more, as it came, with the credential that it had.',
    returns: object({ id: text }),
    answer: 'The id of the new exchange, once that is over.',
    run: async ({ id }) => ({ id: await reader.sendAgain(id) }),
  }),
  getExchangeAsCurl: operation({
    at: 'GET /journal/{id}/curl',
    does: 'Returns a curl command that sends the request again, with credentials from the environment.',
    returns: 'text/plain',
    answer: 'The command.',
    run: ({ id }) => new TextAnswer('text/plain; charset=utf-8', reader.curl(id)),
  }),
})
