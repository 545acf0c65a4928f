/** One request on its way to the live platform, and the only place that decides how it ended. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import { type PlatformError, upstreamTimeout, upstreamUnreachable } from '../../core/errors.js'
import type { Exchange, Outcome, ResponseObserver } from '../../core/exchange.js'
import { callsModel } from '../../core/paths.js'
import { reset } from '../damage-response.js'
import { writerOf } from '../writer.js'
import type { LiveAnswer, LiveRequest } from './live-answer.js'

/** What to forward, and how. */
export interface ForwardContext {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly exchange: Exchange
  /**
   * Headers that replace live ones of the same name on the answer, as node's flat array. Called when the answer
   * has arrived.
   */
  readonly ownHeaders?: (() => readonly string[]) | undefined
  /** Whether the answer must not be compressed, because it has to be readable here. An observer requires that too. */
  readonly isUncompressed?: boolean
  /** The file of the recording that is being made. */
  readonly recordedAs?: string | undefined
  /** Must not throw. `guardObserver` of line.ts makes sure of that. */
  readonly observer?: ResponseObserver | undefined
  /**
   * Called once: with an error if nothing was sent to the client yet, without one when the answer was sent or cut off.
   * The exchange's outcome says which.
   */
  done(error?: unknown): void
}

export interface ForwardSettings {
  /** The live platform's URL. */
  readonly baseUrl: string
  /** How long the live platform may be silent, before its first byte or within a stream. */
  readonly timeoutMs: number
  /** Whether live errors with an undocumented body are changed to the documented form. */
  readonly errors: 'documented' | 'untouched'
  /**
   * Whether an MCP server is at a path. MCP errors have their own form, and MCP streams may be silent for hours.
   */
  readonly isMcp?: ((path: string) => boolean) | undefined
  /** CORS headers for an answer that has none of its own, as node's flat array. */
  corsFor(origin: string | undefined): readonly string[]
}

/**
 * One request to the live platform. It is passed to httpxy, on which http-proxy-middleware is built, in place of both
 * the request and the response. httpxy uses little of either, and the many listeners that it would attach to real ones
 * are not needed, because this class itself notices when the client disconnects.
 */
export class ProxiedRequest {
  // The fields of a request that httpxy reads. Nothing is piped, because the body was already read; it is written once
  // there is a connection.
  readonly method: string
  readonly url = ''
  readonly httpVersionMajor = 1
  readonly socket = { writable: true }
  headers: IncomingHttpHeaders = {}
  // The field of a response that httpxy reads. Answers are handled here.
  readonly finished = false

  /** The path to request on the live platform, with its query. */
  target = ''
  upstream: LiveRequest | undefined
  answer: LiveAnswer | undefined
  outcome: (Outcome & { complete: boolean }) | undefined
  readonly observer: ResponseObserver | undefined
  #isOver = false
  /** Whether the live platform has sent its whole answer. */
  #isAnswerComplete = false
  #timer: NodeJS.Timeout | undefined
  /** The number of bytes that a reused connection had received before this request; `undefined` for a new one. */
  #earlierBytes: number | undefined
  #connectedMs = 0

