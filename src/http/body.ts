/** Reads a request's body and enforces the size limit while it arrives. */
import type { IncomingMessage } from 'node:http'
import { bodyIsGone, bodyTooLarge, notJsonContent, type PlatformError } from '../core/errors.js'
import { noBytes } from '../core/http.js'
import { mayBeJson, requireUnencoded } from '../core/json.js'

/** Whether the Content-Type allows the body to be JSON. A missing one is read as JSON. */
export const isJson = ({ headers: { 'content-type': type } }: IncomingMessage): boolean =>
  type === undefined || mayBeJson(type)

/** Throws a 415 when the Content-Type says that the body is not JSON. */
export function requireJson(request: IncomingMessage): void {
  const { headers } = request
  const { 'content-type': type, 'content-encoding': encoding } = headers
  if (type !== undefined && type !== 'application/json' && !mayBeJson(type)) throw notJsonContent(type)
  requireUnencoded(encoding)
}

/** Whether a request opens a WebSocket (RFC 6455 §4.1). One with a body does not count, because node would not read it. */
export function requestsWebSocket({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/** The key for the body of a request that other middleware has already read, or for the error if it is not available. */
const READ_BODY = Symbol('body')
type ReadRequest = IncomingMessage & { [READ_BODY]?: Buffer | PlatformError }

/** The body that other middleware has already read, or the error that it is not available; `undefined` if none has. */
export const earlierBodyOf = (request: ReadRequest): Buffer | PlatformError | undefined => request[READ_BODY]

/** Keeps the body of a request of another server if other middleware there has read it. */
export function keepEarlierBody(request: ReadRequest): void {
  if (!request.readableDidRead) return
  const { body } = request as { body?: unknown }
  const type = request.headers['content-type'] ?? 'application/json'
  if (Buffer.isBuffer(body)) request[READ_BODY] = body
  else if (typeof body === 'string') request[READ_BODY] = Buffer.from(body)
  // express.json() has parsed the body. No other parsed form can be turned back into bytes.
  else if (body !== undefined && /[/+]json\b/i.test(type)) request[READ_BODY] = Buffer.from(JSON.stringify(body))
  else request[READ_BODY] = bodyIsGone()
}

/**
 * Reads the body: resolves to it, to a 413 as soon as it exceeds the limit, or to `undefined` when the client disconnects
 * early. After a 413, the rest is discarded, so that the client can read the response.
 */
export function readBody(
  request: IncomingMessage,
  limitBytes: number,
): Promise<Buffer | PlatformError | undefined> | Buffer | PlatformError {
  const { [READ_BODY]: earlier } = request as ReadRequest
  if (earlier) return Buffer.isBuffer(earlier) && earlier.length > limitBytes ? bodyTooLarge(limitBytes) : earlier
  const declaredBytes = Number(request.headers['content-length'])
  if (declaredBytes > limitBytes) return bodyTooLarge(limitBytes)
  if (declaredBytes === 0) return noBytes
  return new Promise(done => {
    let chunks: Buffer[] = []
    let size = 0
    // Calling `done` again has no effect.
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > limitBytes) {
        chunks = []
        return done(bodyTooLarge(limitBytes))
      }
      chunks.push(chunk)
      // The last byte has arrived. Node would emit `end` only in a later turn.
      if (size === declaredBytes) done(chunks.length === 1 ? chunk : Buffer.concat(chunks))
    })
    // With a length, nothing more is needed than that, or that the client has left.
    if (Number.isNaN(declaredBytes)) request.on('end', () => done(Buffer.concat(chunks)))
    request.on('close', () => done(undefined))
  })
}

/** What the journal shows of a body at most, and enough after it to recognize a secret at the end. */
const BEGINNING_BYTES = 81_920
/** A client that takes longer than this to send its body gets its error before that. */
const BEGINNING_MS = 1000

/** Whether the request has a body that nothing has started to read: `readableFlowing` is null until then. */
export const isUnread = (request: IncomingMessage): boolean =>
  request.readableFlowing === null &&
  !request.destroyed &&
  (Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'] !== undefined)

interface Beginning {
  readonly beginning: Buffer
  /** The full size of a body that was cut. */
  readonly cutFromBytes: number | undefined
}

/**
 * Reads the beginning of a refused request's body for the journal. Resolves when the body is complete or has reached the
 * size that the journal shows, when it takes too long, or when the client disconnects. The rest is discarded, so that the
 * connection can be used again.
 */
export const readBeginning = (request: IncomingMessage) =>
  new Promise<Beginning>(done => collectBeginning(request, done))

function collectBeginning(request: IncomingMessage, done: (read: Beginning) => void): void {
  const declaredBytes = Number(request.headers['content-length'])
  let chunks: Buffer[] | undefined = []
  let size = 0
  const finish = (isWhole: boolean) => {
    if (!chunks) return
    const beginning = Buffer.concat(chunks, Math.min(size, BEGINNING_BYTES))
    chunks = undefined
    clearTimeout(timer)
    done({ beginning, cutFromBytes: isWhole && size <= BEGINNING_BYTES ? undefined : declaredBytes || size })
  }
  // Even if the process was busy, node first reads what has arrived until then.
  const timer = setTimeout(() => setImmediate(finish, false), BEGINNING_MS)
  request.on('data', (chunk: Buffer) => {
    if (!chunks) return
    chunks.push(chunk)
    size += chunk.length
    if (size >= declaredBytes || size > BEGINNING_BYTES) finish(size === declaredBytes)
  })
  request.on('end', () => finish(true))
  request.on('close', () => finish(false))
}
