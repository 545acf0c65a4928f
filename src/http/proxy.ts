/** Forwards requests to the live platform and returns its answers. */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import {
  hasNoDescriptor,
  noFileDescriptors,
  notFoundWithDots,
  upstreamUnreachable,
  upstreamUnreadable,
  upstreamUntrusted,
} from '../core/errors.js'
import { onceLoaded } from '../core/work.js'
import { climbs } from './proxy/climbing.js'
import type { LiveCredentials, ShownCredential } from './proxy/credentials.js'
import { endWith } from './proxy/end-with.js'
import { outgoing } from './proxy/headers.js'
import { createKeptClient } from './proxy/kept-client.js'
import { MOST_REST_MS } from './proxy/kept-connection.js'
import type { LiveAddress, LiveAnswer } from './proxy/live-answer.js'
import { type ForwardContext, type ForwardSettings, ProxiedRequest } from './proxy/proxied-request.js'
import { sendAnswer } from './proxy/send-answer.js'
import { joinWebSocket } from './proxy/websocket.js'

export { authCredentials, callersOwn, platformCredentials } from './proxy/credentials.js'

export interface Upstream {
  /** Forwards one request. */
  forward(context: ForwardContext): void
}

export interface ProxyOptions extends ForwardSettings {
  readonly baseUrl: string
  readonly credentials: LiveCredentials
  /** Whether untrusted certificates are accepted. */
  readonly insecure: boolean
}

/** Sends a proxied request once everything about it is known. */
type Client = (proxied: ProxiedRequest) => void

/** Creates a proxy that forwards to `baseUrl` and nowhere else. */
export function createProxy(options: ProxyOptions): Upstream {
  const { protocol, host, hostname, port, pathname } = new URL(options.baseUrl)
  const prefix = pathname.replace(/\/+$/, '')
  // A URL has an IPv6 address in brackets; connecting needs it without them.
  const address = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port }
  const send = createSender({ ...address, secure: !options.insecure })
  // The URL that the journal shows, without user name and password.
  const settings = { ...options, baseUrl: `${protocol}//${host}${prefix}` }

  function start(proxied: ProxiedRequest, shown: ShownCredential): void {
    if (proxied.isOver) return
    addTarget(proxied, shown, { prefix, host })
    proxied.awaitAnswer()
    // While a body is unread, node does not notice that the client disconnects.
    proxied.context.request.resume()
    send(proxied)
  }

  return {
    forward(context) {
      const proxied = new ProxiedRequest(context, settings)
      // A path with `..` could end up outside the prefix, or outside the auth backend.
      if (climbs(context.exchange.path)) return proxied.fail(notFoundWithDots())
      try {
        const shown = options.credentials(context.exchange)
        if (!(shown instanceof Promise)) return start(proxied, shown)
        shown.then(found => start(proxied, found)).catch(error => proxied.fail(error))
      } catch (error) {
        proxied.fail(error)
      }
    },
  }
}

/** Sets the path to request on the live platform, and the headers to send. */
function addTarget(
  proxied: ProxiedRequest,
  { headers, query }: ShownCredential,
  { prefix, host }: { readonly prefix: string; readonly host: string },
): void {
  const { request, exchange, isPlain, observer } = proxied.context
  proxied.target = prefix + exchange.path + (request.url?.includes('?') ? `?${query ?? exchange.query}` : '')
  proxied.headers = Object.assign(outgoing(exchange.headers, exchange.body), headers, { host })
  if (exchange.isWebSocket) Object.assign(proxied.headers, { connection: 'Upgrade', upgrade: 'websocket' })
  if (isPlain || observer) proxied.headers['accept-encoding'] = 'identity'
}

/** Chooses the client that sends a request, and retries a request that a closing connection has lost. */
function createSender(live: LiveAddress): Client {
  const Agent = live.protocol === 'https:' ? HttpsAgent : HttpAgent
  // Idle connections time out. Nothing else would close those of a proxy that a reload has replaced.
  const kept = new Agent({ keepAlive: true, timeout: MOST_REST_MS })
  // When one kept connection was closed by the other side, the others may be closed too.
  const fresh = new Agent({ keepAlive: false })
  const onNew = { direct: directClient(live, fresh, failed), engine: engineClient(live, fresh, failed) }
  const onKept = { direct: keptClient(live, kept, failed), engine: engineClient(live, kept, failed) }

  function failed(proxied: ProxiedRequest, error: NodeJS.ErrnoException): void {
    if (proxied.prepareRetry(error)) return sendBy(proxied, onNew)
    // After a complete answer, the error may concern what follows on the connection. This has to be checked here: a
    // body that ends with the connection looks complete after a reset too.
    if (!proxied.answer?.complete) proxied.breakOff(reasonOf(error))
  }

  function sendBy(proxied: ProxiedRequest, { direct, engine }: typeof onKept): void {
    const { isWebSocket, endpoint } = proxied.context.exchange
    try {
      if (isWebSocket) onNew.direct(proxied)
      else if (endpoint?.isElsewhere) engine(proxied)
      else direct(proxied)
    } catch (error) {
      proxied.fail(error)
    }
  }

  // A kept connection may be about to close, and a tool call must not be sent twice.
  return proxied => sendBy(proxied, proxied.isMcp ? onNew : onKept)
}