  constructor(
    readonly context: ForwardContext,
    readonly settings: ForwardSettings,
  ) {
    this.method = context.exchange.method
    this.observer = context.observer
    context.response.once('close', () => this.#onResponseClose())
    // `close` has already fired.
    if (context.response.destroyed) this.#onResponseClose()
  }

  /** Whether it has ended: no more is sent to the client. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** Whether the request goes to an MCP server. */
  get isMcp(): boolean {
    return this.settings.isMcp?.(this.context.exchange.path) ?? false
  }

  /** For httpxy. */
  on(): this {
    return this
  }

  /** For httpxy. */
  pipe<T>(destination: T): T {
    return destination
  }

  /** For httpxy: whether no more will arrive. */
  get destroyed(): boolean {
    return this.#isOver || this.#isAnswerComplete
  }

  /** For httpxy: the answer broke off. */
  destroy(error?: NodeJS.ErrnoException): void {
    this.breakOff(upstreamUnreachable(error?.code ?? 'its answer broke off'))
  }

  /** Starts the timeout for the first byte of the answer. */
  startFirstByteTimer(): void {
    this.#timer = setTimeout(failFirstByte, this.settings.timeoutMs, this)
  }

  /** Called when there is a connection, new or reused. */
  setConnection(upstream: LiveRequest): void {
    this.upstream = upstream
    this.#earlierBytes = upstream.reusedSocket ? upstream.socket?.bytesRead : undefined
    this.#connectedMs = performance.now()
  }

  /**
   * Returns whether the live platform closed a reused connection just when the request was sent, so that the request
   * may be sent again on a new one. If so, forgets the old connection. The timeout for the first byte keeps running,
   * since it is the client's whole wait.
   */
  prepareRetry(error: NodeJS.ErrnoException): boolean {
    const { upstream } = this
    if (this.#isOver || !upstream || this.#earlierBytes === undefined) return false
    // Part of a head, or an informational response, already belongs to an answer.
    if (upstream.socket?.bytesRead !== this.#earlierBytes) return false
    if (!mayRetry(this.context.exchange, error, performance.now() - this.#connectedMs)) return false
    this.upstream = undefined
    upstream.destroy()
    return true
  }

  /** Called when the answer begins. */
  stopFirstByteTimer(): void {
    clearTimeout(this.#timer)
  }

  /** Starts the timeout for silence within an answer. Callers restart it with each chunk. */
  startIdleTimer(): void {
    if (this.isMcp) return
    this.#timer = setTimeout(failIdle, this.settings.timeoutMs, this)
  }

  restartTimer(): void {
    this.#timer?.refresh()
  }

  /** Called when the answer is complete, or when no more of it is awaited. */
  completeAnswer(isComplete = true): void {
    this.#isAnswerComplete = true
    clearTimeout(this.#timer)
    this.observer?.end(isComplete)
  }

  /** Sends this error to the client, which has received nothing yet. */
  fail(error: unknown): void {
    if (this.#isOver) return
    this.#end()
    this.context.done(error)
  }

  /** Ends an answer of which no more will arrive. The client gets the reason, unless part of the answer was already sent. */
  breakOff(reason: PlatformError): void {
    if (this.destroyed) return
    if (this.outcome) this.cut()
    else this.fail(reason)
  }

  /** Closes the client's connection in the middle of the answer, which shows that the answer is incomplete. */
  cut(): void {
    const { request, response } = this.context
    // If neither a length nor chunks mark the end of the body, a normal close would look like its end.
    if (request.httpVersion === '1.1' || this.answer?.headers['content-length'] !== undefined) response.destroy()
    else reset(response)
  }

  /** The response is closed: it has ended, or the client has disconnected. */
  #onResponseClose(): void {
    if (this.#isOver) return
    if (this.outcome) this.outcome.complete = this.#isAnswerComplete && this.context.response.writableFinished
    this.#end()
    this.context.done()
  }

  #end(): void {
    this.#isOver = true
    clearTimeout(this.#timer)
    // After a complete answer the connection may already serve another request.
    if (this.#isAnswerComplete) return
    this.upstream?.destroy()
    this.observer?.end(false)
  }
}

function failFirstByte(proxied: ProxiedRequest): void {
  proxied.fail(upstreamTimeout(proxied.settings.timeoutMs))
}

function failIdle(proxied: ProxiedRequest): void {
  // The client reads slowly and so holds up the live platform. That does not count as silence.
  if (writerOf(proxied.context.response).writableNeedDrain) proxied.restartTimer()
  else proxied.breakOff(upstreamTimeout(proxied.settings.timeoutMs))
}

// RFC 9110 §9.2.2: a proxy may retry only idempotent requests by itself.
const idempotent = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/**
 * Errors for a connection that the live platform closed while the request was being sent. Node's "socket hang up" is
 * ECONNRESET.
 */
const closeCodes = new Set(['ECONNRESET', 'EPIPE'])

/**
 * A closed connection answers with a reset within one round trip. If more time than this has passed, a model has
 * probably worked on the request already.
 */
const MOST_RETRY_MS = 1_000

/**
 * Which requests may be retried when a kept connection was closed before any of the answer arrived. `afterMs` is the
 * time since the request was sent.
 */
const mayRetry = ({ method, path }: Exchange, { code = '' }: NodeJS.ErrnoException, afterMs: number): boolean =>
  closeCodes.has(code) && (idempotent.has(method) || (afterMs < MOST_RETRY_MS && callsModel(method, path)))
