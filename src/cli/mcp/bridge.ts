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
import { whyLost } from '../address.js'
import { versionIn } from './headers.js'
import { LiveServer, messagesIn } from './server.js'

interface BridgeParts {
  readonly url: string
  readonly key: string
  readonly write: (message: string) => void
  /** Reports output that is not a message. */
  readonly say: (sentence: string) => void
}

/** An implementation-defined JSON-RPC error code: the server sent no answer, or no valid message. */
const NO_ANSWER = -32000
/** How long to wait before the server's own stream is opened again. */
const AGAIN_MS = 1000

interface Call {
  readonly stop: AbortController
  readonly isStateless: boolean
  /** Whether it is a subscription, which does not end by itself. */
  readonly isEndless: boolean
}

export class Bridge {
  /** Resolves when the server has accepted everything that must arrive before the next message. */
  #before: Promise<unknown> = Promise.resolve()
  readonly #calls = new Map<RpcId, Call>()
  readonly #open = new Set<Promise<unknown>>()
  readonly #ending = new AbortController()
  readonly #server: LiveServer
  #initialize: RpcRequest | undefined
  #renewed: Promise<void> | undefined

  constructor(private readonly parts: BridgeParts) {
    this.#server = new LiveServer(parts)
  }

  take(line: string): void {
    if (line.trim() === '') return
    const value = jsonOf(line)
    try {
      for (const frame of (Array.isArray(value) ? value : [value]).map(frameFrom)) this.#carry(frame)
    } catch (error) {
      const { message } = error as RpcError
      const code = value === undefined ? rpcCodes.parse : rpcCodes.invalidRequest
      this.#answer(failureFrame(null, { code, message: value === undefined ? 'This is no JSON.' : message }))
    }
  }

  /** Resolves when all calls are answered and the session is closed. */
  async end(): Promise<void> {
    await this.#before
    for (const { stop, isEndless } of this.#calls.values()) if (isEndless) stop.abort()
    await Promise.all([...this.#open])
    this.#ending.abort()
    if (this.#server.session !== undefined) await this.#server.ask('DELETE').catch(() => {})
  }

  #answer(frame: unknown): void {
    this.parts.write(JSON.stringify(frame))
  }

  #carry(frame: RpcFrame): void {
    if (this.#isCancelled(frame)) return
    const done = this.#before.then(() => this.#send(frame)).catch(error => this.#failed(frame, error))
    // Calls run concurrently; everything else is sent in order.
    if (!isRequest(frame) || frame.method === 'initialize') this.#before = done
    this.#open.add(done)
    void done.then(() => this.#open.delete(done))
  }

  /** Without a session, a call is cancelled by closing its connection (specification 2026-07-28, "Cancellation"). */
  #isCancelled(frame: RpcFrame): boolean {
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
      if (frame.method === 'initialize') this.#begin(frame)
    }
    try {
      const response = await this.#post(frame, stop.signal)
      await this.#receive(response, frame, stop.signal)
    } finally {
      if (isRequest(frame)) this.#calls.delete(frame.id)
    }
    if (isNotification(frame) && frame.method === 'notifications/initialized') void this.#listen()
  }

  #begin(frame: RpcRequest): void {
    this.#initialize = frame
    this.#server.forget()
  }

  /** A restarted server has lost the session. A new one is opened without the client noticing. */
  async #post(frame: RpcFrame, signal: AbortSignal): Promise<Response> {
    const { session } = this.#server
    const response = await this.#server.ask('POST', { frame, signal })
    if (response.status !== 404 || session === undefined || frame === this.#initialize) return response
    await response.body?.cancel()
    // Another call may already have opened one.
    if (this.#server.session === session) this.#renewed = this.#renew()
    await this.#renewed
    return this.#server.ask('POST', { frame, signal })
  }

  async #renew(): Promise<void> {
    const frame = this.#initialize
    if (!frame) return
    this.#begin(frame)
    const opened = await this.#server.ask('POST', { frame })
    this.#server.keepSession(opened)
    for await (const message of messagesIn(opened)) this.#server.keepVersion(message)
    await this.#server.ask('POST', { frame: notificationFrame('notifications/initialized') })
    void this.#listen()
  }

  async #receive(response: Response, frame: RpcFrame, signal: AbortSignal): Promise<void> {
    this.#server.keepSession(response)
    const isFirst = frame === this.#initialize
    const listsTools = isRequest(frame) && frame.method === 'tools/list'
    let isAnswered = !isRequest(frame)
    let lastId: string | undefined
    let resumedFrom: string | undefined
    for (let next: Response | undefined = response; next; ) {
      for await (const message of messagesIn(next, id => (lastId = id))) {
        if (isFirst) this.#server.keepVersion(message)
        if (listsTools) this.#server.keepTools(message)
        const own = isRequest(frame) ? underId(message, frame.id) : message
        if (isRequest(frame) && answers(own, frame.id)) isAnswered = true
        this.#answer(own)
      }
      // A server may close a stream before the answer and wait for the client to resume it.
      const mayResume: boolean = !isAnswered && lastId !== resumedFrom
      resumedFrom = lastId
      next = mayResume ? await this.#server.ask('GET', { lastId, signal }) : undefined
    }
    if (isAnswered && (response.ok || isRequest(frame))) return
    throw new Error(await this.#reasonOf(response))
  }

  async #reasonOf(response: Response): Promise<string> {
    if (response.ok) return `${this.parts.url} ended its answer too early.`
    const body = response.bodyUsed ? undefined : jsonOf(await response.text().catch(() => ''))
    const { error } = (body ?? {}) as { readonly error?: unknown }
    return `${this.parts.url} refuses it (${response.status})${typeof error === 'string' ? `: ${error}` : '.'}`
  }

  /** Reads the server's own stream, which carries messages outside of calls. Not every server has one. */
  async #listen(): Promise<void> {
    let lastId: string | undefined
    const session = this.#server.session
    const { signal } = this.#ending
    while (session !== undefined && session === this.#server.session && !signal.aborted) {
      try {
        const response = await this.#server.ask('GET', { lastId, signal })
        if (!response.ok) return
        for await (const message of messagesIn(response, id => (lastId = id))) this.#answer(message)
      } catch {
        // The connection was lost.
      }
      await setTimeout(AGAIN_MS, undefined, { signal, ref: false }).catch(() => {})
    }
  }

  #failed(frame: RpcFrame, error: Error): void {
    if (error.name === 'AbortError') return
    const isLost = error.cause !== undefined
    const message = isLost
      ? `${this.parts.url} does not answer (${whyLost(error)}). Is Standin running?`
      : error.message
    if (isRequest(frame)) this.#answer(failureFrame(frame.id, { code: NO_ANSWER, message }))
    else this.parts.say(message)
  }
}

const answers = (message: unknown, id: RpcId): boolean =>
  [message].flat().some(one => isResponse(one as RpcFrame) && (one as { readonly id?: unknown }).id === id)

/** A server that cannot read the id of a message responds with an error without one. */
const underId = (message: unknown, id: RpcId): unknown => {
  const refusal = message as { readonly error?: unknown; readonly id?: unknown }
  return refusal.error !== undefined && (refusal.id ?? null) === null ? { ...refusal, id } : message
}
