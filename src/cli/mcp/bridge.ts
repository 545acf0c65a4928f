/** Bridges MCP messages between standard input and output and an HTTP server, with or without a session. */
import { setTimeout } from 'node:timers/promises'
import { jsonOf } from '../../core/json.js'
import {
  failureFrame,
  frameFrom,
  isNotification,
  isRequest,
  isResponse,
  notificationFrame,
  type RpcError,
  type RpcFrame,
  type RpcId,
  type RpcRequest,
  rpcCodes,
} from '../../rpc/frames.js'
import { connectionFailure } from '../address.js'
import { messagesIn, ServerConnection } from './connection.js'
import { versionIn } from './headers.js'

interface BridgeParts {
  readonly url: string
  readonly key: string
  readonly write: (message: string) => void
  /** Prints a sentence for the user, outside the stream of messages. */
  readonly report: (sentence: string) => void
}

/** An implementation-defined JSON-RPC error code: the server sent no answer, or no valid message. */
const NO_ANSWER = -32000
/** The pause before the server's own stream is opened again. */
const REOPEN_MS = 1000

interface Call {
  readonly stop: AbortController
  readonly isStateless: boolean
  /** Whether it is a subscription, which does not end by itself. */
  readonly isEndless: boolean
}

export class Bridge {
  /** Resolves when the server has accepted everything that must arrive before the next message. */
  #previous: Promise<unknown> = Promise.resolve()
  readonly #calls = new Map<RpcId, Call>()
  readonly #pending = new Set<Promise<unknown>>()
  readonly #closing = new AbortController()
  readonly #connection: ServerConnection
  #initialize: RpcRequest | undefined
  #renewal: Promise<void> | undefined

  constructor(private readonly parts: BridgeParts) {
    this.#connection = new ServerConnection(parts)
  }

  /** Forwards the messages in a line of standard input. */
  receiveLine(line: string): void {
    if (line.trim() === '') return
    const value = jsonOf(line)
    try {
      for (const frame of (Array.isArray(value) ? value : [value]).map(frameFrom)) this.#forward(frame)
    } catch (error) {
      const { message } = error as RpcError
      const code = value === undefined ? rpcCodes.parse : rpcCodes.invalidRequest
      this.#write(failureFrame(null, { code, message: value === undefined ? 'The line is not JSON.' : message }))
    }
  }

