/** Sends documented requests to the live platform over kept connections, through the proxy that the environment names. */
import { type Dispatcher, EnvHttpProxyAgent } from 'undici'
import type { LiveAddress, OnError, ProxiedRequest } from './proxied-request.js'
import { type BodySink, sendAnswer } from './send-answer.js'

/**
 * Returns a function that sends a proxied request. HTTP_PROXY, HTTPS_PROXY and NO_PROXY are honoured. Unless
 * connections are kept, each request gets its own.
 */
export function createLiveClient(
  { origin, timeoutMs }: LiveAddress,
  { keepsConnections }: { readonly keepsConnections: boolean },
  onError: OnError,
): (proxied: ProxiedRequest) => void {
  const dispatcher = new EnvHttpProxyAgent({
    connect: { timeout: timeoutMs },
    headersTimeout: timeoutMs,
    // With 0, undici keeps no connection.
    pipelining: keepsConnections ? 1 : 0,
  })
  return proxied => {
    const { headers, target, isMcp, context } = proxied
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
    if (this.proxied.isOver) end()
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
  }

  onResponseData(_controller: Dispatcher.DispatchController, bytes: Buffer): void {
    this.#body?.add(bytes)
  }

  onResponseEnd(): void {
    this.#body?.end()
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.failed(this.proxied, error)
  }
}
