/** Sends documented requests to the live platform with undici. */
import type { Dispatcher } from 'undici'
import { createDispatcher, wasKept } from '../../outgoing/dispatcher.js'
import type { LiveAddress, OnError, ProxiedRequest } from './proxied-request.js'
import { type BodySink, sendAnswer } from './send-answer.js'

/** Returns a function that sends a proxied request. Unless connections are kept, each request gets its own. */
export function createLiveClient(
  { origin, timeoutMs }: LiveAddress,
  { keepsConnections }: { readonly keepsConnections: boolean },
  onError: OnError,
): (proxied: ProxiedRequest) => void {
  const dispatcher = createDispatcher(origin, { timeoutMs, keepsConnections })
  return proxied => {
    const { headers, target, isMcp, context } = proxied
    proxied.mayBeReadOn = true
    const { method, body = null } = context.exchange
    dispatcher.dispatch(
      {
        origin,
        headers,
        path: target === '' ? '/' : target,
        method: method as Dispatcher.HttpMethod,
        body,
        // MCP streams may be silent for hours.
        bodyTimeout: isMcp ? 0 : timeoutMs,
      },
      new AnswerHandler(proxied, onError),
    )
  }
}

/** Passes an answer on as it arrives. */
class AnswerHandler implements Dispatcher.DispatchHandler {
  #body: BodySink | undefined

  constructor(
    readonly proxied: ProxiedRequest,
    readonly failed: OnError,
  ) {}

  onRequestStart(controller: Dispatcher.DispatchController): void {
    const end = () => controller.abort(new Error('The answer is no longer wanted.'))
    if (this.proxied.isOver && !this.proxied.isReadOn) end()
    else this.proxied.setConnection(end)
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    _headers: unknown,
    statusText?: string,
  ): void {
    this.proxied.hasAnswerBegun = true
    // An informational response. The answer follows.
    if (status < 200) return
    const headers = (controller.rawHeaders as Buffer[]).map(bytes => bytes.toString('latin1'))
    this.#body = sendAnswer(this.proxied, { status, statusText, headers }, controller)
    // Undici waits for the body that a length announces, but these have none (RFC 9110 §6.4.1).
    if (status === 204 || status === 304) this.onResponseEnd()
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#body?.add(bytes)
  }

  onResponseEnd(): void {
    this.#body?.end()
    this.#body = undefined
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.proxied.isConnectionKept = wasKept(error)
    this.failed(this.proxied, error)
  }
}
