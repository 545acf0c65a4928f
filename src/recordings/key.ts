/** Computes the key of a request, under which its recordings are stored and found. */
import { isUtf8 } from 'node:buffer'
import { hash } from 'node:crypto'
import type { Exchange } from '../core/exchange.js'
import { decompress } from '../core/http.js'
import { mayBeJson, requireModestJson } from '../core/json.js'
import { comparable, credentialsOf, type Redact, type Redaction } from '../redact/index.js'
import {
  type Ignore,
  jsonIn,
  normalPath,
  normalQuery,
  parametersIn,
  sortedQuery,
  withoutBigInts,
  withoutDefaults,
  withSortedKeys,
} from './canonical.js'
import { comparedText, isMultipart, withoutBoundary } from './form-body.js'
import { withoutIds } from './json-rpc.js'
import { linksByPosition } from './links.js'
import { MOST_BODY_BYTES, type RecordedRequest, type RequestBody } from './recording.js'

/** A request as it was received. */
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

/** The form of a request that is compared: without ignored parts and without defaults. */
export function comparedForm(request: RecordedRequest, ignore: Ignore, links = linksByPosition): RecordedRequest {
  const { method, path, query, body } = request
  const nonSecret = parametersIn(query).filter(([, value]) => value === undefined || !isPlaceholder.test(value))
  const parameters = ignore.inQuery(nonSecret).map(([name, value]) => (value === undefined ? name : `${name}=${value}`))
  const comparedPath = ignore.inText(normalPath(path))
  return { method, path: comparedPath, query: parameters.join('&'), body: comparedBody(path, body, ignore, links) }
}

/** The key of a request: 12 hex digits. Used for incoming requests and for recordings on disk alike. */
export function requestKey(request: RecordedRequest, ignore: Ignore, links = linksByPosition): string {
  const { method, path, query, body } = comparedForm(request, ignore, links)
  return hash('sha256', [method, path, query, comparedBodyText(body)].join('\n'), 'hex').slice(0, 12)
}

/** The key in the names of files from before ids of tool calls counted by position. */
export const formerKey = (request: RecordedRequest, ignore: Ignore): string => requestKey(request, ignore, body => body)

/** A whole parameter value that was a credential. Brackets that a caller sent are encoded. */
const isPlaceholder = /^\[[a-z][a-z0-9-]*\]$/

function comparedBody(path: string, body: RequestBody, ignore: Ignore, links: typeof linksByPosition): RequestBody {
  switch (body.kind) {
    case 'json': {
      const value = withoutBigInts(comparable(body.value, path))
      return { kind: 'json', value: withoutDefaults(path, withoutIds(ignore.inJson(value, links))) }
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

export interface RequestIdentity {
  readonly request: RecordedRequest
  readonly key: string
  /** The redaction that removed the request's secrets, to be used for its answer too. */
  readonly redaction: Redaction
  /** Why the request must not be recorded, as a part of a sentence. */
  readonly objection?: string | undefined
}

/** The request of an exchange, and the redaction that removed its secrets. */
function redactedRequest(exchange: Exchange, redact: Redact) {
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
    return { ...identity, key: requestKey(identity.request, ignore) }
  }
