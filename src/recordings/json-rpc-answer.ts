/** Replaces the ids in a recorded JSON-RPC answer by those of the current call. The rest stays as recorded. */
import { randomUUID } from 'node:crypto'
import { createEventSplitter, dataOf } from '../completions/events.js'
import type { Exchange, Reply } from '../core/exchange.js'
import { exactJsonOf, isObject, stringifyExact } from '../core/json.js'
import { metaKeys, metaOf } from '../rpc/meta.js'
import { type JsonRpcMessage, messagesIn, messagesOf } from './json-rpc.js'
import {
  bodyOf,
  isStream,
  type RecordedChunk,
  type RecordedRequest,
  type RecordedResponse,
  type Recording,
} from './recording.js'

/** Recorded ids and progress tokens with those to use instead. Strings and numbers are different ids. */
interface Renaming {
  readonly ids: ReadonlyMap<unknown, unknown>
  readonly progress: ReadonlyMap<unknown, unknown>
}

/** Returns the answer unchanged if the request is not JSON-RPC. */
export function withIdsOf(wanted: RecordedRequest, { request, response }: Recording): RecordedResponse {
  const [current, recorded] = [messagesOf(wanted.body), messagesOf(request.body)]
  if (current.length === 0) return response
  const renaming: Renaming = {
    ids: pairs(recorded, current, ({ id }) => id),
    progress: pairs(recorded, current, ({ params }) => metaOf(params).progressToken),
  }
  const chunks = isStream(response) ? renamedEvents(response.chunks, renaming) : renamedWhole(response, renaming)
  return { ...response, chunks }
}

function pairs(
  recorded: readonly JsonRpcMessage[],
  current: readonly JsonRpcMessage[],
  idOf: (message: JsonRpcMessage) => unknown,
) {
  return new Map(
    recorded.flatMap((message, i) => (idOf(message) === undefined ? [] : [[idOf(message), idOf(current[i] ?? {})]])),
  )
}

/** The live server's session ids are not recorded. Each client gets an id of its own with its first answer, and keeps it. */
export function withClientSession(reply: Reply, { headers: requestHeaders }: Pick<Exchange, 'headers'>): Reply {
  const { headers = [] } = reply
  const index = headers.findIndex((name, i) => i % 2 === 0 && name === SESSION)
  if (index < 0) return reply
  return { ...reply, headers: headers.with(index + 1, String(requestHeaders[SESSION] ?? randomUUID())) }
}

const SESSION = 'mcp-session-id'

function renamedWhole(response: RecordedResponse, renaming: Renaming): readonly RecordedChunk[] {
  const [first] = response.chunks
  const text = renamedText(bodyOf(response).toString(), renaming)
  return first && text !== undefined ? [{ ...first, bytes: Buffer.from(text) }] : response.chunks
}

/** Events keep their times. An event that arrived in several parts is sent at the time of its last part. */
function renamedEvents(chunks: readonly RecordedChunk[], renaming: Renaming): readonly RecordedChunk[] {
  const splitter = createEventSplitter()
  const renamed = chunks.map(({ atMs, bytes }) => ({
    atMs,
    bytes: Buffer.concat(splitter.push(bytes).map(event => renamedEvent(event, renaming))),
  }))
  const rest = splitter.rest()
  const all = rest.length === 0 ? renamed : [...renamed, { atMs: chunks.at(-1)?.atMs ?? 0, bytes: rest }]
  return all.filter(({ bytes }) => bytes.length > 0)
}

const nothing = Buffer.alloc(0)

function renamedEvent(event: Buffer, renaming: Renaming): Buffer {
  const data = dataOf(event)
  const messages = messagesIn(exactJsonOf(data ?? ''))
  if (data === undefined || messages.length === 0) return event
  // A client that sent no progress token gets no progress.
  if (messages.every(message => isUnwanted(message, renaming))) return nothing
  const text = renamedText(data, renaming)
  if (text === undefined) return event
  const others = event
    .toString()
    .split(/\r?\n/)
    .filter(line => line !== '' && !line.startsWith('data:'))
  return Buffer.from([...others, `data: ${text}`, '', ''].join('\n'))
}

const isProgress = ({ method }: JsonRpcMessage) => method === 'notifications/progress'

function isUnwanted(message: JsonRpcMessage, { progress }: Renaming): boolean {
  const token = isObject(message.params) ? message.params.progressToken : undefined
  return isProgress(message) && progress.has(token) && progress.get(token) === undefined
}

/** `undefined` if nothing changes. The recorded bytes are then sent unchanged. */
function renamedText(text: string, renaming: Renaming): string | undefined {
  const value = exactJsonOf(text)
  const messages = messagesIn(value)
  const renamed = messages.map(message => renamedMessage(message, renaming))
  if (renamed.every((message, i) => message === messages[i])) return undefined
  return stringifyExact(Array.isArray(value) ? renamed : renamed[0])
}

function renamedMessage(message: JsonRpcMessage, renaming: Renaming): JsonRpcMessage {
  const { ids, progress } = renaming
  const { method, params } = message
  // A message with a method is a request of the server, with the server's own id.
  if (method === undefined) return renamedField(message, 'id', ids)
  if (!isObject(params)) return message
  // Notifications name the call that has subscribed to them by its id.
  const inMeta = isObject(params._meta) ? renamedField(params._meta, metaKeys.subscription, ids) : params._meta
  const renamedParams = isProgress(message) ? renamedField(params, 'progressToken', progress) : params
  if (renamedParams === params && inMeta === params._meta) return message
  return { ...message, params: { ...renamedParams, ...(inMeta !== undefined && { _meta: inMeta }) } }
}

function renamedField(object: JsonRpcMessage, name: string, names: ReadonlyMap<unknown, unknown>): JsonRpcMessage {
  const newName = names.get(object[name])
  return newName === undefined || newName === object[name] ? object : { ...object, [name]: newName }
}
