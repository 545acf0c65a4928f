/** Operations on holds, and on the requests that are under way. */
import * as v from 'valibot'
import { closed, described, integer, number, orNull, text, word } from '../check/forms.js'
import { dataOf, operation, scopeQuery, type ValueOf } from '../control/operation.js'
import { holdActionSchema, holdCallSchema, holdStateSchema } from './call.js'
import { type Holds, noSuchHold } from './index.js'

const requestUnderWay = closed({
  /** Its number among all requests since the start. The journal, which it enters when it has ended, has ids of its own. */
  id: text,
  method: text,
  path: text,
  scope: text,
  /** How long ago it began. */
  forMs: number,
  /** The hold at which it waits. */
  hold: orNull(text),
})

/** The requests that are under way. */
export interface UnderWay {
  list(scope?: string): readonly ValueOf<typeof requestUnderWay>[]
  /** Holds a request from its next piece on. Throws a 404 if it has ended. */
  hold(id: string): { readonly id: string }
}

const id = closed({ id: text })

const waitQuery = closed({
  wait: v.optional(
    described(
      word(['reached', 'aborted']),
      'Answers only when a request has reached the hold, or when its client has left.',
    ),
  ),
  count: v.optional(described(integer(1, 1_000_000), 'How many requests must have done so.'), 1),
  timeoutMs: v.optional(described(integer(0, 60_000, 'milliseconds'), 'How long it waits at most.'), 30_000),
})

export const holdOperations = ({ holds }: { readonly holds: Holds }) => ({
  listHolds: operation({
    at: 'GET /holds',
    does: 'Lists the holds, with how many requests have reached them and how many wait.',
    query: scopeQuery,
    returns: dataOf(holdStateSchema),
    run: ({ scope }) => ({ data: holds.list(scope) }),
  }),
  addHold: operation({
    at: 'POST /holds',
    does: 'Holds the next matching requests, before their answer or after some of its pieces, until they are let go.',
    body: holdCallSchema,
    returns: id,
    status: 201,
    run: ({ body, scope }) => holds.add({ scope, ...body }),
  }),
  getHold: operation({
    at: 'GET /holds/{id}',
    does: 'Returns one hold. With `wait`, it answers when that has happened, or after `timeoutMs`.',
    query: waitQuery,
    returns: holdStateSchema,
    run: ({ id, query: { wait, ...more } }) => holds.state(id, wait && { wait, ...more }),
  }),
  letHeldGo: operation({
    at: 'POST /holds/{id}',
    does: 'Lets the request go that has waited longest: release sends the rest, cut closes the connection, end ends the answer normally, fail sends an error instead.',
    body: holdActionSchema,
    run: ({ id, body }) => holds.act(id, body),
  }),
  removeHold: operation({
    at: 'DELETE /holds/{id}',
    does: 'Removes a hold and lets its requests go on.',
    run({ id }) {
      if (!holds.remove(id)) throw noSuchHold(id)
    },
  }),
})

export const underWayOperations = ({ underWay }: { readonly underWay: UnderWay }) => ({
  listRequestsUnderWay: operation({
    at: 'GET /requests',
    does: 'Lists the requests that are under way, the oldest first.',
    query: scopeQuery,
    returns: dataOf(requestUnderWay),
    run: ({ scope }) => ({ data: underWay.list(scope) }),
  }),
  holdRequest: operation({
    at: 'POST /requests/{id}/hold',
    does: 'Holds a request that is under way, from its next piece on.',
    returns: id,
    status: 201,
    run: ({ id }) => underWay.hold(id),
  }),
})
