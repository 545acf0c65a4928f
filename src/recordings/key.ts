/** The form in which a request is stored and compared, and what it has in common with others: its key and its conversation. */
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { Exchange } from '../core/exchange.js'
import { decompress } from '../core/http.js'
import { isObject, mayBeJson, requireModestJson } from '../core/json.js'
import { asksForChat } from '../endpoints/index.js'
import { comparable, credentialsOf, type Redact, type Redaction } from '../redact/index.js'
import {
  jsonIn,
  normalPath,
  normalQuery,
  parametersIn,
  sortedQuery,
  withoutBigInts,
  withoutDefaults,
  withSortedKeys,
} from './canonical.js'
import { isConversation, lastTurnOf, nameOfMessages } from './conversation.js'
import { comparedText, isMultipart, withoutBoundary } from './form-body.js'
import type { Ignore } from './ignore.js'
import { withoutIds } from './json-rpc.js'
import { linksByPosition } from './links.js'
import { MOST_BODY_BYTES, type RecordedRequest, type RequestBody } from './recording.js'
import { type Sketch, sketchOf } from './sketch.js'

export interface ReceivedRequest {
  readonly method: string
  /** The path, undecoded. */
  readonly path: string
  /** The part after the `?`, undecoded. */
  readonly query: string
  readonly contentType: string | undefined
  readonly headers?: Exchange['headers']
  readonly body: Buffer | undefined
}

/** By these, a client asks for a part of an answer, or for one that depends on what it has. */
const conditions = 'if-match if-modified-since if-none-match if-range if-unmodified-since last-event-id range'.split(
  ' ',
)

/** Converts a request to the form in which it is compared and stored. */
export function requestOf(received: ReceivedRequest, redaction: Redaction): RecordedRequest {
  return {
    method: received.method.toUpperCase(),
    path: redaction.text(received.path),
    // Sorted before redaction as well, so that the numbering of placeholders does not depend on the order. After it,
    // only placeholders contain brackets.
    query: sortedQuery(redaction.query(normalQuery(received.query))),
    body: bodyIn(received, redaction),
    ...conditionIn(received, redaction),
  }
}

function conditionIn({ headers = {} }: ReceivedRequest, redaction: Redaction): Pick<RecordedRequest, 'condition'> {
  const names = conditions.filter(name => headers[name] !== undefined)
  if (names.length === 0) return {}
  return { condition: Object.fromEntries(names.map(name => [name, redaction.text(String(headers[name]))])) }
}

/**
 * The body of a request without its Content-Encoding. A body that cannot be decompressed stays as it came. It has an
 * `objection` to its being recorded, unless it is text, in which secrets are found anyway.
 */
export function decompressedBody({ headers, body }: Pick<Exchange, 'headers' | 'body'>) {
  const { 'content-encoding': encoding, 'content-type': type } = headers
  if (encoding === undefined || !body || body.length === 0) return { body }
  try {
    const plain = decompress(body, encoding, MOST_BODY_BYTES)
    // The same limits as for uncompressed bodies, since parsing more would hold up other requests.
    if (type === undefined || mayBeJson(type)) requireModestJson(plain)
    return { body: plain }
  } catch (error) {
    const objection = `the request body cannot be decompressed (${(error as Error).message.replace(/\.$/, '')})`
    return isUtf8(body) ? { body } : { body, objection }
  }
}

function bodyIn({ path, contentType = '', body }: ReceivedRequest, redaction: Redaction): RequestBody {
  if (!body || body.length === 0) return { kind: 'none' }
  if (!isUtf8(body)) {
    // One character per byte, so that a secret is found inside binary data as well.
    const text = redaction.body(withoutBoundary(body.toString('latin1'), contentType), path, contentType)
    return { kind: 'bytes', bytes: Buffer.from(text, 'latin1') }
  }
  const text = body.toString('utf8')
  const json = jsonIn(text)
  if (json) return { kind: 'json', value: redactedJsonValue(json.value, path, redaction) }
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(contentType)
  const normalized = isForm ? normalQuery(text) : withoutBoundary(text, contentType)
  return { kind: 'text', text: redaction.body(normalized, path, contentType) }
}

/** Sorts again, since the name of a field may be secret too, and its placeholder sorts elsewhere. */
function redactedJsonValue(value: unknown, path: string, redaction: Redaction): unknown {
  const result = redaction.value(value, path)
  return result === value ? value : withSortedKeys(result)
}

/**
 * The form of a request that is compared: without ignored parts, without defaults, and without the format of the answer,
 * since answers can be converted.
 */
export function comparedForm(request: RecordedRequest, ignore: Ignore): RecordedRequest {
  const { method, path, query, body } = request
  const nonSecret = parametersIn(query).filter(([, value]) => value === undefined || !isPlaceholder.test(value))
  const parameters = ignore.inQuery(nonSecret).map(([name, value]) => (value === undefined ? name : `${name}=${value}`))
  return {
    method: method === 'HEAD' ? 'GET' : method,
    path: ignore.inText(normalPath(path)),
    query: parameters.join('&'),
    body: comparedBody(path, body, ignore),
  }
}

