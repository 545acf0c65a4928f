/** One request on its way to the live platform, and the only place that decides how it ended. */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { PlatformError } from '../../core/errors.js'
import type { Exchange, Outcome } from '../../core/exchange.js'
import { headerIn } from '../../core/http.js'
import { reset } from '../../core/outlet.js'
import { asksAnyModel } from '../../core/paths.js'
import type { ResponseObserver } from '../../core/reply.js'
import type { ForwardedCredential } from './credentials.js'

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
  readonly observer?: ResponseObserver | undefined
  /** Called with the error of an observer that throws. It gets only its `end` then. */
  report(error: unknown): void
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

/** How to reach the live platform. */
export interface LiveAddress {
  /** Protocol, host and port. */
  readonly origin: string
  /** How long it may be silent. */
  readonly timeoutMs: number
}

/** Called when a request has failed, before or within its answer. */
export type OnError = (proxied: ProxiedRequest, error: NodeJS.ErrnoException) => void

export class ProxiedRequest {
  headers: IncomingHttpHeaders = {}
  /** The path to request on the live platform, with its query. */
  target = ''
  /** The option that its credential is from; `undefined` if it has none, or the caller's own. */
  credential: ForwardedCredential['option']
  outcome: (Outcome & { complete: boolean }) | undefined
  /** Whether anything of an answer has arrived, even only an informational response. */
  hasAnswerBegun = false
  /** Whether the connection had already served another request, so that the live platform may have closed it as idle. */
  isConnectionKept = false
  /** Does not throw. */
  readonly observer: ResponseObserver | undefined
  /** Whether all of the answer has arrived, if that is known before it has been sent on. What comes after it does not matter. */
  hasWholeAnswer = (): boolean => false
  /** Whether it has ended: no more is sent to the client. */
  isOver = false
  /** Whether the client has left, and only the observer gets the rest of the answer. */
  isReadOn = false
  /** Whether the answer goes on when the client leaves. */
  mayBeReadOn = false
  /** Whether the live platform has sent its whole answer. */
  #isAnswerComplete = false
  #isBrokenOff = false
  #isRetried = false
  #endConnection: (() => void) | undefined
  #connectedMs = 0

