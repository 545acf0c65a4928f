/** JSON-RPC in recordings: which calls count as equal, which messages need no recording, and answers with the ids of the current call. */
import { randomUUID } from 'node:crypto'
import { createEventSplitter, dataOf, eventsIn } from '../chat/events.js'
import type { Exchange } from '../core/exchange.js'
import { exactJsonOf, isObject, jsonOf, stringifyExact } from '../core/json.js'
import { callTitle, metaKeys, metaOf, type RpcId, resultFrame } from '../core/json-rpc.js'
import type { Reply } from '../core/reply.js'
import {
  isStream,
  type RecordedChunk,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
  type RequestBody,
  recordedBody,
} from './recording.js'

export type JsonRpcMessage = Readonly<Record<string, unknown>>

/** The message in a JSON value; `undefined` if it is not JSON-RPC. */
export const messageIn = (value: unknown): JsonRpcMessage | undefined =>
  isObject(value) && value.jsonrpc === '2.0' ? value : undefined

const rpcMessageOf = (body: RequestBody): JsonRpcMessage | undefined =>
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
export function rpcCallOf({ body }: Pick<RecordedRequest, 'body'>): string | undefined {
  const { method, params } = rpcMessageOf(body) ?? {}
  return typeof method === 'string' ? callTitle({ method, params: isObject(params) ? params : {} }) : undefined
}

/** Whether the message gets no response: a notification, or the client's response to the server. */
const isOneWay = (message: JsonRpcMessage) =>
  typeof message.method === 'string' ? message.method.startsWith('notifications/') : isAnswer(message)

const isAnswer = (message: JsonRpcMessage) =>
  message.method === undefined && ('result' in message || 'error' in message)

const fixedReply = (status: number, fields: Partial<Reply> = {}): Reply => ({
  kind: 'reply',
  status,
  contentType: '',
  body: '',
  isRecorded: true,
  ...fields,
})

/** Whether a request opens a session's own stream, on which the server sends messages outside of calls. */
export const opensServerStream = ({ method, headers }: Pick<Exchange, 'method' | 'headers'>): boolean =>
  method === 'GET' && (headers['mcp-session-id'] !== undefined || headers['mcp-protocol-version'] !== undefined)

/** Whether a stream has the answer to a call, which belongs to the session that made the call. */
export const carriesAnswer = (response: RecordedResponse): boolean =>
  isStream(response) &&
  eventsIn(recordedBody(response)).some(event => {
    const message = messageIn(jsonOf(dataOf(event) ?? ''))
    return message !== undefined && isAnswer(message)
  })

/** Whether a request opens a stream that lasts until the client disconnects, and is complete then. */
export const isEndless = (exchange: Pick<Exchange, 'method' | 'headers'>, { body }: Pick<RecordedRequest, 'body'>) =>
  opensServerStream(exchange) || rpcMessageOf(body)?.method === 'subscriptions/listen'

/** The version that a message without a session names. */
const versionIn = ({ params }: JsonRpcMessage) => metaOf(params)[metaKeys.version]

/** In a session, the answer to a ping is always empty (specification 2025-11-25, "Ping"). Later versions have none. */
const pong = ({ id }: JsonRpcMessage) =>
  fixedReply(200, { contentType: 'application/json', body: stringifyExact(resultFrame(id as RpcId, {})) })

/** The fixed replies to requests that are not recorded: messages without an answer, and the end of a session. */
export function replyWithoutRecording({ method, headers }: Exchange, { body }: RecordedRequest): Reply | undefined {
  const message = rpcMessageOf(body)
  if (message) {
    if (message.method === 'ping' && versionIn(message) === undefined) return pong(message)
    return isOneWay(message) ? fixedReply(202) : undefined
  }
  const endsSession = method === 'DELETE' && headers['mcp-session-id'] !== undefined
  return endsSession ? fixedReply(204) : undefined
}

/** Servers need not offer a stream of their own (specification 2025-11-25, "Listening for Messages from the Server"). */
export const noServerStream = () => fixedReply(405, { headers: ['allow', 'POST, DELETE'] })

