/** Turns the messages of a call into the HTTP response (JSON, or an event stream), with the faults that its rule asks for. */
import { PlatformError, unauthorized } from '../core/errors.js'
import { stringifyExact } from '../core/json.js'
import {
  eventText,
  failureFrame,
  RpcError,
  type RpcFrame,
  type RpcId,
  type RpcResponse,
  rpcCodes,
} from '../core/json-rpc.js'
import { type Pace, unpaced } from '../core/pace.js'
import type { Reply } from '../core/reply.js'
import type { McpGeneration } from '../replies/index.js'
import { type Context, isModern, unsupportedVersion } from './sessions.js'

/** The messages that answer a request: notifications, then the response. */
export interface CallMessages {
  readonly notifications: readonly RpcFrame[]
  readonly response: RpcResponse
  /** The HTTP status; 200 by default. */
  readonly status?: number | undefined
  readonly generation: McpGeneration | undefined
  /** What is wrong with the result, or why no rule answered, for the log. */
  readonly mistake?: string | undefined
}

/** What the client accepts. The specification requires clients to list both types, but many send no Accept header. */
export function acceptedTypes(accept: string | undefined) {
  if (accept === undefined || /\*\/\*/.test(accept)) return { json: true, stream: true }
  return { json: /application\/(json|\*)/i.test(accept), stream: /text\/(event-stream|\*)/i.test(accept) }
}

export const streamHeaders = ['cache-control', 'no-cache', 'x-accel-buffering', 'no']
export const EVENT_STREAM = 'text/event-stream'

const jsonReply = (value: unknown, status: number, headers: readonly string[] = []) =>
  ({ kind: 'reply', status, contentType: 'application/json', headers, body: stringifyExact(value) }) as const

/** An error with an HTTP status of its own. */
export const httpError = (status: number, sentence: string) =>
  new RpcError(rpcCodes.badRequest, sentence, undefined, status)

/** The reply to a message that cannot be answered. */
export function errorReply(error: RpcError, id: RpcId | undefined, usual = 400): Reply {
  const frame = failureFrame(id, error)
  return { ...jsonReply(frame, error.status ?? usual), remark: remarkOn(frame) }
}

/** The remark on an error in the log and the journal, because its HTTP status is often 200. */
const remarkOn = (response: RpcResponse) =>
  'error' in response ? () => `JSON-RPC error ${response.error.code}: ${response.error.message}` : undefined

/** The source of the answer for the log, and the fault of its rule. */
export const ruleFacts = (generation: McpGeneration | undefined): Pick<Reply, 'answeredBy' | 'fault'> => ({
  ...(generation && { answeredBy: generation.answeredBy }),
  ...(generation?.fault && { fault: generation.fault }),
})

/** The text of an event or a body, made malformed if the rule asks for it. */
export const withTextFault = (text: string, generation: McpGeneration | undefined) =>
  generation?.protocolFault === 'malformed-json' ? text.replace(/}(?=\n*$)/, '') : text

/** The reply with these messages. Without notifications it is JSON, if the client accepts that. */
export function replyWith(
  { notifications, response, status = 200, generation, mistake }: CallMessages,
  { exchange, server, session }: Context,
  { pace = unpaced, headers = [] }: { readonly pace?: Pace; readonly headers?: readonly string[] } = {},
): Reply {
  const accepted = acceptedTypes(exchange.headers.accept)
  const remark = mistake === undefined ? remarkOn(response) : () => mistake
  const facts = { remark, ...ruleFacts(generation) }
  const isCut = generation?.protocolFault === 'cut-stream'
  const isStream = accepted.stream && status === 200 && (notifications.length > 0 || isCut || !accepted.json)
  if (!isStream) {
    const reply = jsonReply(response, status, headers)
    return { ...reply, body: withTextFault(reply.body, generation), ...facts }
  }
  // The stream of a session keeps the events.
  const stream = session && server.sessions.stream(session)
  const events = [...notifications, response].map(frame => (stream ? stream.send(frame) : eventText(frame)))
  stream?.end()
  if (isCut) events.pop()
  if (stream && events.length === 0) events.push(stream.firstEvent)
  const head = { kind: 'reply', status, contentType: EVENT_STREAM, headers: [...headers, ...streamHeaders] } as const
  const pieces = events.map(text => withTextFault(text, generation))
  return { ...head, ...facts, body: { head: '', before: '', pieces, after: '', tail: '', pace } }
}

/** Throws for a fault that replaces the whole answer. */
export function requireNoFault(generation: McpGeneration | undefined, context: Context): void {
  const { server, session, version } = context
  switch (generation?.protocolFault) {
    case 'session-lost':
      if (session) server.sessions.end(session)
      throw sessionNotFound()
    case 'version-refused':
      throw isModern(context)
        ? unsupportedVersion(version, server)
        : new RpcError(rpcCodes.invalidRequest, `Bad Request: Unsupported protocol version: ${version}`, undefined, 400)
    case 'unauthorized':
      throw refusedByRule()
    case 'insufficient-scope':
      throw insufficientScope()
  }
}

/** The specification requires a 404, after which a client starts a new session. */
export const sessionNotFound = () => new RpcError(rpcCodes.noSession, 'Session not found', undefined, 404)

/** Replaces the id by one that the client has not used, if the rule asks for it. */
export const withWrongIdFault = <T extends RpcResponse>(response: T, generation: McpGeneration | undefined): T =>
  generation?.protocolFault === 'wrong-id' ? { ...response, id: wrongId(response.id) } : response

const wrongId = (id: RpcResponse['id']) => (typeof id === 'number' ? id + 1_000_000 : `not-${id}`)

const refusedByRule = unauthorized('refused_by_rule', 'The credential was refused, because a rule says so.')

const insufficientScope = () =>
  new PlatformError(
    403,
    'insufficient_scope',
    'The scope of the credential is not sufficient, because a rule says so.',
    ['www-authenticate', 'Bearer error="insufficient_scope", scope="mcp:tools"'],
  )
