/** Forwards requests to the live platform and returns its answers. */
import { type ClientRequest, Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { notFound, upstreamUnreachable, upstreamUnreadable, upstreamUntrusted } from '../core/errors.js'
import { onceLoaded } from '../core/work.js'
import { carryBack } from './proxy/carry-back.js'
import { climbs } from './proxy/climbing.js'
import type { LiveCredentials, ShownCredential } from './proxy/credentials.js'
import { endWith } from './proxy/end-with.js'
import { outgoing } from './proxy/headers.js'
import { createKeptClient } from './proxy/kept-client.js'
import { MOST_REST_MS } from './proxy/kept-connection.js'
import type { LiveAnswer } from './proxy/live-answer.js'
import { type Journey, type Manners, Passage } from './proxy/passage.js'
import { joinWebSocket } from './proxy/websocket.js'

export { authCredentials, callersOwn, platformCredentials } from './proxy/credentials.js'

export interface Upstream {
  /** Forwards one request. */
  forward(journey: Journey): void
}

export interface ProxyOptions extends Manners {
  readonly baseUrl: string
  readonly credentials: LiveCredentials
  /** Whether untrusted certificates are accepted. */
  readonly insecure: boolean
}

/** Sends the request of a passage once everything about it is known. */
type Client = (passage: Passage) => void

/** The live platform's address, and whether its certificate must be trusted. */
interface Live {
  readonly protocol: string
  readonly host: string
  readonly hostname: string
  readonly port: string
  readonly secure: boolean
}

/** Creates a proxy that forwards to `baseUrl` and nowhere else. */
export function createProxy(options: ProxyOptions): Upstream {
  const { protocol, host, hostname, port, pathname } = new URL(options.baseUrl)
  // A URL has an IPv6 address in brackets; connecting needs it without them.
  const live = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port, secure: !options.insecure }
  const prefix = pathname.replace(/\/+$/, '')
  // The URL that the journal shows, without user name and password.
  const manners = { ...options, baseUrl: `${protocol}//${host}${prefix}` }
  const Agent = protocol === 'https:' ? HttpsAgent : HttpAgent
  // Idle connections time out. Nothing else would close those of a proxy that a reload has replaced.
  const kept = new Agent({ keepAlive: true, timeout: MOST_REST_MS })
  // When one kept connection was closed by the other side, the others may be closed too.
  const fresh = new Agent({ keepAlive: false })
  const onNew = { direct: directClient(live, fresh, failed), engine: engineClient(live, fresh, failed) }
  const onKept = { direct: keptClient(live, kept, failed), engine: engineClient(live, kept, failed) }

  function failed(passage: Passage, error: NodeJS.ErrnoException): void {
    if (passage.turnsBack(error)) return carry(passage, onNew)
    // After a complete answer, the error may concern what follows on the connection. Only this place can tell, since a
    // body that ends with the connection looks complete after a reset too.
    if (!passage.answer?.complete) passage.breaksOff(reasonOf(error))
  }

  function carry(passage: Passage, { direct, engine }: typeof onKept): void {
    const { isWebSocket, endpoint } = passage.journey.exchange
    try {
      if (isWebSocket) onNew.direct(passage)
      else if (endpoint?.isElsewhere) engine(passage)
      else direct(passage)
    } catch (error) {
      passage.fail(error)
    }
  }

  function depart(passage: Passage, { headers, query }: ShownCredential): void {
    const { request, exchange, isPlain, witness } = passage.journey
    if (passage.isOver) return
    passage.target = prefix + exchange.path + (request.url?.includes('?') ? `?${query ?? exchange.query}` : '')
    passage.headers = Object.assign(outgoing(exchange.headers, exchange.body), headers, { host })
    if (exchange.isWebSocket) Object.assign(passage.headers, { connection: 'Upgrade', upgrade: 'websocket' })
    if (isPlain || witness) passage.headers['accept-encoding'] = 'identity'
    passage.departs()
    // If the body stayed unread, we would not notice that the client disconnects.
    request.resume()
    // A kept connection may just be closing, and a call of a tool must not be sent twice to find out.
    carry(passage, passage.isMcp ? onNew : onKept)
  }

  return {
    forward(journey) {
      const passage = new Passage(journey, manners)
      // A path with `..` could end up outside the prefix, or outside the auth backend.
      if (climbs(journey.exchange.path)) return passage.fail(notFound())
      try {
        const shown = options.credentials(journey.exchange)
        if (!(shown instanceof Promise)) return depart(passage, shown)
        shown.then(found => depart(passage, found)).catch(error => passage.fail(error))
      } catch (error) {
        passage.fail(error)
      }
    },
  }
}

