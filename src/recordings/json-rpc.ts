/** JSON-RPC in recordings: which calls count as equal, and which messages need no recording. */
import type { Exchange, Reply } from '../core/exchange.js'
import { isObject, stringifyExact } from '../core/json.js'
import { callTitle, metaKeys, metaOf, type RpcId, resultFrame } from '../rpc/frames.js'
import type { RecordedRequest, RequestBody } from './recording.js'

export type JsonRpcMessage = Readonly<Record<string, unknown>>

/** The message in a JSON value; `undefined` if it is not JSON-RPC. */
export const messageIn = (value: unknown): JsonRpcMessage | undefined =>
  isObject(value) && value.jsonrpc === '2.0' ? value : undefined

export const messageOf = (body: RequestBody): JsonRpcMessage | undefined =>
  body.kind === 'json' ? messageIn(body.value) : undefined

/** The compared part of a body: without ids, which are counters, and without `_meta`, which has progress tokens and traces. */
export function withoutIds(body: unknown): unknown {
  const whole = messageIn(body)
  if (!whole) return body
  const { jsonrpc: _, id: _id, params, ...message } = whole
  if (!isObject(params)) return params === undefined ? message : { ...message, params }
  const { _meta, ...fields } = params
  // The protocol version decides the form of the answer.
  const version = versionIn({ params })
  const comparedParams = {
    ...(message.method === 'initialize' ? withoutClient(fields) : fields),
    ...(version !== undefined && { version }),
  }
  return Object.keys(comparedParams).length === 0 ? message : { ...message, params: comparedParams }
}

/** The client's name, version and capabilities do not make it a different call. */
const withoutClient = ({ clientInfo: _, capabilities: _capabilities, ...fields }: JsonRpcMessage): JsonRpcMessage =>
  fields

/** The call in words, such as `tools/call get_weather`; `undefined` if the body is not JSON-RPC. */
export function callOf({ body }: Pick<RecordedRequest, 'body'>): string | undefined {
  const { method, params } = messageOf(body) ?? {}
  return typeof method === 'string' ? callTitle({ method, params: isObject(params) ? params : {} }) : undefined
}

/** Whether the message gets no response: a notification, or the client's response to the server. */
const isOneWay = (message: JsonRpcMessage) =>
  typeof message.method === 'string'
    ? message.method.startsWith('notifications/')
    : 'result' in message || 'error' in message

const reply = (status: number, fields: Partial<Reply> = {}): Reply => ({
  ...{ kind: 'reply', status, contentType: '', body: '', isRecorded: true },
  ...fields,
})

/** Whether a request opens a session's own stream, on which the server sends messages outside of calls. */
export const opensServerStream = ({ method, headers }: Pick<Exchange, 'method' | 'headers'>): boolean =>
  method === 'GET' && (headers['mcp-session-id'] !== undefined || headers['mcp-protocol-version'] !== undefined)

/** Whether a request opens a stream that lasts until the client disconnects, and is complete then. */
export const isEndless = (exchange: Pick<Exchange, 'method' | 'headers'>, { body }: Pick<RecordedRequest, 'body'>) =>
  opensServerStream(exchange) || messageOf(body)?.method === 'subscriptions/listen'

/** The version that a message without a session names. */
const versionIn = ({ params }: JsonRpcMessage) => metaOf(params)[metaKeys.version]

/** In a session, the answer to a ping is always empty (specification 2025-11-25, "Ping"). Later versions have none. */
const pong = ({ id }: JsonRpcMessage) =>
  reply(200, { contentType: 'application/json', body: stringifyExact(resultFrame(id as RpcId, {})) })

/** The fixed replies to requests that are not recorded: messages without an answer, and the end of a session. */
export function replyWithoutRecording({ method, headers }: Exchange, { body }: RecordedRequest): Reply | undefined {
  const message = messageOf(body)
  if (message) {
    if (message.method === 'ping' && versionIn(message) === undefined) return pong(message)
    return isOneWay(message) ? reply(202) : undefined
  }
  const endsSession = method === 'DELETE' && headers['mcp-session-id'] !== undefined
  return endsSession ? reply(204) : undefined
}

/** Servers need not offer a stream of their own (specification 2025-11-25, "Listening for Messages from the Server"). */
export const noServerStream = () => reply(405, { headers: ['allow', 'POST, DELETE'] })
