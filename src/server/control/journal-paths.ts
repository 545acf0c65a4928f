/** What the document says of the journal. */
import { credentialKinds, modes } from '../../core/exchange.js'
import { journalFilter, journalQuery, journalScope, journalSearch } from '../../journal/index.js'
import type { JsonSchema, Paths } from './part.js'
import {
  anything,
  called,
  listOf,
  number,
  object,
  oneOf,
  orNothing,
  text,
  texts,
  wholeNumber,
  yesOrNo,
} from './shapes.js'

/** A body as it is shown: the JSON value, or the text where it is none. */
const body = anything

export const journalSchemas: Readonly<Record<string, JsonSchema>> = {
  Exchange: object({
    id: text,
    at: { type: 'string', format: 'date-time' },
    scope: text,
    caller: object({
      kind: oneOf(['anonymous', 'stranger', ...credentialKinds]),
      'id?': text,
      'name?': text,
      'email?': text,
    }),
    request: object({ method: text, path: text, query: text, headers: texts, 'body?': body, bytes: wholeNumber }),
    endpoint: orNothing(text),
    mode: orNothing(oneOf(modes)),
    source: orNothing(text),
    remark: orNothing(text),
    status: orNothing(wholeNumber),
    error: orNothing(text),
    hint: orNothing(text),
    complete: yesOrNo,
    violations: listOf(called('Violation')),
    response: object({
      headers: texts,
      'body?': body,
      bytes: wholeNumber,
      truncated: yesOrNo,
      piecesAtMs: listOf(number),
    }),
    firstByteMs: orNothing(number),
    durationMs: number,
  }),
  Violation: object({
    path: text,
    sentence: text,
    severity: oneOf(['critical', 'warning', 'info']),
    source: oneOf(['documented', 'decided']),
    'section?': text,
  }),
  Exchanges: object({ data: listOf(called('Exchange')), 'next?': text }),
}

const exchanges = {
  what: 'Exchanges, the newest last. `next` is there where there are more: the id from which to go on, as `after` where that was asked for, and as `before` otherwise.',
  schema: called('Exchanges'),
}

export const journalPaths: Paths = {
  '/journal': {
    get: {
      id: 'listExchanges',
      does: 'The last exchanges, or those that fit; with `follow` those that come.',
      query: journalQuery,
      headers: { 'Last-Event-ID': 'The id of the last event that a follower has seen; goes on behind it.' },
      answers: {
        200: [
          exchanges,
          {
            what: 'With `follow`: events `exchange`, each with an exchange, and `skipped`, with the `count` of those that there was no time for.',
            type: 'text/event-stream',
          },
        ],
      },
    },
    delete: {
      id: 'clearExchanges',
      does: 'Forgets all exchanges, or those of one scope.',
      query: journalScope,
      answers: { 204: { what: 'They are forgotten.' } },
    },
  },
  '/journal/count': {
    post: {
      id: 'countExchanges',
      does: 'How many exchanges fit.',
      body: journalFilter,
      answers: { 200: { what: 'Their number.', schema: object({ count: wholeNumber }) } },
    },
  },
  '/journal/find': {
    post: {
      id: 'findExchanges',
      does: 'The exchanges that fit, a thousand at most.',
      body: journalSearch,
      answers: { 200: exchanges },
    },
  },
  '/journal/{id}': {
    get: {
      id: 'getExchange',
      does: 'One exchange.',
      answers: { 200: { what: 'The exchange.', schema: called('Exchange') } },
    },
  },
  '/journal/{id}/curl': {
    get: {
      id: 'getExchangeAsCurl',
      does: 'A command for a shell that sends the request once more; credentials come from the environment.',
      answers: { 200: { what: 'The command.', type: 'text/plain' } },
    },
  },
}
