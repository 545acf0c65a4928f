/** Operations on the journal: returns, streams and deletes exchanges; and metrics of what passed. */
import * as v from 'valibot'
import { arrayOf, boolean, closed, optional, optionalMember, text, wholeNumber } from '../check/forms.js'
import { operation, scopeQuery, TextAnswer } from '../core/operation.js'
import { once } from '../core/work.js'
import { exchangeInBrief, exchangeInDetail } from './fields.js'
import { journalQuery, journalSearch } from './filter.js'
import type { Reader } from './reader.js'

export { exchangeInDetail, type JournalBrief, type JournalEntry, type JournalFlight } from './fields.js'

/** The default number of exchanges. */
const PAGE = 100
/** The default number for tests, which want all of them. */
const ALL = 1000

const exchanges = closed({ data: arrayOf(exchangeInDetail), next: optionalMember(text) })
/** `count` of `total` exchanges match. */
const briefs = closed({
  data: arrayOf(exchangeInBrief),
  next: optionalMember(text),
  count: wholeNumber,
  total: wholeNumber,
})

export const journalOperations = ({ reader }: { readonly reader: Reader }) => ({
  listExchanges: operation({
    at: 'GET /journal',
    does: 'Lists the latest matching exchanges. With `follow`, new ones are streamed; with `brief`, each is summarized.',
    query: journalQuery,
    returns: v.union([exchanges, briefs]),
    run({ query: { follow = false, brief = false, limit, ...filter }, headers }) {
      if (!follow) return brief ? reader.briefPage(filter, limit ?? PAGE) : reader.page(filter, limit ?? PAGE)
      return reader.follow(filter, { limit, isBrief: brief, lastId: headers['last-event-id'] })
    },
  }),
  clearExchanges: operation({
    at: 'DELETE /journal',
    does: 'Deletes all exchanges, or those of one scope.',
    query: scopeQuery,
    run: ({ query: { scope } }) => reader.clear(scope),
  }),
  findExchanges: operation({
    at: 'POST /journal/find',
    does: 'Returns the exchanges that match, at most a thousand, and how many requests are under way.',
    body: closed({
      ...journalSearch.entries,
      whole: optional(boolean, 'Shows bodies in full, however long they are.'),
    }),
    returns: closed({ ...exchanges.entries, underWay: wholeNumber }),
    run: ({ body: { limit = ALL, whole, ...filter } }) => ({
      ...reader.page(filter, limit, whole ? Number.POSITIVE_INFINITY : undefined),
      underWay: reader.underWay(),
    }),
  }),
  getExchange: operation({
    at: 'GET /journal/{id}',
    does: 'Returns one exchange.',
    query: closed({ whole: optional(boolean, 'Shows bodies in full, however long they are.') }),
    returns: exchangeInDetail,
    run: ({ id, query: { whole } }) => reader.get(id, whole ? Number.POSITIVE_INFINITY : undefined),
  }),
  sendExchangeAgain: operation({
    at: 'POST /journal/{id}/again',
    does: 'Repeats the request exactly as it was, with its own credential, or with another body.',
    body: closed({ body: optional(text, 'The body to send in place of its own.') }),
    isBodyOptional: true,
    bodyReading: { bytes: 8_388_608 },
    returns: closed({ id: text }),
    run: async ({ id, body: { body } }) => ({ id: await reader.sendAgain(id, { body }) }),
  }),
})

/** What a scrape is answered with. Named here, so that the library that writes it is not in the public types. */
interface Exposition {
  readonly contentType: string
  metrics(): Promise<string>
}

/** The metrics of this process, in the format that Prometheus scrapes. */
export function metricOperations({ metrics }: { readonly metrics: () => Promise<Exposition> }) {
  const registry = once(metrics)
  return {
    getMetrics: operation({
      at: 'GET /metrics',
      does: 'Returns the metrics of this process for Prometheus.',
      returns: 'text/plain',
      async run() {
        const metrics = await registry()
        return new TextAnswer(metrics.contentType, await metrics.metrics())
      },
    }),
  }
}
