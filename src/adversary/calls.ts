/** The calls of a client as the journal has them: which are the same call, what their answers said, and which SDK sent them. */
import { chunkOf } from '../chat/chunks.js'
import { eventsIn, isStreamType } from '../chat/events.js'
import { type Content, completionIn, contentOf, createSum, type VendorChunk } from '../chat/reader.js'
import { messagesIn } from '../chat/said.js'
import type { Fault } from '../core/fault.js'
import { isObject, jsonOf } from '../core/json.js'
import { AUTH, isAuth, isCanary, isReserved } from '../core/paths.js'
import { REPLAYED_HEADER } from '../faults/index.js'
import { CHUNKS_BEFORE_STOP, firstHalf } from '../faults/spoil.js'
import type { JournalEntry } from '../journal/index.js'
import { type Ignore, type IgnoreOption, ignoreFrom, requestKey } from '../recordings/index.js'

export interface ClientCall {
  /** Its id in the journal. */
  readonly id: string
  /** Equal for the same request, whatever its credential and its ids are. The same as a recording's. */
  readonly key: string
  readonly method: string
  readonly path: string
  readonly query: string
  /** `POST /v1/chat/completions "hello"`. */
  readonly title: string
  /** A call of a model, of a tool of an MCP server, of the auth backend, or any other. */
  readonly kind: 'chat' | 'tool' | 'auth' | 'protocol' | 'path'
  /** The test that it belongs to; empty if nobody knows. */
  readonly test: string
  /** Milliseconds since 1970. */
  readonly startMs: number
  readonly endMs: number
  /** Null if there was no answer. */
  readonly status: number | null
  /** False if the client left before the end of the answer. */
  readonly complete: boolean
  readonly body: unknown
  readonly caller: JournalEntry['caller']
  /** The session of Supabase Auth whose token it used, and the tokens that it presented and got, as digests. */
  readonly session: NonNullable<JournalEntry['session']>
  /** For what a browser asked: an `image`, a `script`, or something `empty` if a script did. */
  readonly fetchedAs: string | undefined
  /** The name of an SDK that retries by itself. */
  readonly sdk: string | undefined
  /** The fault that changed its answer. */
  readonly fault: Fault | undefined
  /** Whether it got the answer of an earlier call, by its Idempotency-Key. */
  readonly isReplayed: boolean
  readonly answer: ClientAnswer
}

interface ClientAnswer {
  readonly isStream: boolean
  /** How many chunks a stream of a chat completion has. */
  readonly chunks: number
  readonly text: string
  /** The text without the fault, as far as the journal has it. */
  readonly wholeText: string
  /** The tool calls that the client got, whole or not. */
  readonly toolCalls: readonly ToolCall[]
}

interface ToolCall {
  readonly id: string
  readonly name: string
  /** As far as the client got them. */
  readonly arguments: string
  /** As far as the journal has them. */
  readonly wholeArguments: string
}

/** The calls among these exchanges, in the order in which they began. */
export const clientCalls = (entries: readonly JournalEntry[], ignore = callsIgnore()): readonly ClientCall[] =>
  entries
    .filter(({ request: { method, path } }) => method !== 'OPTIONS' && (!isReserved(path) || isCanary(path)))
    .map(entry => clientCall(entry, ignore))
    .toSorted((one, other) => one.startMs - other.startMs)

function clientCall(entry: JournalEntry, ignore: Ignore): ClientCall {
  const { id, at, durationMs, request, status, fault } = entry
  const { method, path, headers, body } = request
  const startMs = Date.parse(at)
  const happened = fault?.happened ? fault.fault : undefined
  return {
    id,
    key: callKey(entry, ignore),
    method,
    path,
    query: request.query,
    title: titleOf(entry),
    kind: kindOfCall(entry),
    test: entry.scope,
    startMs,
    endMs: startMs + durationMs,
    status,
    complete: entry.complete,
    body,
    caller: entry.caller,
    session: entry.session ?? {},
    fetchedAs: headers['sec-fetch-dest'],
    sdk: sdkOf(headers),
    fault: happened,
    isReplayed: entry.response.headers[REPLAYED_HEADER] !== undefined,
    answer: answerOf(entry.response, happened),
  }
}

/** What makes calls the same: what recordings ignore, and ids, since clients make them up. */
export const callsIgnore = (options: readonly IgnoreOption[] = []): Ignore => ignoreFrom([...options, 'ids', 'uuids'])

