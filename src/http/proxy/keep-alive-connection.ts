/** A connection to the live platform that serves one request after another, without the streams and events of node's client. */
import type { Socket } from 'node:net'
import type { Writable } from 'node:stream'
import {
  ANOTHER_PROTOCOL_FOLLOWS,
  type AnswerHead,
  type AnswerParser,
  BODY_FOLLOWS,
  type Follows,
  NO_BODY_FOLLOWS,
  type ParserFactory,
} from './answer-parser.js'
import { LiveCall } from './live-call.js'
import type { ProxiedRequest } from './proxied-request.js'

export interface ConnectionEvents {
  /** The head of an answer has arrived, possibly with a part of its body. */
  onAnswer(proxied: ProxiedRequest, answer: LiveCall): void
  onError(proxied: ProxiedRequest, error: NodeJS.ErrnoException): void
  /** The connection can serve another request. */
  onIdle(connection: KeepAliveConnection): void
  /** The connection cannot serve another request. */
  onUnusable(connection: KeepAliveConnection): void
}

export class KeepAliveConnection {
  readonly #parser: AnswerParser
  /** The request in progress. */
  #call: LiveCall | undefined
  #isReused = false
  /** Whether another request may follow the current one. */
  #keepsAlive = false
  #isUpgraded = false
  #isDelivering = false

  constructor(
    readonly socket: Socket,
    createParser: ParserFactory,
    readonly events: ConnectionEvents,
  ) {
    this.#parser = createParser({
      onBegin: () => this.#onAnswerBegin(),
      onHead: head => this.#onHead(head),
      onBody: bytes => this.#call?.addBytes(bytes),
      onEnd: () => this.#onAnswerEnd(),
    })
    socket.on('data', bytes => this.#onData(bytes))
    socket.on('error', error => this.#fail(error))
    socket.on('end', () => this.#onEnd())
    socket.on('close', () => this.#onClose())
    socket.on('timeout', () => {
      if (!this.#call) socket.destroy()
    })
  }

  /** Sends a request. `head` is everything before the body. */
  send(proxied: ProxiedRequest, head: string, body: Buffer | undefined): void {
    const call = new LiveCall(this, proxied, this.#isReused)
    this.#call = call
    this.#isReused = true
    this.#isDelivering = false
    proxied.setConnection(call)
    writeHeadAndBody(this.socket, head, body)
  }

  /** Closes the connection of a call whose answer is no longer wanted. */
  abandon(call: LiveCall): void {
    if (this.#call === call) this.#call = undefined
    this.socket.destroy()
  }

  #onAnswerBegin(): void {
    // An unexpected answer could be mistaken for the answer to the next request.
    if (this.#call?.complete !== false) this.#keepsAlive = false
  }

  #onHead(head: AnswerHead): Follows {
    const call = this.#call
    if (call?.complete !== false) return NO_BODY_FOLLOWS
    this.#isUpgraded = head.isUpgrade
    if (head.isUpgrade) return ANOTHER_PROTOCOL_FOLLOWS
    // An informational response. The answer follows.
    if (head.status >= 100 && head.status < 200) return NO_BODY_FOLLOWS
    call.head = head
    this.#keepsAlive = head.isKeptAlive
    return call.proxied.method === 'HEAD' || head.status === 304 ? NO_BODY_FOLLOWS : BODY_FOLLOWS
  }

  #onAnswerEnd(): void {
    // An informational response also ends, but has set no head.
    if (this.#call?.head) this.#call.complete = true
  }

  #onData(bytes: Buffer): void {
    const call = this.#call
    if (!call) return void this.socket.destroy()
    const result = this.#parser.execute(bytes)
    if (result instanceof Error) {
      this.#keepsAlive = false
      if (!call.complete) return this.#fail(result)
    }
    // The live platform has switched protocols, although that was not requested.
    if (this.#isUpgraded) return this.#fail(new Error('no answer'))
    this.#deliver(call)
  }

  #deliver(call: LiveCall): void {
    if (!call.head) return
    if (call.complete) this.#release(call)
    if (!this.#isDelivering) this.events.onAnswer(call.proxied, call)
    this.#isDelivering = true
    call.flush()
  }

  #release({ headers }: LiveCall): void {
    const { socket } = this
    this.#call = undefined
    // Otherwise, the unsent part of the request body would be sent before the next request.
    if (!this.#keepsAlive || socket.writableLength > 0) return socket.destroySoon()
    const idleMs = idleMsOf(headers['keep-alive'])
    if (idleMs !== socket.timeout) socket.setTimeout(idleMs)
    this.events.onIdle(this)
  }

  #fail(error: NodeJS.ErrnoException): void {
    const call = this.#call
    this.#call = undefined
    this.events.onUnusable(this)
    if (call) this.events.onError(call.proxied, error)
    this.socket.destroy()
  }

  /** The live platform has ended the connection, and with it a body without a length. */
  #onEnd(): void {
    this.events.onUnusable(this)
    this.#keepsAlive = false
    const call = this.#call
    if (!call?.head) return
    this.#parser.finish()
    if (call.complete) this.#deliver(call)
  }

  #onClose(): void {
    if (this.#call) this.#fail(closedEarlyError())
    this.events.onUnusable(this)
    this.#parser.close()
  }
}

/** The error of node's client for a connection that closes before the end of an answer. */
const closedEarlyError = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

/** How long an idle connection is kept for the next request. */
export const MOST_IDLE_MS = 10_000
/** A connection is closed this long before the live platform would close it. */
const CLOSE_EARLIER_MS = 1_000

/** How long to keep an idle connection, given the live platform's `Keep-Alive` header. */
function idleMsOf(keepAlive: string | undefined): number {
  const seconds = /^timeout=(\d+)/.exec(keepAlive ?? '')?.[1]
  return seconds === undefined
    ? MOST_IDLE_MS
    : Math.min(Math.max(Number(seconds) * 1_000 - CLOSE_EARLIER_MS, 1), MOST_IDLE_MS)
}

/** Bodies up to this size are copied to be sent with the head. */
const SHORT_BYTES = 16_384

/** Writes a head and a body that is already complete. */
function writeHeadAndBody(socket: Writable, head: string, body: Buffer | undefined): void {
  if (!body || body.length <= SHORT_BYTES) {
    // As latin1, one character per byte, they can be joined without converting either.
    socket.write(body ? head + body.toString('latin1') : head, 'latin1')
    return
  }
  socket.cork()
  socket.write(head, 'latin1')
  socket.write(body)
  socket.uncork()
}