/** A whole parameter value that was a credential. Brackets that a caller sent are encoded. */
const isPlaceholder = /^\[[a-z][a-z0-9-]*\]$/

function comparedBody(path: string, body: RequestBody, ignore: Ignore): RequestBody {
  switch (body.kind) {
    case 'json': {
      const value = withoutBigInts(comparable(body.value, path))
      const compared = withoutDefaults(path, withoutIds(ignore.inJson(value, linksByPosition)))
      return { kind: 'json', value: withoutFormat(path, compared) }
    }
    case 'text':
      return { kind: 'text', text: comparedText(body.text, ignore) }
    case 'bytes': {
      const text = body.bytes.toString('latin1')
      return isMultipart(text) ? { kind: 'bytes', bytes: Buffer.from(comparedText(text, ignore), 'latin1') } : body
    }
    case 'none':
      return body
  }
}

function withoutFormat(path: string, body: unknown): unknown {
  if (!asksForChat(path) || !isObject(body)) return body
  const { stream: _stream, stream_options: _options, ...others } = body
  return others
}

function comparedBodyText(body: RequestBody): string {
  switch (body.kind) {
    case 'none':
      return ''
    case 'json':
      return `json ${JSON.stringify(body.value)}`
    case 'text':
      return `text ${body.text}`
    case 'bytes':
      return `bytes ${body.bytes.toString('latin1')}`
  }
}

const shortHash = (parts: readonly string[], digits: number) => hash('sha256', parts.join('\n'), 'hex').slice(0, digits)

/** What requests can have in common. */
export interface RequestKeys {
  /** Equal for requests that the same recordings answer. Never written to disk. */
  readonly key: string
  /** Equal for requests with the same conversation, whatever the prompt. In the names of files. */
  readonly conversation: string
  /** Equal for requests with the same last turn; of a request without messages, the same as `key`. */
  readonly question: string
  /** As it is compared. */
  readonly path: string
  /** By which it is roughly compared: that of its last turn, and that of the rest. */
  readonly sketches: () => readonly [question: Sketch, rest: Sketch]
}

/** Long messages, such as images, are hashed once. */
const LONG = 1000
const digestOf = (text: string) => (text.length > LONG ? hash('sha256', text, 'hex') : text)

export function keysOf(request: RecordedRequest, ignore: Ignore): RequestKeys {
  const { method, path, query, body } = comparedForm(request, ignore)
  const name = body.kind === 'json' ? nameOfMessages(body.value) : undefined
  if (body.kind !== 'json' || name === undefined) {
    const text = comparedBodyText(body)
    const key = shortHash([method, path, query, text], 16)
    const sketches = () => [sketchOf([text]), sketchOf([])] as const
    return { key, conversation: key.slice(0, 8), question: key, path, sketches }
  }
  const { [name]: messages, ...others } = body.value as Readonly<Record<string, readonly unknown[]>>
  const prompt = JSON.stringify(others)
  const texts = (messages ?? []).map(message => JSON.stringify(message))
  const digests = texts.map(digestOf)
  const spoken = digests.filter((_, i) => isConversation(messages?.[i]))
  const start = lastTurnOf(messages ?? [])
  return {
    key: shortHash([method, path, query, prompt, ...digests], 16),
    conversation: shortHash([method, path, query, ...spoken], 8),
    question: shortHash([method, path, ...digests.slice(start)], 16),
    path,
    sketches: () => [sketchOf(texts.slice(start)), sketchOf([...texts.slice(0, start), prompt])],
  }
}

/** The key of a request. Used for incoming requests and for recordings on disk alike. */
export const requestKey = (request: RecordedRequest, ignore: Ignore): string => keysOf(request, ignore).key

export interface RequestIdentity extends RequestKeys {
  readonly request: RecordedRequest
  /** The redaction that removed the request's secrets, to be used for its answer too. */
  readonly redaction: Redaction
  /** Why the request must not be recorded, as a part of a sentence. */
  readonly objection?: string | undefined
}

/** The request of an exchange, and the redaction that removed its secrets. */
export function redactedRequest(exchange: Exchange, redact: Redact) {
  const { method, path, query, headers } = exchange
  const received = { method, path, query, headers, contentType: headers['content-type'] }
  const { body, objection } = decompressedBody(exchange)
  const redaction = redact(credentialsOf(exchange, redact))
  return { request: requestOf({ ...received, body }, redaction), redaction, objection }
}

/** Identifies the request of an exchange. */
export const createIdentify =
  (redact: Redact, ignore: Ignore) =>
  (exchange: Exchange): RequestIdentity => {
    const identity = redactedRequest(exchange, redact)
    return { ...identity, ...keysOf(identity.request, ignore) }
  }