/** The key of a call. */
export function callKey({ request }: Pick<JournalEntry, 'request'>, ignore: Ignore): string {
  const { body, ...line } = request
  // A link or code is another one in each run, and leads back to another port.
  const isLink = line.path === `${AUTH}/verify`
  if (isLink || body === undefined)
    return requestKey({ ...line, ...(isLink && { query: '' }), body: { kind: 'none' } }, ignore)
  const kind =
    typeof body === 'string' ? ({ kind: 'text', text: body } as const) : ({ kind: 'json', value: body } as const)
  return requestKey({ ...line, body: kind }, ignore)
}

const MOST_SHOWN = 40

function titleOf({ request, call }: JournalEntry): string {
  const { method, path, body } = request
  const messages = messagesIn(body)
  const prompt = messages.findLast(({ role }) => role === 'user')?.content
  const about = call ?? (typeof prompt === 'string' ? JSON.stringify(prompt.slice(0, MOST_SHOWN)) : '')
  const step = messages.at(-1)?.role === 'tool' ? ' with a tool result' : ''
  return `${method} ${path} ${about}`.trim() + step
}

function kindOfCall({ request: { path, body }, call }: JournalEntry): ClientCall['kind'] {
  if (isAuth(path)) return 'auth'
  if (call !== null) return call.startsWith('tools/call ') ? 'tool' : 'protocol'
  return messagesIn(body).length > 0 ? 'chat' : 'path'
}

/** By the headers that an SDK sends with each request. LangChain uses that of OpenAI. */
function sdkOf(headers: Readonly<Record<string, string>>): string | undefined {
  if (headers['x-stainless-lang'] !== undefined) return 'the SDK of OpenAI'
  return /(?:^|\s)ai\/\d/.test(headers['user-agent'] ?? '') ? 'the AI SDK' : undefined
}

/** What a request says of a tool call of its conversation. */
export interface ToldCall {
  readonly id: string
  readonly name: string
  readonly arguments: unknown
  readonly result: unknown
}

/** What a request says of the tool calls of its conversation that have a result. */
export function toldCallsIn(body: unknown): readonly ToldCall[] {
  const messages = messagesIn(body)
  const asked = messages.flatMap(({ tool_calls: calls }) => (Array.isArray(calls) ? calls.filter(isObject) : []))
  return messages.flatMap(({ role, tool_call_id: id, content: result }) => {
    if (role !== 'tool' || typeof id !== 'string') return []
    const { function: called } = asked.find(call => call.id === id) ?? {}
    const { name = '', arguments: given } = isObject(called) ? called : {}
    return [{ id, name: String(name), arguments: given, result }]
  })
}

/** Reads an answer as the client got it. The journal has the whole answer of a stream that ended early. */
function answerOf({ headers, body }: JournalEntry['response'], fault: Fault = {}): ClientAnswer {
  const isStream = isStreamType(headers['content-type'] ?? '')
  const chunks = isStream ? chunksIn(String(body ?? '')) : []
  const whole = isStream ? contentOfChunks(chunks) : contentOfCompletion(body)
  const sent = isStream ? contentOfChunks(sentChunks(chunks, fault)) : whole
  const wholeText = whole?.text ?? ''
  return {
    isStream,
    chunks: chunks.filter(chunk => chunk?.choices?.length).length,
    text: !isStream && fault.finish !== undefined ? firstHalf(wholeText) : (sent?.text ?? ''),
    wholeText,
    toolCalls:
      sent?.calls.flatMap(({ id, name, arguments: got }, i) =>
        id === '' ? [] : [{ id, name, arguments: got, wholeArguments: whole?.calls[i]?.arguments ?? got }],
      ) ?? [],
  }
}

type Chunks = readonly (VendorChunk | undefined)[]

const chunksIn = (body: string): Chunks => eventsIn(Buffer.from(body)).map(chunkOf)

function sentChunks(chunks: Chunks, fault: Fault): Chunks {
  const { end, cut, stall, stallMs, fail, finish } = fault
  const stalled = stallMs === undefined ? stall : undefined
  const stopped = finish && CHUNKS_BEFORE_STOP
  const most = end ?? cut ?? stalled ?? fail ?? stopped
  return chunks.slice(0, most).filter((_, i) => i + 1 !== fault.malformed)
}

function contentOfChunks(chunks: Chunks): Content | undefined {
  const sum = createSum()
  // Assembling changes the chunks.
  for (const chunk of chunks) if (chunk) sum.add(structuredClone(chunk))
  return contentOfCompletion(sum.completion())
}

function contentOfCompletion(body: unknown): Content | undefined {
  const message = completionIn(typeof body === 'string' ? jsonOf(body) : body)?.choices[0]?.message
  return message && contentOf(message)
}
