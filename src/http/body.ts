/** Reads a request's body and enforces the size limit while it arrives. */
import { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { bodyTooLarge, notJsonContent, type PlatformError } from '../core/errors.js'
import { mayBeJson, requireUnencoded } from '../core/json.js'
import { type ForeignRequest, READ_BODY } from './foreign-server.js'

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

/** Is called with each part of a body, with `null` at its end, or with `undefined` if the client disconnects before that. */
type ChunkListener = (chunk: Buffer | null | undefined) => void

/** A request of our own server. Its body can be read directly from node's parser, without node's stream. */
interface OwnRequest extends IncomingMessage {
  /**
   * Passes the whole body to `listener`, and then the stream emits no events, not even its end. Returns false if the
   * stream already holds a part of the body or has readers; they then get the body.
   */
  listenToBody(listener: ChunkListener): boolean
  /** The listener that gets the body. */
  chunkListener: ChunkListener | undefined
  /** Whether the listener got the whole body. */
  isBodyComplete: boolean
}

/** Decides whether a request may change the protocol of its connection. */
type AllowsUpgrade = (request: IncomingMessage) => boolean

/** Node's field: first whether a request asks for another protocol, then whether it gets one. */
interface Upgradable {
  readonly upgrade?: boolean | null
}

/** Whether node has handed over the connection of this request. */
export const hasUpgraded = (request: IncomingMessage): boolean => (request as Upgradable).upgrade === true

/** Whether a request opens a WebSocket (RFC 6455 §4.1). One with a body does not count, because node would not read it. */
export function requestsWebSocket({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/**
 * Creates the class of a server's requests, whose bodies are read without node's stream. Its start, events and end take a
 * tenth of the time of a request, even without a body, since node reads every request to its end. Each server has its
 * own class, because `usePrototypes` of app.ts changes the prototype.
 */
export function createRequestClass(allowsUpgrade: AllowsUpgrade): typeof IncomingMessage {
  class Request extends IncomingMessage implements Upgradable {
    // Set while node's constructor runs, so it must have no initial value here.
    declare upgradeFlag: boolean | null
    chunkListener: ChunkListener | undefined = undefined
    isBodyComplete = false

    get upgrade(): boolean | null {
      return this.upgradeFlag
    }

    /**
     * Node sets this twice: before the method is known, to whether the client asked for an upgrade, and later to
     * whether the server listens for upgrades. Without this, it would hand over every connection whose client asks, such
     * as those of Java clients, which offer HTTP/2 with their first request.
     */
    set upgrade(value: boolean | null) {
      this.upgradeFlag =
        value === true && this.method !== null && this.method !== 'CONNECT' ? allowsUpgrade(this) : value
    }

    listenToBody(listener: ChunkListener): boolean {
      const hasOtherReader = this.readableFlowing !== null || this.readableLength > 0 || this.complete || this.destroyed
      if (hasOtherReader || this.chunkListener) return false
      this.chunkListener = listener
      return true
    }

    /** Called by node's parser. */
    override push(chunk: Buffer | null): boolean {
      const { chunkListener } = this
      if (!chunkListener) return super.push(chunk)
      if (chunk === null) this.isBodyComplete = true
      chunkListener(chunk)
      return true
    }

    /** Node calls this after the response to discard an unread body. */
    _dump(): void {
      if (!this.chunkListener) nodePrototype._dump.call(this)
    }

    override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
      super._destroy(error, done)
      this.chunkListener?.(undefined)
    }
  }
  // Node checks this to see whether a client aborted its request. Node's types declare it as a property, which a class cannot override.
  Object.defineProperty(Request.prototype, 'readableEnded', {
    get(this: Request) {
      return this.chunkListener ? this.isBodyComplete : nodeReadableEnded.call(this)
    },
  })
  return Request
}

const nodePrototype = IncomingMessage.prototype as IncomingMessage & { _dump(): void }
const nodeReadableEnded = Object.getOwnPropertyDescriptor(Readable.prototype, 'readableEnded')?.get as () => boolean

const isOwnRequest = (request: IncomingMessage): request is OwnRequest => 'chunkListener' in request

/** Discards the rest of a body that is not needed, after the response was sent. */
export function discardBody(request: IncomingMessage): void {
  if (isOwnRequest(request)) request.listenToBody(ignore)
}

const ignore = () => {}

type BodyCallback = (body: Buffer | PlatformError | undefined) => void

/**
 * Reads the body and calls `done` once: with the body, with a 413 as soon as it exceeds the limit, or with `undefined`
 * when the client disconnects early. After a 413, the rest is discarded, so that the client can read the response.
 */
export function readBody(request: IncomingMessage, limitBytes: number, done: BodyCallback): void {
  const earlierBody = (request as ForeignRequest)[READ_BODY]
  if (earlierBody)
    return done(
      earlierBody instanceof Buffer && earlierBody.length > limitBytes ? bodyTooLarge(limitBytes) : earlierBody,
    )
  const declaredBytes = Number(request.headers['content-length'])
  if (declaredBytes > limitBytes) return done(bodyTooLarge(limitBytes))
  if (declaredBytes === 0) return done(Buffer.alloc(0))

  let chunks: Buffer[] | undefined
  let size = 0
  let isDone = false
  const isDirect = isOwnRequest(request) && request.listenToBody(addChunk)
  if (!isDirect) {
    request.on('data', addChunk)
    request.on('end', () => addChunk(null))
    request.on('error', () => addChunk(undefined))
  }

  function addChunk(chunk: Buffer | null | undefined): void {
    if (isDone) return
    // With a declared length, the body ends with its last byte, and an earlier end is an error.
    if (!chunk) {
      isDone = chunk === undefined || Number.isNaN(declaredBytes)
      if (isDone) done(chunk === null ? Buffer.concat(chunks ?? []) : undefined)
      return
    }
    size += chunk.length
    // The last byte has arrived. Node would emit `end` only in a later turn.
    isDone = size > limitBytes || size === declaredBytes
    if (isDirect && size === declaredBytes) {
      request.isBodyComplete = true
      // The response may stay open for a long time, so release what was only needed for reading.
      request.chunkListener = ignore
    }
    if (size > limitBytes) return done(bodyTooLarge(limitBytes))
    if (size === declaredBytes && !chunks) return done(chunk)
    chunks ??= []
    chunks.push(chunk)
    if (isDone) done(Buffer.concat(chunks))
  }
}

/** The journal shows at most this much of a body. */
const BEGINNING_BYTES = 65_536
/** A client that takes longer than this to send its body gets its error before that. */
const BEGINNING_MS = 1000

/** Whether the request has a body that nothing has started to read: `readableFlowing` is null until then. */
export const isUnread = (request: IncomingMessage): boolean =>
  request.readableFlowing === null &&
  !(isOwnRequest(request) && request.chunkListener) &&
  !request.destroyed &&
  (Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'] !== undefined)

/**
 * Reads the beginning of a refused request's body for the journal. Calls `done` once: when the body is complete or has
 * reached the size that the journal shows, when it takes too long, or when the client disconnects. `cutFromBytes` is the
 * full size of a body that was cut. The rest is discarded, so that the connection can be used again.
 */
export function readBeginning(
  request: IncomingMessage,
  done: (beginning: Buffer, cutFromBytes: number | undefined) => void,
): void {
  const declaredBytes = Number(request.headers['content-length'])
  let chunks: Buffer[] | undefined = []
  let size = 0
  const finish = (isWhole: boolean) => {
    if (!chunks) return
    const beginning = Buffer.concat(chunks, Math.min(size, BEGINNING_BYTES))
    chunks = undefined
    clearTimeout(timer)
    done(beginning, isWhole && size <= BEGINNING_BYTES ? undefined : declaredBytes || size)
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
  request.on('error', () => finish(false))
  request.on('close', () => finish(false))
}
