/** Reads a request's body and enforces the size limit while it arrives. */
import { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { bodyTooLarge, notJsonContent, type PlatformError } from '../core/errors.js'
import { mayBeJson, requireUnencoded } from '../core/json.js'
import { type AdoptedRequest, BODY } from './foreign.js'

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

/** Receives a part of a body, `null` at its end, or `undefined` if the client disconnects before that. */
type Taker = (chunk: Buffer | null | undefined) => void

/** A request of our own server. Its body can be read directly from node's parser, without node's stream. */
interface OwnRequest extends IncomingMessage {
  /**
   * Passes the whole body to `taker`. Returns false if the stream already holds a part of it or has readers; they then get the body.
   * The stream emits no events for a body that was taken, not even its end.
   */
  takeBody(taker: Taker): boolean
  /** Receives the body. */
  taker: Taker | undefined
  /** Whether a body that was taken is complete. */
  isRead: boolean
}

/** Whether a request changes the protocol of its connection, so that what follows on it is no longer HTTP. */
type Upgrades = (request: IncomingMessage) => boolean

/** Node's own field: whether a request asks for another protocol, and then whether it gets one. */
interface Upgradable {
  readonly upgrade?: boolean | null
}

/** Whether node has handed over the connection of this request. */
export const isUpgraded = (request: IncomingMessage): boolean => (request as Upgradable).upgrade === true

/** RFC 6455 §4.1. A request with a body does not count, because node would not read that body. */
export function asksForWebSocket({ method, headers }: IncomingMessage): boolean {
  if (method !== 'GET' || headers.upgrade?.toLowerCase() !== 'websocket') return false
  return headers['transfer-encoding'] === undefined && Number(headers['content-length'] ?? 0) === 0
}

/**
 * Creates the class of a server's requests. Starting a stream, its events and its end take a tenth of the time of a whole request, even
 * without a body, since node reads every request without a reader to its end. Each server has its own class, because express changes the
 * prototype.
 */
export function createRequestClass(upgrades: Upgrades): typeof IncomingMessage {
  class Request extends IncomingMessage implements Upgradable {
    // Set while node's constructor runs, so it must have no initial value here.
    declare asksUpgrade: boolean | null
    taker: Taker | undefined = undefined
    isRead = false

    get upgrade(): boolean | null {
      return this.asksUpgrade
    }

    /**
     * Node sets this twice: first, before the method is known, to whether the client asked for an upgrade, then to
     * whether the server listens for upgrades. It would hand over every connection whose client asks, such as Java
     * clients, which offer HTTP/2 with their first request.
     */
    set upgrade(value: boolean | null) {
      this.asksUpgrade = value === true && this.method !== null && this.method !== 'CONNECT' ? upgrades(this) : value
    }

    takeBody(taker: Taker): boolean {
      const isTouched = this.readableFlowing !== null || this.readableLength > 0 || this.complete || this.destroyed
      if (isTouched || this.taker) return false
      this.taker = taker
      return true
    }

    /** Called by node's parser. */
    override push(chunk: Buffer | null): boolean {
      const { taker } = this
      if (!taker) return super.push(chunk)
      if (chunk === null) this.isRead = true
      taker(chunk)
      return true
    }

    /** Node calls this after the response to discard an unread body. */
    _dump(): void {
      if (!this.taker) nodes._dump.call(this)
    }

    override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
      super._destroy(error, done)
      this.taker?.(undefined)
    }
  }
  // Node checks this to see whether a client aborted its request. Node's types declare it as a property, which a class cannot override.
  Object.defineProperty(Request.prototype, 'readableEnded', {
    get(this: Request) {
      return this.taker ? this.isRead : ended.call(this)
    },
  })
  return Request
}

const nodes = IncomingMessage.prototype as IncomingMessage & { _dump(): void }
const ended = Object.getOwnPropertyDescriptor(Readable.prototype, 'readableEnded')?.get as () => boolean

const isOwn = (request: IncomingMessage): request is OwnRequest => 'taker' in request

