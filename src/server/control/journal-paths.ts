/** What the document says of the journal. */

import { headerFaults, keyFaults, tokenFaults } from '../../core/caller.js'
import { callerKinds, modes } from '../../core/exchange.js'
import type { SaidEvent } from '../../core/operation.js'
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

const caller = object({
  kind: oneOf(callerKinds),
  'id?': text,
  'name?': text,
  'email?': text,
  'tried?': called('RefusedCredential'),
})

const refusedCredential: JsonSchema = {
  description: 'The credential of a request that was refused for it: what it was, and why it opens nothing.',
  oneOf: [
    object({ kind: oneOf(['apiKey']), reason: oneOf(keyFaults), start: text, 'name?': text }),
    object({ kind: oneOf(['token']), reason: oneOf(tokenFaults), 'email?': text }),
    object({ kind: oneOf(['header']), reason: oneOf(headerFaults) }),
  ],
}

const answeredBy: JsonSchema = {
  description: 'What gave an answer: the same as `source`, as data.',
  oneOf: [
    object({ kind: oneOf(['rule']), title: text, place: text, 'reply?': wholeNumber, 'replies?': wholeNumber }),
    object({ kind: oneOf(['canned']), form: oneOf(['reply', 'JSON', 'tool call']) }),
    object({ kind: oneOf(['magic']), words: listOf(text) }),
    object({ kind: oneOf(['recording']), file: text }),
    object({ kind: oneOf(['live']), 'recordedAs?': text }),
  ],
}

const said = { headers: texts, 'body?': body, bytes: wholeNumber, truncated: yesOrNo }

export const journalSchemas: Readonly<Record<string, JsonSchema>> = {
  Exchange: object({
    id: text,
    at: { type: 'string', format: 'date-time' },
    scope: text,
    caller,
    request: object({
      method: text,
      path: text,
      query: text,
      headers: texts,
      'body?': body,
      bytes: wholeNumber,
      truncated: yesOrNo,
    }),
    endpoint: orNothing(text),
    mode: orNothing(oneOf(modes)),
    source: orNothing(text),
    answeredBy: orNothing(called('AnsweredBy')),
    fault: orNothing(
      object({
        fault: { type: 'object' },
        'by?': { type: ['string', 'object'] },
        happened: yesOrNo,
        isSpoilt: yesOrNo,
      }),
    ),
    remark: orNothing(text),
    status: orNothing(wholeNumber),
    error: orNothing(text),
    code: orNothing(text),
    hint: orNothing(text),
    openaiRefuses: orNothing(text),
    complete: yesOrNo,
    violations: listOf(called('Violation')),
    'upstream?': object(said),
    response: object({
      ...said,
      piecesAtMs: listOf(number),
    }),
    firstByteMs: orNothing(number),
    durationMs: number,
  }),
  AnsweredBy: answeredBy,
  RefusedCredential: refusedCredential,
  Violation: object({
    path: text,
    sentence: text,
    severity: oneOf(['critical', 'warning', 'info']),
    source: oneOf(['documented', 'decided']),
    'section?': text,
  }),
  Exchanges: object({
    data: { anyOf: [listOf(called('Exchange')), listOf(called('ExchangeInBrief'))] },
    'next?': text,
  }),
  ExchangeInBrief: object({
    id: text,
    at: { type: 'string', format: 'date-time' },
    scope: text,
    caller,
    method: text,
    path: text,
    endpoint: orNothing(text),
    mode: orNothing(oneOf(modes)),
    model: orNothing(text),
    source: orNothing(text),
    missed: yesOrNo,
    status: orNothing(wholeNumber),
    error: orNothing(text),
    code: orNothing(text),
    hint: orNothing(text),
    openaiRefuses: orNothing(text),
    complete: yesOrNo,
    requestBytes: wholeNumber,
    responseBytes: wholeNumber,
    firstByteMs: orNothing(number),
    durationMs: number,
    pieces: wholeNumber,
    piecesAtMs: listOf(number),
  }),
  // The last three are what the events of a follower say who wants each exchange in brief.
  Began: object({ run: text, after: text }),
  Skipped: object({ count: wholeNumber }),
  Tick: object({
    at: { type: 'string', format: 'date-time' },
    overMs: wholeNumber,
    requests: wholeNumber,
    errors: wholeNumber,
    p50Ms: orNothing(number),
    p95Ms: orNothing(number),
  }),
}

const followed: readonly SaidEvent[] = [
  { name: 'exchange', what: 'An exchange.', data: ['Exchange', called('Exchange')] },
  {
    name: 'began',
    what: 'With `brief`, first: `run` changes with each start of Standin, where ids begin anew; all behind the id `after` is told or skipped.',
    data: ['Began', called('Began')],
  },
  {
    name: 'exchanges',
    what: 'With `brief`: several of them, each in short.',
    data: ['ExchangesInBrief', listOf(called('ExchangeInBrief'))],
  },
  { name: 'skipped', what: 'How many there was no time for.', data: ['Skipped', called('Skipped')] },
  {
    name: 'tick',
    what: 'With `brief`, each second: how many there were and how long they took, those that were skipped among them.',
    data: ['Tick', called('Tick')],
  },
]

const exchanges = {
  what: 'Exchanges, the newest last. `next` is there where there are more: the id from which to go on, as `after` where that was asked for, and as `before` otherwise.',
  schema: called('Exchanges'),
}

export const journalPaths: Paths = {
  '/journal': {
    get: {
      id: 'listExchanges',
      does: 'The last exchanges, or those that fit; with `follow` those that come; with `brief` each in short.',
      query: journalQuery,
      headers: { 'Last-Event-ID': 'The id of the last event that a follower has seen; goes on behind it.' },
      answers: {
        200: [
          exchanges,
          {
            what: 'With `follow`: what comes, as events.',
            type: 'text/event-stream',
            events: followed,
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