/** Gives a recorded message the ids of the current call; `undefined` drops it. Returns the same message if nothing changes. */
type Rename = (message: JsonRpcMessage) => JsonRpcMessage | undefined

/** Returns the answer unchanged if the request is not JSON-RPC. */
export function withIdsOf(wanted: RecordedRequest, { request, response }: Recording): RecordedResponse {
  const [current, recorded] = [rpcMessageOf(wanted.body), rpcMessageOf(request.body)]
  if (!current || !recorded) return response
  const [now, then] = [callIds(current), callIds(recorded)]
  if (now.id === then.id && now.progressToken === then.progressToken) return response
  const rename: Rename = message => renamedMessage(message, then, now)
  return {
    ...response,
    chunks: isStream(response) ? renamedEvents(response.chunks, rename) : renamedWhole(response, rename),
  }
}

/** Strings and numbers are different ids. */
const callIds = ({ id, params }: JsonRpcMessage) => ({ id, progressToken: metaOf(params).progressToken })

type CallIds = ReturnType<typeof callIds>

function renamedMessage(message: JsonRpcMessage, then: CallIds, now: CallIds): JsonRpcMessage | undefined {
  const { id, method, params } = message
  // A message with a method is a request of the server, with the server's own id.
  if (method === undefined) return id === then.id ? { ...message, id: now.id } : message
  if (!isObject(params)) return message
  const { progressToken, _meta } = params
  if (method === 'notifications/progress' && progressToken !== undefined && progressToken === then.progressToken) {
    // A client that sent no progress token gets no progress.
    if (now.progressToken === undefined) return undefined
    return { ...message, params: { ...params, progressToken: now.progressToken } }
  }
  // Notifications name the call that has subscribed to them by its id.
  if (!isObject(_meta) || _meta[metaKeys.subscription] !== then.id) return message
  return { ...message, params: { ...params, _meta: { ..._meta, [metaKeys.subscription]: now.id } } }
}

/** The live server's session ids are not recorded. Each client gets an id of its own with its first answer, and keeps it. */
export function withClientSession(reply: Reply, { headers: requestHeaders }: Pick<Exchange, 'headers'>): Reply {
  const { headers = [] } = reply
  const index = headers.findIndex((name, i) => i % 2 === 0 && name === SESSION)
  if (index < 0) return reply
  return { ...reply, headers: headers.with(index + 1, String(requestHeaders[SESSION] ?? randomUUID())) }
}

const SESSION = 'mcp-session-id'

function renamedWhole(response: RecordedResponse, rename: Rename): readonly RecordedChunk[] {
  const [first] = response.chunks
  const message = messageIn(exactJsonOf(recordedBody(response).toString()))
  const renamed = message && rename(message)
  return !first || !renamed || renamed === message
    ? response.chunks
    : [{ ...first, bytes: Buffer.from(stringifyExact(renamed)) }]
}

/** Events keep their times. An event that arrived in several parts is sent at the time of its last part. */
function renamedEvents(chunks: readonly RecordedChunk[], rename: Rename): readonly RecordedChunk[] {
  const splitter = createEventSplitter()
  const renamed = chunks.map(({ atMs, bytes }) => ({
    atMs,
    bytes: Buffer.concat(splitter.push(bytes).flatMap(event => renamedEvent(event, rename))),
  }))
  const rest = splitter.rest()
  const all = rest.length === 0 ? renamed : [...renamed, { atMs: chunks.at(-1)?.atMs ?? 0, bytes: rest }]
  return all.filter(({ bytes }) => bytes.length > 0)
}

function renamedEvent(event: Buffer, rename: Rename): readonly Buffer[] {
  const message = messageIn(exactJsonOf(dataOf(event) ?? ''))
  if (!message) return [event]
  const renamed = rename(message)
  if (!renamed) return []
  if (renamed === message) return [event]
  const others = event
    .toString()
    .split(/\r?\n/)
    .filter(line => line !== '' && !line.startsWith('data:'))
  return [Buffer.from([...others, `data: ${stringifyExact(renamed)}`, '', ''].join('\n'))]
}
