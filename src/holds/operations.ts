/** Operations on holds. */
import * as v from 'valibot'
import { closed, described, integer, optional, text, word } from '../check/forms.js'
import { dataOf, operation, scopeQuery } from '../core/operation.js'
import { holdActionSchema, holdCallSchema, holdStateSchema } from './call.js'
import { type Holding, type Holds, noSuchHold } from './index.js'

/** A request that is under way. */
interface RequestUnderWay {
  /** Its number among all requests since the start. The journal, which it enters when it has ended, has ids of its own. */
  readonly id: string
  /** The hold at which it waits. */
  readonly hold: string | null
}

/** The requests that are under way. */
export interface UnderWay {
  list(): readonly RequestUnderWay[]
  /** Holds a request from its next piece on. Throws a 404 if it has ended. */
  hold(id: string): { readonly id: string }
  /** Whether a hold has taken this request. Throws a 404 if it has ended. */
  isHeldBy(id: string): (holding: Holding) => boolean
}

const id = closed({ id: text })

const holdOrRequest = v.pipe(
  closed({
    ...holdCallSchema.entries,
    request: optional(text, 'The id of a request that is under way, which is held from its next piece on.'),
  }),
  v.check(
    ({ request, on, when, name, after, times }) =>
      request === undefined || ((on ?? when ?? name) === undefined && after === 0 && times === 1),
    'has request, which is already under way, and next to it what is for the next ones.',
  ),
)

const actionFor = closed({
  ...holdActionSchema.entries,
  request: optional(text, 'The id of the request that it is for, in place of the one that has waited longest.'),
})

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

export const holdOperations = ({ holds, underWay }: { readonly holds: Holds; readonly underWay: UnderWay }) => ({
  listHolds: operation({
    at: 'GET /holds',
    does: 'Lists the holds. Each has how many requests have reached it and how many wait.',
    query: scopeQuery,
    returns: dataOf(holdStateSchema),
    run: ({ scope }) => ({ data: holds.list(scope) }),
  }),
  addHold: operation({
    at: 'POST /holds',
    does: 'Holds the next matching requests. They wait before their answer or after some of its pieces, until they are let go.',
    body: holdOrRequest,
    returns: id,
    status: 201,
    run: ({ body: { request, ...call }, scope }) =>
      request === undefined ? holds.add({ scope, ...call }) : underWay.hold(request),
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
    does: 'Lets the request go that has waited longest: `release`, `cut`, `end` or `fail`. Release sends the rest, cut closes the connection, end ends the answer normally, fail sends an error instead.',
    body: actionFor,
    run: ({ id, body: { request, ...action } }) =>
      holds.act(id, action, request === undefined ? undefined : underWay.isHeldBy(request)),
  }),
  removeHold: operation({
    at: 'DELETE /holds/{id}',
    does: 'Removes a hold and lets its requests go on.',
    run({ id }) {
      if (!holds.remove(id)) throw noSuchHold(id)
    },
  }),
})
