/** Turns the messages of a call into the HTTP answer: JSON, or a stream of events. */
import type { Reply } from '../core/exchange.js'
import { stringifyExact } from '../core/json.js'
import { isPaced, type Pace } from '../core/pace.js'
import type { McpGeneration } from '../replies/index.js'
import {
  eventText,
  failureFrame,
  RpcError,
  type RpcFrame,
  type RpcId,
  type RpcResponse,
  rpcCodes,
} from '../rpc/frames.js'
import type { EventStream } from './streams.js'

/** The messages of an answer, in order. The last one is the response. */
export interface CallMessages {
  readonly before: readonly RpcFrame[]
  readonly response: RpcResponse
  /** The HTTP status, 200 without one. */
  readonly status?: number | undefined
  readonly by: McpGeneration | undefined
}

/** What the client accepts. The specification requires both, but many clients send neither. */
export function acceptedIn(accept: string | undefined) {
  if (accept === undefined || /\*\/\*/.test(accept)) return { json: true, stream: true }
  return { json: /application\/(json|\*)/i.test(accept), stream: /text\/(event-stream|\*)/i.test(accept) }
}

export const streamHeaders = ['cache-control', 'no-cache', 'x-accel-buffering', 'no']
export const EVENTS = 'text/event-stream'

export const jsonReply = (value: unknown, status = 200, headers: readonly string[] = []): Reply => ({
  ...{ kind: 'reply', status, contentType: 'application/json', headers },
  body: stringifyExact(value),
})

/** A refusal with an HTTP status of its own. */
export const httpError = (status: number, sentence: string) =>
  new RpcError(rpcCodes.badRequest, sentence, undefined, status)

/** The reply to a message that cannot be answered. */
export function errorReply(error: RpcError, id: RpcId | undefined, usual = 400): Reply {
  const frame = failureFrame(id, error)
  return { ...jsonReply(frame, error.status ?? usual), remark: remarkOn(frame) }
}

/** What the log and the journal say of an error, whose HTTP status is often 200. */
const remarkOn = (response: RpcResponse) =>
  'error' in response ? () => `JSON-RPC error ${response.error.code}: ${response.error.message}` : undefined

interface How {
  readonly accepted: ReturnType<typeof acceptedIn>
  readonly pace: Pace
  readonly headers: readonly string[]
  /** Opens a stream of the session, which keeps the events. */
  readonly openStream?: (() => EventStream) | undefined
}

/** The log's name for what answered, and the fault of its rule. */
export const factsOf = (by: McpGeneration | undefined): Pick<Reply, 'answeredBy' | 'fault'> => ({
  ...(by && { answeredBy: by.answeredBy }),
  ...(by?.fault && { fault: by.fault }),
})

/** The text of an event or a body, as the rule wants it broken. */
export const spoiled = (text: string, by: McpGeneration | undefined) =>
  by?.protocolFault === 'malformed-json' ? text.replace(/}(?=\n*$)/, '') : text

/** The reply with these messages. Without notifications it is JSON, if the client accepts that. */
export function replyWith(messages: CallMessages, { accepted, pace, headers, openStream }: How): Reply {
  const { before, response, status = 200, by } = messages
  const facts = { remark: remarkOn(response), ...factsOf(by) }
  const cut = by?.protocolFault === 'cut-stream'
  const isStream = accepted.stream && status === 200 && (before.length > 0 || cut || !accepted.json)
  if (!isStream) {
    const reply = jsonReply(response, status, headers)
    return { ...reply, body: spoiled(String(reply.body), by), ...facts }
  }
  const stream = openStream?.()
  const events = [...before, response].map(frame => (stream ? stream.send(frame) : eventText(frame)))
  stream?.end()
  if (cut) events.pop()
  if (stream && events.length === 0) events.push(stream.beginning)
  const head = { kind: 'reply', status, contentType: EVENTS, headers: [...headers, ...streamHeaders] } as const
  const pieces = events.map(text => spoiled(text, by))
  if (!isPaced(pace)) return { ...head, ...facts, body: Buffer.from(pieces.join('')) }
  return { ...head, ...facts, body: { head: '', before: '', pieces, after: '', tail: '', pace } }
}
