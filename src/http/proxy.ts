/** Forwards requests to the live platform and returns its answers. */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { notFoundWithDots, upstreamUnreachable, upstreamUnreadable, upstreamUntrusted } from '../core/errors.js'
import { once } from '../core/work.js'
import type { ForwardedCredential, LiveCredentials } from './proxy/credentials.js'
import { forwardedHeaders } from './proxy/headers.js'
import { createKeepAliveClient } from './proxy/keep-alive-client.js'
import { MOST_IDLE_MS } from './proxy/keep-alive-connection.js'
import type { LiveAddress, LiveAnswer } from './proxy/live-answer.js'
import { isTraversal } from './proxy/path-traversal.js'
import { type ForwardContext, type ForwardSettings, ProxiedRequest } from './proxy/proxied-request.js'
import { sendAnswer } from './proxy/send-answer.js'
import { joinWebSocket } from './proxy/websocket.js'

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
  const { protocol, host, hostname, port, pathname } = new URL(options.baseUrl)
  const prefix = pathname.replace(/\/+$/, '')
  // A URL has an IPv6 address in brackets; connecting needs it without them.
  const send = createClient({ protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port })
  // The URL that the journal shows, without user name and password.
  const settings = { ...options, baseUrl: `${protocol}//${host}${prefix}` }

  function start(proxied: ProxiedRequest, credential: ForwardedCredential): void {
    if (proxied.isOver) return
    addTarget(proxied, credential, { prefix, host })
    proxied.startFirstByteTimer()
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
        start(proxied, options.credentials(context.exchange))
      } catch (error) {
        proxied.fail(error)
      }
    },
  }
}

/** Sets the path to request on the live platform, and the headers to send. */
function addTarget(
  proxied: ProxiedRequest,
  { headers, query }: ForwardedCredential,
  { prefix, host }: { readonly prefix: string; readonly host: string },
): void {
  const { request, exchange, isUncompressed, observer } = proxied.context
  proxied.target = prefix + exchange.path + (request.url?.includes('?') ? `?${query ?? exchange.query}` : '')
  proxied.headers = Object.assign(forwardedHeaders(exchange.headers, exchange.body), headers, { host })
  if (exchange.isWebSocket) Object.assign(proxied.headers, { connection: 'Upgrade', upgrade: 'websocket' })
  if (isUncompressed || observer) proxied.headers['accept-encoding'] = 'identity'
}

/** Chooses the client that sends a request. A request that was lost on a closing connection is sent again. */
function createClient(live: LiveAddress): Client {
  const Agent = live.protocol === 'https:' ? HttpsAgent : HttpAgent
  // Idle connections time out. Nothing else would close those of a proxy that a reload has replaced.
  const keepAliveAgent = new Agent({ keepAlive: true, timeout: MOST_IDLE_MS })
  // If the other side has closed one open connection, it may have closed the others too.
  const newAgent = new Agent({ keepAlive: false })
  const onNewConnection = {
    direct: directClient(live, newAgent, retryOrFail),
    middleware: middlewareClient(live, newAgent, retryOrFail),
  }
  const onOpenConnection = {
    direct: keepAliveClient(live, keepAliveAgent, retryOrFail),
    middleware: middlewareClient(live, keepAliveAgent, retryOrFail),
  }

  function retryOrFail(proxied: ProxiedRequest, error: NodeJS.ErrnoException): void {
    if (proxied.prepareRetry(error)) return sendWith(proxied, onNewConnection)
    // After a complete answer, the error may concern what follows on the connection. This has to be checked here: a
    // body that ends with the connection looks complete after a reset too.
    if (!proxied.answer?.complete) proxied.breakOff(errorFor(error))
  }

  function sendWith(proxied: ProxiedRequest, { direct, middleware }: typeof onOpenConnection): void {
    const { isWebSocket, endpoint } = proxied.context.exchange
    try {
      if (isWebSocket) onNewConnection.direct(proxied)
      else if (endpoint?.isUndocumented) middleware(proxied)
      else direct(proxied)
    } catch (error) {
      proxied.fail(error)
    }
  }

  // An open connection may be about to close, and a tool call must not be sent twice.
  return proxied => sendWith(proxied, proxied.isMcp ? onNewConnection : onOpenConnection)
}