  /** Resolves when all calls are answered and the session is closed. */
  async end(): Promise<void> {
    await this.#previous
    for (const { stop, isEndless } of this.#calls.values()) if (isEndless) stop.abort()
    await Promise.all([...this.#pending])
    this.#closing.abort()
    if (this.#connection.session !== undefined) await this.#connection.send('DELETE').catch(() => {})
  }

  #write(frame: unknown): void {
    this.parts.write(JSON.stringify(frame))
  }

  #forward(frame: RpcFrame): void {
    if (this.#cancelsCall(frame)) return
    const done = this.#previous.then(() => this.#send(frame)).catch(error => this.#reportFailure(frame, error))
    // Calls run concurrently; everything else is sent in order.
    if (!isRequest(frame) || frame.method === 'initialize') this.#previous = done
    this.#pending.add(done)
    void done.then(() => this.#pending.delete(done))
  }

  /** Without a session, a call is cancelled by closing its connection (specification 2026-07-28, "Cancellation"). */
  #cancelsCall(frame: RpcFrame): boolean {
    if (!isNotification(frame) || frame.method !== 'notifications/cancelled') return false
    const call = this.#calls.get(frame.params?.requestId as RpcId)
    if (!call?.isStateless) return false
    call.stop.abort()
    return true
  }

  async #send(frame: RpcFrame): Promise<void> {
    const stop = new AbortController()
    if (isRequest(frame)) {
      const isEndless = frame.method === 'subscriptions/listen'
      this.#calls.set(frame.id, { stop, isStateless: versionIn(frame) !== undefined, isEndless })
      if (frame.method === 'initialize') this.#startSession(frame)
    }
    try {
      const response = await this.#post(frame, stop.signal)
      await this.#receive(response, frame, stop.signal)
    } finally {
      if (isRequest(frame)) this.#calls.delete(frame.id)
    }
    if (isNotification(frame) && frame.method === 'notifications/initialized') void this.#listen()
  }

  #startSession(frame: RpcRequest): void {
    this.#initialize = frame
    this.#connection.reset()
  }

  /** If the server has lost the session in a restart, opens a new one, without the client noticing. */
  async #post(frame: RpcFrame, signal: AbortSignal): Promise<Response> {
    const { session } = this.#connection
    const response = await this.#connection.send('POST', { frame, signal })
    if (response.status !== 404 || session === undefined || frame === this.#initialize) return response
    await response.body?.cancel()
    // Another call may already have opened one.
    if (this.#connection.session === session) this.#renewal = this.#renewSession()
    await this.#renewal
    return this.#connection.send('POST', { frame, signal })
  }

  async #renewSession(): Promise<void> {
    const frame = this.#initialize
    if (!frame) return
    this.#startSession(frame)
    const response = await this.#connection.send('POST', { frame })
    this.#connection.keepSession(response)
    for await (const message of messagesIn(response)) this.#connection.keepVersion(message)
    await this.#connection.send('POST', { frame: notificationFrame('notifications/initialized') })
    void this.#listen()
  }

  async #receive(response: Response, frame: RpcFrame, signal: AbortSignal): Promise<void> {
    this.#connection.keepSession(response)
    const isFirst = frame === this.#initialize
    const listsTools = isRequest(frame) && frame.method === 'tools/list'
    let isAnswered = !isRequest(frame)
    let lastId: string | undefined
    let resumedFrom: string | undefined
    for (let next: Response | undefined = response; next; ) {
      for await (const message of messagesIn(next, id => (lastId = id))) {
        if (isFirst) this.#connection.keepVersion(message)
        if (listsTools) this.#connection.keepSchemas(message)
        const received = isRequest(frame) ? withRequestId(message, frame.id) : message
        if (isRequest(frame) && isAnswerTo(received, frame.id)) isAnswered = true
        this.#write(received)
      }
      // A server may close a stream before the answer and wait for the client to resume it.
      const mayResume: boolean = !isAnswered && lastId !== resumedFrom
      resumedFrom = lastId
      next = mayResume ? await this.#connection.send('GET', { lastId, signal }) : undefined
    }
    if (isAnswered && (response.ok || isRequest(frame))) return
    throw new Error(await this.#failureText(response))
  }

  async #failureText(response: Response): Promise<string> {
    if (response.ok) return `${this.parts.url} ended its answer too early.`
    const body = response.bodyUsed ? undefined : jsonOf(await response.text().catch(() => ''))
    const { error } = (body ?? {}) as { readonly error?: unknown }
    return `${this.parts.url} refused the message (${response.status})${typeof error === 'string' ? `: ${error}` : '.'}`
  }

  /** Reads the server's own stream, which carries messages outside of calls. Not every server has one. */
  async #listen(): Promise<void> {
    let lastId: string | undefined
    const session = this.#connection.session
    const { signal } = this.#closing
    while (session !== undefined && session === this.#connection.session && !signal.aborted) {
      try {
        const response = await this.#connection.send('GET', { lastId, signal })
        if (!response.ok) return
        for await (const message of messagesIn(response, id => (lastId = id))) this.#write(message)
      } catch {
        // The connection was lost.
      }
      await setTimeout(REOPEN_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #reportFailure(frame: RpcFrame, error: Error): void {
    if (error.name === 'AbortError') return
    const isLost = error.cause !== undefined
    const message = isLost
      ? `${this.parts.url} does not answer (${connectionFailure(error)}). Is Standin running?`
      : error.message
    if (isRequest(frame)) this.#write(failureFrame(frame.id, { code: NO_ANSWER, message }))
    else this.parts.report(message)
  }
}

const isAnswerTo = (message: unknown, id: RpcId): boolean =>
  [message].flat().some(one => isResponse(one as RpcFrame) && (one as { readonly id?: unknown }).id === id)

/** Adds the id to an error without one, with which a server responds if it cannot read the id of a message. */
const withRequestId = (message: unknown, id: RpcId): unknown => {
  const refusal = message as { readonly error?: unknown; readonly id?: unknown }
  return refusal.error !== undefined && (refusal.id ?? null) === null ? { ...refusal, id } : message
}