/** Discards the rest of the body: the response was sent without it. */
export function leaveUnread(request: IncomingMessage): void {
  if (isOwn(request)) request.takeBody(nothing)
}

const nothing = () => {}

type BodyRead = (body: Buffer | PlatformError | undefined) => void

/**
 * Reads the body and calls back once: with the body, with a 413 as soon as it exceeds the limit, or with `undefined`
 * when the client disconnects early. After a 413 the rest is discarded unread, so that the client can read the
 * response.
 */
export function readBody(request: IncomingMessage, limitBytes: number, done: BodyRead): void {
  const before = (request as AdoptedRequest)[BODY]
  if (before) return done(before instanceof Buffer && before.length > limitBytes ? bodyTooLarge(limitBytes) : before)
  const announced = Number(request.headers['content-length'])
  if (announced > limitBytes) return done(bodyTooLarge(limitBytes))
  if (announced === 0) return done(Buffer.alloc(0))

  let chunks: Buffer[] | undefined
  let size = 0
  let isOver = false
  const isTaken = isOwn(request) && request.takeBody(take)
  if (!isTaken) {
    request.on('data', take)
    request.on('end', () => take(null))
    request.on('error', () => take(undefined))
  }

  function take(chunk: Buffer | null | undefined): void {
    if (isOver) return
    // With a declared length, the last byte is the end, and a body that stops short of it is an error.
    if (!chunk) {
      isOver = chunk === undefined || Number.isNaN(announced)
      if (isOver) done(chunk === null ? Buffer.concat(chunks ?? []) : undefined)
      return
    }
    size += chunk.length
    // The last byte has arrived. Node would emit `end` only in a later turn.
    isOver = size > limitBytes || size === announced
    if (isTaken && size === announced) {
      request.isRead = true
      // A stream may stay open for a long time, so drop what only reading needs.
      request.taker = nothing
    }
    if (size > limitBytes) return done(bodyTooLarge(limitBytes))
    if (size === announced && !chunks) return done(chunk)
    chunks ??= []
    chunks.push(chunk)
    if (isOver) done(Buffer.concat(chunks))
  }
}

/** The journal shows at most this much of a body. */
const BEGINNING_BYTES = 65_536
/** A client that takes longer than this to send its body is refused before it has finished. */
const BEGINNING_MS = 1000

/** Whether the body is still unread and may still be arriving: `readableFlowing` is null until it is read. */
export const isUnread = (request: IncomingMessage): boolean =>
  request.readableFlowing === null &&
  !(isOwn(request) && request.taker) &&
  !request.destroyed &&
  (Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'] !== undefined)

/**
 * Reads the beginning of a refused request's body for the journal. Calls back once: when the body is complete, when it
 * has reached the size that the journal shows, when it takes too long, or when the client disconnects. `cutFromBytes`
 * is the full size of a body that was cut. The rest is discarded, so that the connection can be used again.
 */
export function readBeginning(
  request: IncomingMessage,
  done: (beginning: Buffer, cutFromBytes: number | undefined) => void,
): void {
  const announced = Number(request.headers['content-length'])
  let chunks: Buffer[] | undefined = []
  let size = 0
  const finish = (isWhole: boolean) => {
    if (!chunks) return
    const beginning = Buffer.concat(chunks, Math.min(size, BEGINNING_BYTES))
    chunks = undefined
    clearTimeout(timer)
    done(beginning, isWhole && size <= BEGINNING_BYTES ? undefined : announced || size)
  }
  // Lets node first read what has arrived by then, even if the process was busy.
  const timer = setTimeout(() => setImmediate(finish, false), BEGINNING_MS)
  request.on('data', (chunk: Buffer) => {
    if (!chunks) return
    chunks.push(chunk)
    size += chunk.length
    if (size >= announced || size > BEGINNING_BYTES) finish(size === announced)
  })
  request.on('end', () => finish(true))
  request.on('error', () => finish(false))
  request.on('close', () => finish(false))
}
