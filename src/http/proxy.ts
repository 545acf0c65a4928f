/** Forwards requests to the live platform and returns its answers. */
import {
  notFoundWithDots,
  PlatformError,
  upstreamTimeout,
  upstreamUnreachable,
  upstreamUnreadable,
  upstreamUntrusted,
} from '../core/errors.js'
import { once } from '../core/work.js'
import type { ForwardedCredential, LiveCredentials } from './proxy/credentials.js'
import { forwardedHeaders, isTraversal } from './proxy/headers.js'
import { createLiveClient } from './proxy/live-client.js'
import {
  type ForwardContext,
  type ForwardSettings,
  isUnreadable,
  type LiveAddress,
  type OnError,
  ProxiedRequest,
} from './proxy/proxied-request.js'

export { authCredentials, callerCredentials, platformCredentials } from './proxy/credentials.js'

export interface Upstream {
  /** Forwards one request. */
  forward(context: ForwardContext): void
}

export interface ProxyOptions extends ForwardSettings {
  readonly baseUrl: string
  readonly credentials: LiveCredentials
}

/** Sends a proxied request once everything about it is known. */
type Client = (proxied: ProxiedRequest) => void

/** Creates a proxy that forwards to `baseUrl` and nowhere else. */
export function createProxy(options: ProxyOptions): Upstream {
  // The origin is without user name and password, since the journal shows it.
  const { origin, host, pathname } = new URL(options.baseUrl)
  const prefix = pathname.replace(/(?<!\/)\/+$/, '')
  const send = createClient({ origin, timeoutMs: options.timeoutMs })
  const settings = { ...options, baseUrl: origin + prefix }

  function start(proxied: ProxiedRequest, credential: ForwardedCredential): void {
    if (proxied.isOver) return
    addTarget(proxied, credential, { prefix, host })
    // While a body is unread, node does not notice that the client disconnects.
    proxied.context.request.resume()
    send(proxied)
  }

  return {
    forward(context) {
      const proxied = new ProxiedRequest(context, settings)
      // A path with `..` could end up outside the prefix, or outside the auth backend.
      if (isTraversal(context.exchange.path)) return proxied.fail(notFoundWithDots())
      try {
        const credential = options.credentials(context.exchange)
        if (!(credential instanceof Promise)) return start(proxied, credential)
        credential.then(found => start(proxied, found)).catch(error => proxied.fail(error))
      } catch (error) {
        proxied.fail(error)
      }
    },
  }
}

/** Sets the path to request on the live platform, and the headers to send. */
function addTarget(
  proxied: ProxiedRequest,
  { headers, query, option }: ForwardedCredential,
  { prefix, host }: { readonly prefix: string; readonly host: string },
): void {
  const { request, exchange, isUncompressed, observer } = proxied.context
  proxied.credential = option
  proxied.target = prefix + exchange.path + (request.url?.includes('?') ? `?${query ?? exchange.query}` : '')
  proxied.headers = Object.assign(forwardedHeaders(exchange.headers, exchange.body), headers, { host })
  if (exchange.isWebSocket) Object.assign(proxied.headers, { connection: 'Upgrade', upgrade: 'websocket' })
  if (isUncompressed || observer) proxied.headers['accept-encoding'] = 'identity'
}

/** Chooses the client that sends a request. A request that was lost on a closing connection is sent again. */
function createClient(live: LiveAddress): Client {
  const clients = (keepsConnections: boolean) => ({
    documented: createLiveClient(live, { keepsConnections }, retryOrFail),
    other: middlewareClient(live, { keepsConnections }, retryOrFail),
  })
  const onNewConnection = clients(false)
  const onKeptConnection = clients(true)

  function retryOrFail(proxied: ProxiedRequest, error: NodeJS.ErrnoException): void {
    // If the other side has closed one kept connection, it may have closed the others too.
    if (proxied.prepareRetry(error)) sendWith(proxied, onNewConnection)
    else proxied.breakOff(liveError(error, live.timeoutMs))
  }

  function sendWith(proxied: ProxiedRequest, { documented, other }: typeof onKeptConnection): void {
    const { isWebSocket, endpoint } = proxied.context.exchange
    try {
      if (isWebSocket || (endpoint?.isUndocumented && !proxied.isMcp)) other(proxied)
      else documented(proxied)
    } catch (error) {
      proxied.fail(error)
    }
  }

  // A kept connection may be about to close, and these requests are not sent twice.
  return proxied => {
    const isSentOnce = proxied.isMcp || proxied.context.exchange.isWebSocket
    sendWith(proxied, isSentOnce ? onNewConnection : onKeptConnection)
  }
}

/** The client for paths that only the live platform knows, loaded with the first such request. */
function middlewareClient(
  live: LiveAddress,
  options: { readonly keepsConnections: boolean },
  onError: OnError,
): Client {
  const load = once(async () => {
    const { createMiddlewareClient } = await import('./proxy/middleware-client.js')
    return createMiddlewareClient(live, options, onError)
  })
  return proxied => {
    load()
      .then(send => {
        if (!proxied.isOver) send(proxied)
      })
      .catch(error => proxied.fail(error))
  }
}

/** Says why the live platform gave no answer, or not all of it. */
export function liveError(error: NodeJS.ErrnoException, timeoutMs: number): PlatformError {
  // The proxy's.
  if (error instanceof PlatformError) return error
  const { code, message } = error
  if (isUnreadable(error))
    return upstreamUnreadable(code?.startsWith('UND_ERR_S') ? message : (code ?? reasonIn(message)))
  // Undici's own code for a connection that the other side has closed.
  const why = code === 'UND_ERR_SOCKET' ? 'ECONNRESET' : (code ?? message)
  if (timeoutCode.test(why)) return upstreamTimeout(timeoutMs)
  return untrustedCode.test(why) ? upstreamUntrusted(why) : upstreamUnreachable(why)
}

/** Undici's parser gives its reason in brackets. */
const reasonIn = (message: string) => /\(([^(]+)\)$/.exec(message)?.[1] ?? message

/** Undici's codes for a live platform that is silent. */
const timeoutCode = /^UND_ERR_(CONNECT|HEADERS|BODY)_TIMEOUT$/

/** Error codes for a certificate that OpenSSL or node rejects. */
const untrustedCode = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_|^ERR_TLS_CERT/