type OnError = (proxied: ProxiedRequest, error: NodeJS.ErrnoException) => void

/**
 * Node's own client. Used for requests that need a new connection, and for WebSockets, because http-proxy-middleware
 * would write the live platform's refusal to the connection itself.
 */
function directClient({ protocol, hostname, port }: LiveAddress, agent: HttpAgent, failed: OnError): Client {
  const send = protocol === 'https:' ? httpsRequest : httpRequest
  const options = { hostname, port, agent }
  return proxied => {
    const { method, headers, target } = proxied
    const upstream = send({ ...options, method, headers, path: target === '' ? '/' : target })
    upstream.once('socket', () => onConnected(proxied, upstream))
    upstream.once('response', answer => {
      // The answer broke off.
      answer.once('error', error => proxied.destroy(error))
      onResponse(proxied, answer)
    })
    if (proxied.context.exchange.isWebSocket) {
      upstream.once('upgrade', (answer, socket, early) => joinWebSocket(proxied, answer, socket, early))
    }
    upstream.on('error', error => failed(proxied, error))
  }
}

/** Our own client, for documented paths. Node's client sends the requests that ours cannot. */
function keepAliveClient(live: LiveAddress, agent: HttpAgent, onError: OnError): Client {
  const sendWithNode = directClient(live, agent, onError)
  const onAnswer = (proxied: ProxiedRequest, answer: LiveAnswer) => {
    beginAnswer(proxied, answer)
    sendAnswer(proxied)
  }
  const send = createKeepAliveClient(live, { onAnswer, onError })
  return proxied => {
    if (!send(proxied)) sendWithNode(proxied)
  }
}

/** The client for paths that only the live platform knows, loaded with the first such request. */
function middlewareClient(live: LiveAddress, agent: HttpAgent, onError: OnError): Client {
  const load = once(async () => {
    const { createMiddlewareClient } = await import('./proxy/middleware-client.js')
    return createMiddlewareClient({ ...live, agent }, { onConnected, onResponse, onError })
  })
  return proxied => {
    load()
      .then(send => {
        if (!proxied.isOver) send(proxied)
      })
      .catch(error => proxied.fail(error))
  }
}

/** Sends the body on a connection, new or reused, and handles its end. */
function onConnected(proxied: ProxiedRequest, upstream: ClientRequest): void {
  proxied.setConnection(upstream)
  // The client disconnected before there was a connection.
  if (proxied.isOver) return void upstream.destroy()
  // For connections that end without an answer and without an error, such as an unrequested protocol upgrade.
  upstream.once('close', () => {
    if (!proxied.answer && proxied.upstream === upstream) proxied.fail(errorFor(new Error('no answer')))
  })
  // The body's original bytes. The request itself has been read to its end.
  upstream.end(proxied.context.exchange.body)
}

function beginAnswer(proxied: ProxiedRequest, answer: LiveAnswer): void {
  proxied.answer = answer
  proxied.stopFirstByteTimer()
}

function onResponse(proxied: ProxiedRequest, answer: IncomingMessage): void {
  beginAnswer(proxied, answer)
  // In this turn, node is still reading what arrived together with the head.
  process.nextTick(sendAnswer, proxied)
}

function errorFor({ code, message }: NodeJS.ErrnoException) {
  const why = code ?? message
  if (untrustedCode.test(why)) return upstreamUntrusted(why)
  return unreadableCode.test(why) ? upstreamUnreadable(why) : upstreamUnreachable(why)
}

/** Error codes for an answer that is not HTTP (node's parser) or not TLS (OpenSSL). */
const unreadableCode = /^(HPE_|EPROTO$|ERR_SSL_)/

/** Error codes for a certificate that OpenSSL or node rejects. */
const untrustedCode = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_|^ERR_TLS_CERT/