  constructor(
    readonly context: ForwardContext,
    readonly settings: ForwardSettings,
  ) {
    const { response, observer, report } = context
    this.observer = observer && guarded(observer, report)
    response.once('close', () => this.#onResponseClose())
    // `close` has already fired.
    if (response.destroyed) this.#onResponseClose()
  }

  /** Whether the request goes to an MCP server. */
  get isMcp(): boolean {
    return this.settings.isMcp?.(this.context.exchange.path) ?? false
  }

  /** Called when there is a connection, new or reused. `end` closes it. */
  setConnection(end: () => void): void {
    this.#endConnection = end
    this.#connectedMs = performance.now()
  }

  /** Returns whether the request may be sent again after this error, on a new connection. True at most once. */
  prepareRetry(error: NodeJS.ErrnoException): boolean {
    if (this.isOver || this.#isRetried || this.hasAnswerBegun) return false
    const { exchange } = this.context
    // A tool call must not be sent twice, and a WebSocket's connection has been ended.
    if (this.isMcp || exchange.isWebSocket) return false
    if (!isClosed(error) || !(isSafe(exchange) || this.#mayHaveBeenIdle())) return false
    this.#isRetried = true
    this.#endConnection = undefined
    return true
  }

  /** Whether the live platform may have closed the connection before it got the request, which may then be sent again. */
  #mayHaveBeenIdle(): boolean {
    const { method, path } = this.context.exchange
    if (!this.isConnectionKept || performance.now() - this.#connectedMs > MOST_RETRY_MS) return false
    return idempotent.has(method) || asksAnyModel(method, path)
  }

  /** Closes the connection, because no more of the answer is wanted. */
  endConnection(): void {
    this.#endConnection?.()
  }

  /** Tells the observer of the head. Returns a sentence if the live platform refuses the credential that was put in here, which is no answer to record. */
  observeHead(status: number, headers: readonly string[], statusText: string | undefined): string | undefined {
    const { credential, observer } = this
    const isRefused = status === 401 && credential !== undefined
    if (isRefused && observer?.refused) observer.refused(`the live platform refused ${credential}`)
    else observer?.head(status, headers, statusText)
    if (!isRefused) return undefined
    return `The live platform refused ${credential}${observer?.refused ? ', so nothing was recorded' : ''}.`
  }

  /** Called when the answer is complete, or when no more of it is awaited. */
  completeAnswer(isComplete = true): void {
    this.#isAnswerComplete = true
    this.isReadOn = false
    this.observer?.end(isComplete)
  }

  /** Sends this error to the client, which has received nothing yet. */
  fail(error: unknown): void {
    if (this.isOver) return
    this.#end()
    this.context.done(error)
  }

  /** Ends an answer of which no more will arrive. The client gets the reason, unless part of the answer was already sent. */
  breakOff(reason: PlatformError): void {
    this.#isBrokenOff = true
    if (this.isReadOn) this.#stopReading(false)
    if (this.isOver || this.#isAnswerComplete || this.hasWholeAnswer()) return
    if (this.outcome) this.#cut()
    else this.fail(reason)
  }

  /** Closes the client's connection in the middle of the answer, which shows that the answer is incomplete. */
  #cut(): void {
    const { request, response } = this.context
    const answer = this.outcome?.answer
    const hasLength = answer?.kind === 'upstream' && headerIn(answer.headers, 'content-length') !== undefined
    // If neither a length nor chunks mark the end of the body, a normal close would look like its end.
    if (request.httpVersion === '1.1' || hasLength) response.destroy()
    else reset(response)
  }

  /** The response is closed: it has ended, or the client has disconnected. */
  #onResponseClose(): void {
    if (this.isOver) return
    const { exchange, response } = this.context
    // A WebSocket does not end with its response.
    if (this.outcome)
      this.outcome.complete = this.#isAnswerComplete && (exchange.isWebSocket === true || response.writableFinished)
    this.#end()
    this.context.done()
  }

  #end(): void {
    this.isOver = true
    // After a complete answer the connection may already serve another request.
    if (this.#isAnswerComplete) return
    const isLeft = !this.#isBrokenOff && this.context.response.destroyed
    if (isLeft && this.mayBeReadOn && this.observer?.left) {
      this.isReadOn = true
      return this.observer.left(() => this.#stopReading(true))
    }
    this.endConnection()
    this.observer?.end(false, isLeft)
  }

  #stopReading(isLeft: boolean): void {
    if (!this.isReadOn) return
    this.isReadOn = false
    this.endConnection()
    this.observer?.end(false, isLeft)
  }
}

/** Whether the request has no effect, however often it arrives. */
const isSafe = ({ method }: Exchange) => method === 'GET' || method === 'HEAD' || method === 'OPTIONS'

// RFC 9110 §9.2.2: a proxy may retry only idempotent requests by itself.
const idempotent = new Set(['PUT', 'DELETE'])

/** Errors for a connection that the live platform closed while the request was being sent: of node, and of undici. */
const closeCodes = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'])

const isClosed = (error: NodeJS.ErrnoException) => closeCodes.has(error.code ?? '') && !isUnreadable(error)

/** Whether what has arrived is not HTTP, as node's and undici's parsers say, or not TLS. */
export const isUnreadable = ({ name, code = '', message }: NodeJS.ErrnoException) =>
  name === 'HTTPParserError' ||
  /^(HPE_|EPROTO$|ERR_SSL_|UND_ERR_HEADERS_OVERFLOW$)/.test(code) ||
  (code === 'UND_ERR_SOCKET' && message.startsWith('bad '))

/**
 * A closed connection answers with a reset within one round trip. If more time than this has passed, a model has
 * probably worked on the request already.
 */
const MOST_RETRY_MS = 1_000

/** Wraps an observer. If it throws, the error is reported, and it then only gets an `end` for an incomplete response. */
function guarded(observer: ResponseObserver, report: (error: unknown) => void): ResponseObserver {
  let failed = false
  let ended = false
  function attempt(call: () => void): void {
    try {
      call()
    } catch (error) {
      failed = true
      report(error)
    }
  }
  return {
    head(...head) {
      if (!failed && !ended) attempt(() => observer.head(...head))
    },
    ...(observer.refused && {
      refused(why) {
        if (!failed && !ended) attempt(() => observer.refused?.(why))
      },
    }),
    bytes(bytes) {
      if (!failed && !ended) attempt(() => observer.bytes(bytes))
    },
    ...(observer.left && {
      left(stop) {
        if (failed || ended) stop()
        else attempt(() => observer.left?.(stop))
      },
    }),
    end(complete, isLeft) {
      if (ended) return
      ended = true
      attempt(() => observer.end(complete && !failed, isLeft))
    },
  }
}
