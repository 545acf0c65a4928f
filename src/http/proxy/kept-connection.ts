/** A connection to the live platform that serves one request after another, without the streams and events of node's client. */
import type { Socket } from 'node:net'
import {
  ANOTHER_PROTOCOL_FOLLOWS,
  type AnswerHead,
  type AnswerParser,
  BODY_FOLLOWS,
  type Follows,
  NO_BODY_FOLLOWS,
  type ParserFactory,
} from './answer-parser.js'
import { writeTogether } from './end-with.js'
import { LiveCall } from './live-call.js'
import type { ProxiedRequest } from './proxied-request.js'

export interface ConnectionEvents {
  /** The first part of an answer has arrived, with its whole head. */
  answers(proxied: ProxiedRequest, answer: LiveCall): void
  failed(proxied: ProxiedRequest, error: NodeJS.ErrnoException): void
  /** The connection can serve another request. */
  rests(connection: KeptConnection): void
  /** The connection cannot serve another request. */
  isLost(connection: KeptConnection): void
}

export class KeptConnection {
  readonly #parser: AnswerParser
  /** The request in progress. */
  #call: LiveCall | undefined
  #isReused = false
  /** Whether another request may follow the current one. */
  #keepsAlive = false
  #isUpgraded = false
  #hasBegun = false

  constructor(
    readonly socket: Socket,
    createParser: ParserFactory,
    readonly events: ConnectionEvents,
  ) {
    this.#parser = createParser({
      begins: () => this.#begins(),
      head: head => this.#head(head),
      body: bytes => this.#call?.takes(bytes),
      ends: () => this.#completes(),
    })
    socket.on('data', bytes => this.#read(bytes))
    socket.on('error', error => this.#fails(error))
    socket.on('end', () => this.#ends())
    socket.on('close', () => this.#closes())
    socket.on('timeout', () => {
      if (!this.#call) socket.destroy()
    })
  }

  /** Sends a request. `head` is everything before the body. */
  send(proxied: ProxiedRequest, head: string, body: Buffer | undefined): void {
    const call = new LiveCall(this, proxied, this.#isReused)
    this.#call = call
    this.#isReused = true
    this.#hasBegun = false
    proxied.connected(call)
    writeTogether(this.socket, head, body)
  }

  /** Closes the connection of a call whose answer is no longer wanted. */
  abandon(call: LiveCall): void {
    if (this.#call === call) this.#call = undefined
    this.socket.destroy()
  }

  #begins(): void {
    // A second answer could be mistaken for the answer to the next request.
    if (this.#call?.complete !== false) this.#keepsAlive = false
  }

  #head(head: AnswerHead): Follows {
    const call = this.#call
    if (call?.complete !== false) return NO_BODY_FOLLOWS
    this.#isUpgraded = head.isUpgrade
    if (head.isUpgrade) return ANOTHER_PROTOCOL_FOLLOWS
    // An informational response. The answer is still to come.
    if (head.status >= 100 && head.status < 200) return NO_BODY_FOLLOWS
    call.head = head
    this.#keepsAlive = head.keepsAlive
    return call.proxied.method === 'HEAD' || head.status === 304 ? NO_BODY_FOLLOWS : BODY_FOLLOWS
  }

  #completes(): void {
    // Informational responses end as well.
    if (this.#call?.head) this.#call.complete = true
  }

  #read(bytes: Buffer): void {
    const call = this.#call
    if (!call) return void this.socket.destroy()
    const result = this.#parser.execute(bytes)
    if (result instanceof Error) {
      this.#keepsAlive = false
      if (!call.complete) return this.#fails(result)
    }
    // The live platform switches protocols, although that was not requested.
    if (this.#isUpgraded) return this.#fails(new Error('no answer'))
    this.#passesOn(call)
  }

  #passesOn(call: LiveCall): void {
    if (!call.head) return
    if (call.complete) this.#release(call)
    if (!this.#hasBegun) this.events.answers(call.proxied, call)
    this.#hasBegun = true
    call.flush()
  }

  #release({ headers }: LiveCall): void {
    const { socket } = this
    this.#call = undefined
    // The unsent part of the body would be sent before the next request.
    if (!this.#keepsAlive || socket.writableLength > 0) return socket.destroySoon()
    const restMs = restOf(headers['keep-alive'])
    if (restMs !== socket.timeout) socket.setTimeout(restMs)
    this.events.rests(this)
  }

  #fails(error: NodeJS.ErrnoException): void {
    const call = this.#call
    this.#call = undefined
    this.events.isLost(this)
    if (call) this.events.failed(call.proxied, error)
    this.socket.destroy()
  }

  /** The live platform has ended the connection, and with it a body without a length. */
  #ends(): void {
    this.events.isLost(this)
    this.#keepsAlive = false
    const call = this.#call
    if (!call?.head) return
    this.#parser.finish()
    if (call.complete) this.#passesOn(call)
  }

  #closes(): void {
    if (this.#call) this.#fails(closedEarly())
    this.events.isLost(this)
    this.#parser.close()
  }
}

/** The error of node's client for a connection that closes before the end of an answer. */
const closedEarly = () => Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })

/** How long an idle connection is kept for the next request. */
export const MOST_REST_MS = 10_000
/** A connection is closed this long before the live platform would close it. */
const EARLIER_MS = 1_000

/** How long to keep a connection if the live platform says how long it will (`Keep-Alive`). */
function restOf(keepAlive: string | undefined): number {
  const seconds = /^timeout=(\d+)/.exec(keepAlive ?? '')?.[1]
  return seconds === undefined
    ? MOST_REST_MS
    : Math.min(Math.max(Number(seconds) * 1_000 - EARLIER_MS, 1), MOST_REST_MS)
}