type Failed = (passage: Passage, error: NodeJS.ErrnoException) => void

/**
 * Node's own client. It sends what must have a new connection, and WebSockets: http-proxy-middleware would write the live platform's refusals
 * to the connection itself.
 */
function directClient({ protocol, hostname, port, secure }: Live, agent: HttpAgent, failed: Failed): Client {
  const send = protocol === 'https:' ? httpsRequest : httpRequest
  const to = { hostname, port, agent, rejectUnauthorized: secure }
  return passage => {
    const { method, headers, target } = passage
    const upstream = send({ ...to, method, headers, path: target === '' ? '/' : target })
    upstream.once('socket', () => opens(passage, upstream))
    upstream.once('response', answer => {
      // The answer broke off.
      answer.once('error', error => passage.destroy(error))
      answers(passage, answer)
    })
    if (passage.journey.exchange.isWebSocket) {
      upstream.once('upgrade', (answer, socket, early) => joinWebSocket(passage, answer, socket, early))
    }
    upstream.on('error', error => failed(passage, error))
  }
}

/** Our own client, for documented paths, and node's for what that does not send. */
function keptClient(live: Live, agent: HttpAgent, failed: Failed): Client {
  const nodes = directClient(live, agent, failed)
  const answersAtOnce = (passage: Passage, answer: LiveAnswer) => {
    begins(passage, answer)
    carryBack(passage)
  }
  const sends = createKeptClient(live, { answers: answersAtOnce, failed })
  return passage => {
    if (!sends(passage)) nodes(passage)
  }
}

/** The client for paths that only the live platform knows, loaded with the first such request. */
function engineClient(live: Live, agent: HttpAgent, failed: Failed): Client {
  const load = onceLoaded(async () => {
    const { createEngine } = await import('./proxy/engine.js')
    return createEngine({ ...live, agent }, { opens, answers, failed })
  })
  return passage => {
    load()
      .then(send => {
        if (!passage.isOver) send(passage)
      })
      .catch(error => passage.fail(error))
  }
}

/** A connection is open, whether new or reused. */
function opens(passage: Passage, upstream: ClientRequest): void {
  passage.opens(upstream)
  // The client disconnected before there was a connection.
  if (passage.isOver) return void upstream.destroy()
  // For connections that end without an answer and without an error, such as an unrequested protocol upgrade.
  upstream.once('close', () => {
    if (!passage.answer && passage.upstream === upstream) passage.fail(reasonOf(new Error('no answer')))
  })
  // The body's original bytes. The request itself has been read to its end.
  endWith(upstream, passage.journey.exchange.body)
}

function begins(passage: Passage, answer: LiveAnswer): void {
  passage.answer = answer
  passage.begins()
}

function answers(passage: Passage, answer: IncomingMessage): void {
  begins(passage, answer)
  // The rest of what arrived with the head is still being read in this turn.
  process.nextTick(carryBack, passage)
}

function reasonOf({ code, message }: NodeJS.ErrnoException) {
  const why = code ?? message
  if (untrusted.test(why)) return upstreamUntrusted(why)
  // The error codes of node's parser begin with "HPE".
  return why.startsWith('HPE_') ? upstreamUnreadable(why) : upstreamUnreachable(why)
}

/** The codes with which OpenSSL and node reject a certificate. */
const untrusted = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_|^ERR_TLS_CERT/
