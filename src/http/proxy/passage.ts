/** One request on its way to the live side, and the one place that says how that ended. */
import type { ClientRequest, IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type PlatformError, upstreamTimeout, upstreamUnreachable } from '../../core/errors.js'
import type { Exchange, Outcome, ResponseObserver } from '../../core/exchange.js'
import { asksModel } from '../../core/paths.js'
import { reset } from '../spoil.js'

/** What to carry over. */
export interface Journey {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly exchange: Exchange
  /** Headers that go onto the answer in place of live ones of the same name, as node's flat array; asked for when it is there. */
  readonly ours?: (() => readonly string[]) | undefined
  /** Whether the answer has to be readable on its way, and so not compressed. A witness's has to be as well. */
  readonly isPlain?: boolean
  /** The recording that is made of it. */
  readonly recordedAs?: string | undefined
  /** Harmless, as that of watched.ts is. */
  readonly witness?: ResponseObserver | undefined
  /**
   * Called once: with an error when nothing was sent to the client yet, with nothing when the answer has left or was cut off. The
   * exchange's outcome says which.
   */
  done(error?: unknown): void
}

export interface Manners {
  /** The live side. */
  readonly baseUrl: string
  readonly firstByteTimeoutMs: number
  readonly idleTimeoutMs: number
  /** Whether errors with another body than the documented one are made to fit. */
  readonly errors: 'documented' | 'untouched'
  /** What goes on an answer that names no origins itself, as node's flat array. */
  corsFor(origin: string | undefined): readonly string[]
}

/**
 * The engine below (httpxy) is shown this in place of both the request and the response. It asks for little of either, and the many
 * listeners that it attaches to a real one are not needed: that a client leaves is noticed here, once.
 */
export class Passage {
  // What the engine reads of a request. Nothing of the real one is piped: its body is here already, and is written when the way is open.
  readonly method: string
  readonly url = ''
  readonly httpVersionMajor = 1
  readonly socket = { writable: true }
  headers: IncomingHttpHeaders = {}
  // And of a response: the engine hardly looks at it when answers are handled here.
  readonly finished = false

  /** Behind the origin of the live side, with its query. */
  target = ''
  upstream: ClientRequest | undefined
  answer: IncomingMessage | undefined
  outcome: (Outcome & { complete: boolean }) | undefined
  readonly witness: ResponseObserver | undefined
  #isOver = false
  /** Whether the live side has sent all of its answer. */
  #isAnswered = false
  #timer: NodeJS.Timeout | undefined
  /** What a connection that was kept had brought before; nothing of a new one. */
  #broughtBytes: number | undefined
  #openedMs = 0

  constructor(
    readonly journey: Journey,
    readonly manners: Manners,
  ) {
    this.method = journey.exchange.method
    this.witness = journey.witness
    journey.response.once('close', () => this.#clientGone())
    // `close` has already fired.
    if (journey.response.destroyed) this.#clientGone()
  }

  /** The passage is over. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** For the engine. */
  on(): this {
    return this
  }

  /** For the engine. */
  pipe<T>(destination: T): T {
    return destination
  }

  /** For the engine, once it knows that no more will come. */
  get destroyed(): boolean {
    return this.#isOver || this.#isAnswered
  }

  /** For the engine: the answer broke off. */
  destroy(error?: NodeJS.ErrnoException): void {
    this.breaksOff(upstreamUnreachable(error?.code ?? 'its answer broke off'))
  }

  /** From now on the live side has to begin its answer. */
  departs(): void {
    this.#timer = setTimeout(tooLate, this.manners.firstByteTimeoutMs, this)
  }

  /** There is a connection, new or kept. */
  opens(upstream: ClientRequest): void {
    this.upstream = upstream
    this.#broughtBytes = upstream.reusedSocket ? upstream.socket?.bytesRead : undefined
    this.#openedMs = performance.now()
  }

  /**
   * Whether the live side closed a kept connection in the moment in which it was used again, so that the request may go once more, on
   * a new one. Then this has nothing to do with the old one any more. The time for the first byte runs on: the client waits for both.
   */
  turnsBack(error: NodeJS.ErrnoException): boolean {
    const { upstream } = this
    if (this.#isOver || !upstream || this.#broughtBytes === undefined) return false
    // A part of a head, or a hint before it, is of an answer already.
    if (upstream.socket?.bytesRead !== this.#broughtBytes) return false
    if (!mayGoOnceMore(this.journey.exchange, error, performance.now() - this.#openedMs)) return false
    this.upstream = undefined
    upstream.destroy()
    return true
  }

  /** The answer has begun: no more than silence is timed, and every byte ends that. */
  begins(): void {
    clearTimeout(this.#timer)
  }

  /** The answer has begun, and there is more to come. */
  listens(): void {
    this.#timer = setTimeout(tooSilent, this.manners.idleTimeoutMs, this)
  }

  heard(): void {
    this.#timer?.refresh()
  }

  /** All of the answer is there, or as much of it as is waited for. */
  answered(isWhole = true): void {
    this.#isAnswered = true
    clearTimeout(this.#timer)
    this.witness?.end(isWhole)
  }

  /** Nothing has left for the client yet: it gets this error. */
  fail(error: unknown): void {
    if (this.#isOver) return
    this.#ends()
    this.journey.done(error)
  }

  /** There will be no more: the client gets the reason, unless it has a part of the answer already. */
  breaksOff(reason: PlatformError): void {
    if (this.destroyed) return
    if (this.outcome) this.cut()
    else this.fail(reason)
  }

  /** The client has a part of the answer, and notices by the end of its connection that it was only a part. */
  cut(): void {
    const { response } = this.journey
    // Where neither a length nor a frame marks the end of a body, closing the connection would look like its end.
    if (response.chunkedEncoding || this.answer?.headers['content-length'] !== undefined) response.destroy()
    else reset(response)
  }

  /** The response is closed: it has ended, or the client has left. */
  #clientGone(): void {
    if (this.#isOver) return
    if (this.outcome) this.outcome.complete = this.#isAnswered && this.journey.response.writableFinished
    this.#ends()
    this.journey.done()
  }

  #ends(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    // After a complete answer the connection serves other requests by now.
    if (this.#isAnswered) return
    this.upstream?.destroy()
    this.witness?.end(false)
  }
}

function tooLate(passage: Passage): void {
  passage.fail(upstreamTimeout(passage.manners.firstByteTimeoutMs))
}

function tooSilent(passage: Passage): void {
  // A client that reads slowly holds the live platform up: that is not its silence.
  if (passage.journey.response.writableNeedDrain) passage.heard()
  else passage.breaksOff(upstreamTimeout(passage.manners.idleTimeoutMs))
}

// RFC 9110 §9.2.2: a proxy repeats by itself only what is idempotent.
const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/** How a connection ends that the live side has closed while the request was on its way; node's "socket hang up" is the first. */
const closed = new Set(['ECONNRESET', 'EPIPE'])

/** A connection that was closed already answers a request with its reset within one way there and back; later, a model has been at work. */
const AT_ONCE_MS = 1_000

/** Which requests may be sent once more when a kept connection was closed before it carried any of the answer; `afterMs` is how long the request has been on its way. */
const mayGoOnceMore = ({ method, path }: Exchange, { code = '' }: NodeJS.ErrnoException, afterMs: number): boolean =>
  closed.has(code) && (idempotent.has(method) || (afterMs < AT_ONCE_MS && asksModel(method, path)))
