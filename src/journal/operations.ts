/** Operations on the journal: returns, streams, counts and deletes exchanges. */
import * as v from 'valibot'
import { operation, TextAnswer } from '../api/operation.js'
import {
  boolean,
  listOf,
  named,
  object,
  optional,
  optionalMember,
  scopeQuery,
  text,
  wholeNumber,
} from '../api/shapes.js'
import { journalFilter, journalQuery, journalSearch } from './filter.js'
import type { Reader } from './reader.js'
import { exchange, exchangeInBrief, journalEvents } from './shapes.js'

export type { JournalBrief, JournalEntry } from './shapes.js'

/** The default number of exchanges. */
const PAGE = 100
/** The default number for tests, which want all of them. */
const ALL = 1000

const exchanges = named('Exchanges', object({ data: listOf(exchange), next: optionalMember(text) }))
const briefs = named('BriefExchanges', object({ data: listOf(exchangeInBrief), next: optionalMember(text) }))
const pageAnswer =
  'Exchanges, newest last. If there are more, `next` is the id with which to continue, as `after` if that was given and as `before` otherwise.'

interface JournalParts {
  readonly reader: Reader
}

export const journalOperations = (parts: JournalParts) => ({
  ...operationsOnAll(parts),
  ...searching(parts),
  ...operationsOnOne(parts),
})

const operationsOnAll = ({ reader }: JournalParts) => ({
  listExchanges: operation({
    at: 'GET /journal',
    does: 'Lists the latest matching exchanges. With `follow`, new ones are streamed; with `brief`, each is summarized.',
    query: journalQuery,
    headers: { 'Last-Event-ID': 'The id of the last event that the client has received; continues after it.' },
    returns: v.union([exchanges, briefs]),
    answer: pageAnswer,
    streams: { answer: 'With `follow`: new exchanges as events.', events: journalEvents },
    run({ query: { follow = false, brief = false, limit, ...filter }, headers }) {
      if (!follow) return reader.page(filter, limit ?? PAGE, brief ? 'brief' : 'usual')
      return reader.follow(filter, { limit, isBrief: brief, lastId: headers['last-event-id'] })
    },
  }),
  clearExchanges: operation({
    at: 'DELETE /journal',
    does: 'Deletes all exchanges, or those of one scope.',
    query: scopeQuery,
    answer: 'The exchanges are deleted.',
    run: ({ query: { scope } }) => reader.clear(scope),
  }),
})

const searching = ({ reader }: JournalParts) => ({
  countExchanges: operation({
    at: 'POST /journal/count',
    does: 'Counts the exchanges that match.',
    body: journalFilter,
    returns: object({ count: wholeNumber }),
    answer: 'The number of matching exchanges.',
    run: ({ body }) => ({ count: reader.count(body) }),
  }),
  findExchanges: operation({
    at: 'POST /journal/find',
    does: 'Returns the exchanges that match, at most a thousand.',
    body: object({
      ...journalSearch.entries,
      whole: optional(boolean, 'Shows bodies in full, however long they are.'),
    }),
    returns: exchanges,
    answer: pageAnswer,
    run: ({ body: { limit = ALL, whole, ...filter } }) => reader.page(filter, limit, whole ? 'whole' : 'usual'),
  }),
})

const operationsOnOne = ({ reader }: JournalParts) => ({
  getExchange: operation({
    at: 'GET /journal/{id}',
    does: 'Returns one exchange.',
    returns: exchange,
    answer: 'The exchange.',
    run: ({ id }) => reader.get(id),
  }),
  sendExchangeAgain: operation({
    at: 'POST /journal/{id}/again',
    does: 'Repeats the request exactly as it was, with its own credential.',
    returns: object({ id: text }),
    answer: 'The id of the new exchange, when it has ended.',
    run: async ({ id }) => ({ id: await reader.sendAgain(id) }),
  }),
  getExchangeAsCurl: operation({
    at: 'GET /journal/{id}/curl',
    does: 'Returns a curl command that repeats the request, with credentials from the environment.',
    returns: 'text/plain',
    answer: 'The command.',
    run: ({ id }) => new TextAnswer('text/plain; charset=utf-8', reader.curl(id)),
  }),
})