type Failed = (proxied: ProxiedRequest, error: NodeJS.ErrnoException) => void

/**
 * Node's own client. Used for requests that need a new connection, and for WebSockets, because http-proxy-middleware
 * would write the live platform's refusal to the connection itself.
 */
function directClient({ protocol, hostname, port, secure }: LiveAddress, agent: HttpAgent, failed: Failed): Client {
  const send = protocol === 'https:' ? httpsRequest : httpRequest
  const to = { hostname, port, agent, rejectUnauthorized: secure }
  return proxied => {
    const { method, headers, target } = proxied
    const upstream = send({ ...to, method, headers, path: target === '' ? '/' : target })
    upstream.once('socket', () => connected(proxied, upstream))
    upstream.once('response', answer => {
      // The answer broke off.
      answer.once('error', error => proxied.destroy(error))
      answerArrived(proxied, answer)
    })
    if (proxied.context.exchange.isWebSocket) {
      upstream.once('upgrade', (answer, socket, early) => joinWebSocket(proxied, answer, socket, early))
    }
    upstream.on('error', error => failed(proxied, error))
  }
}

/** Our own client, for documented paths. Node's client sends what ours cannot. */
function keptClient(live: LiveAddress, agent: HttpAgent, failed: Failed): Client {
  const sendByNode = directClient(live, agent, failed)
  const answerAtOnce = (proxied: ProxiedRequest, answer: LiveAnswer) => {
    answerBegan(proxied, answer)
    sendAnswer(proxied)
  }
  const send = createKeptClient(live, { answers: answerAtOnce, failed })
  return proxied => {
    if (!send(proxied)) sendByNode(proxied)
  }
}

/** The client for paths that only the live platform knows, loaded with the first such request. */
function engineClient(live: LiveAddress, agent: HttpAgent, failed: Failed): Client {
  const load = onceLoaded(async () => {
    const { createEngine } = await import('./proxy/engine.js')
    return createEngine({ ...live, agent }, { connected, answerArrived, failed })
  })
  return proxied => {
    load()
      .then(send => {
        if (!proxied.isOver) send(proxied)
      })
      .catch(error => proxied.fail(error))
  }
}

/** A connection is open, whether new or reused. */
function connected(proxied: ProxiedRequest, upstream: ClientRequest): void {
  proxied.connected(upstream)
  // The client disconnected before there was a connection.
  if (proxied.isOver) return void upstream.destroy()
  // For connections that end without an answer and without an error, such as an unrequested protocol upgrade.
  upstream.once('close', () => {
    if (!proxied.answer && proxied.upstream === upstream) proxied.fail(reasonOf(new Error('no answer')))
  })
  // The body's original bytes. The request itself has been read to its end.
  endWith(upstream, proxied.context.exchange.body)
}

function answerBegan(proxied: ProxiedRequest, answer: LiveAnswer): void {
  proxied.answer = answer
  proxied.answerBegan()
}

function answerArrived(proxied: ProxiedRequest, answer: IncomingMessage): void {
  answerBegan(proxied, answer)
  // The rest of what arrived with the head is still being read in this turn.
  process.nextTick(sendAnswer, proxied)
}

function reasonOf({ code, message }: NodeJS.ErrnoException) {
  const why = code ?? message
  if (hasNoDescriptor(code)) return noFileDescriptors()
  if (untrusted.test(why)) return upstreamUntrusted(why)
  return unreadable.test(why) ? upstreamUnreadable(why) : upstreamUnreachable(why)
}

/** The codes of node's parser, and of OpenSSL for what is not TLS. */
const unreadable = /^(HPE_|EPROTO$|ERR_SSL_)/

/** The codes with which OpenSSL and node reject a certificate. */
const untrusted = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_|^ERR_TLS_CERT/
