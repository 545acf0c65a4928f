/** Carries requests to the live platform and its answers back. The only entry point to the package `http-proxy-middleware`. */
import {
  type ClientRequest,
  Agent as HttpAgent,
  request as httpRequest,
  type IncomingMessage,
  type ServerResponse,
} from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { createProxyMiddleware, proxyEventsPlugin } from 'http-proxy-middleware'
import { notFound, upstreamUnreachable, upstreamUnreadable, upstreamUntrusted } from '../core/errors.js'
import { carryBack } from './proxy/carry-back.js'
import { climbs } from './proxy/climbing.js'
import type { LiveCredentials, ShownCredential } from './proxy/credentials.js'
import { endWith } from './proxy/end-with.js'
import { outgoing } from './proxy/headers.js'
import { type Journey, type Manners, Passage } from './proxy/passage.js'

export { authCredentials, callersOwn, platformCredentials } from './proxy/credentials.js'

export interface Upstream {
  /** Carries one request over. */
  forward(journey: Journey): void
}

export interface ProxyOptions extends Manners {
  readonly baseUrl: string
  readonly credentials: LiveCredentials
  /** Whether untrusted certificates are accepted. */
  readonly insecure: boolean
}

/** How long a connection to the live platform is kept for the next request. */
const IDLE_CONNECTION_MS = 10_000

/** Sends the request of a passage, once everything about it is known. */
type Client = (passage: Passage) => void

/** The live side: where it is, and whether its certificate has to be trusted. */
interface Live {
  readonly protocol: string
  readonly host: string
  readonly hostname: string
  readonly port: string
  readonly secure: boolean
}

/** Makes the way to `baseUrl`, and only there. */
export function createProxy(options: ProxyOptions): Upstream {
  const { protocol, host, hostname, port, pathname } = new URL(options.baseUrl)
  // An IPv6 address is written in brackets, and dialled without them.
  const live = { protocol, host, hostname: hostname.replace(/^\[|\]$/g, ''), port, secure: !options.insecure }
  const prefix = pathname.replace(/\/+$/, '')
  // What the journal shows: without a user name and password.
  const manners = { ...options, baseUrl: `${protocol}//${host}${prefix}` }
  const Agent = protocol === 'https:' ? HttpsAgent : HttpAgent
  // An idle connection ends by itself: nothing else ends those of a proxy that a reload has replaced.
  const kept = new Agent({ keepAlive: true, timeout: IDLE_CONNECTION_MS })
  // Where one kept connection was closed the others may be, too.
  const fresh = new Agent({ keepAlive: false })
  const onNew = { direct: directClient(live, fresh, failed), engine: engineClient(live, fresh, failed) }
  const onKept = { direct: directClient(live, kept, failed), engine: engineClient(live, kept, failed) }

  function failed(passage: Passage, error: NodeJS.ErrnoException): void {
    if (passage.turnsBack(error)) return carry(passage, onNew)
    // Afterwards it may be about what follows on the connection. A body that ends with that looks complete after a reset as well,
    // so this is the place that knows.
    if (!passage.answer?.complete) passage.breaksOff(reasonOf(error))
  }

  function carry(passage: Passage, { direct, engine }: typeof onKept): void {
    try {
      if (passage.journey.exchange.endpoint?.isElsewhere) engine(passage)
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
    if (isPlain || witness) passage.headers['accept-encoding'] = 'identity'
    passage.departs()
    // An unread body would keep us from noticing that the client leaves.
    request.resume()
    carry(passage, onKept)
  }

  return {
    forward(journey) {
      const passage = new Passage(journey, manners)
      // A path that climbs would come out beside the prefix, or beside the auth backend.
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

/** Node's own client. What is documented goes by it: the engine takes half of the throughput. */
function directClient({ protocol, hostname, port, secure }: Live, agent: HttpAgent, failed: Failed): Client {
  const send = protocol === 'https:' ? httpsRequest : httpRequest
  const to = { hostname, port, agent, rejectUnauthorized: secure }
  return passage => {
    const { method, headers, target } = passage
    const upstream = send({ ...to, method, headers, path: target === '' ? '/' : target })
    upstream.once('socket', () => opens(passage, upstream))
    upstream.once('response', answer => {
      // It broke off.
      answer.once('error', error => passage.destroy(error))
      answers(passage, answer)
    })
    upstream.on('error', error => failed(passage, error))
  }
}

/** The engine of http-proxy-middleware, for paths that only the live platform knows. */
function engineClient({ secure, ...origin }: Live, agent: HttpAgent, failed: Failed): Client {
  const middleware = createProxyMiddleware({
    agent,
    secure,
    // The engine takes target and path from here, and nothing from the request.
    router: request => ({ ...origin, pathname: passageOf(request).target }),
    ignorePath: true,
    pathFilter: () => true,
    selfHandleResponse: true,
    // The others only write a log, which costs more than the rest of the way, or listen to the client, which a passage does.
    ejectPlugins: true,
    plugins: [proxyEventsPlugin],
    on: {
      proxyReq: (upstream, request) => opens(passageOf(request), upstream),
      proxyRes: (answer, request) => answers(passageOf(request), answer),
      error: (error, request) => failed(passageOf(request), error),
    },
  })
  return passage => {
    const { asRequest, asResponse } = seenByEngine(passage)
    middleware(asRequest, asResponse, error => passage.fail(error))
  }
}

/** There is a connection, new or kept. */
function opens(passage: Passage, upstream: ClientRequest): void {
  passage.opens(upstream)
  // The client has left before there was a connection.
  if (passage.isOver) return void upstream.destroy()
  // What ends without an answer and without an error: a change of protocol that was not asked for, for one.
  upstream.once('close', () => {
    if (!passage.answer && passage.upstream === upstream) passage.fail(reasonOf(new Error('no answer')))
  })
  // The bytes exactly as they came; the request itself has been read to its end.
  endWith(upstream, passage.journey.exchange.body)
}

function answers(passage: Passage, answer: IncomingMessage): void {
  passage.answer = answer
  passage.begins()
  // In this turn the rest of what has come with the head is still being read.
  process.nextTick(carryBack, passage)
}

// The two ways through a type that asks for all of a request and a response.
const seenByEngine = (passage: Passage) => ({
  asRequest: passage as unknown as IncomingMessage,
  asResponse: passage as unknown as ServerResponse,
})
const passageOf = (request: IncomingMessage) => request as unknown as Passage

function reasonOf({ code, message }: NodeJS.ErrnoException) {
  const why = code ?? message
  if (untrusted.test(why)) return upstreamUntrusted(why)
  // "HPE" is how node's parser begins the names of its errors.
  return why.startsWith('HPE_') ? upstreamUnreadable(why) : upstreamUnreachable(why)
}

/** How OpenSSL and node name what they have against a certificate. */
const untrusted = /SELF_SIGNED|UNABLE_TO_(VERIFY|GET_ISSUER)|^CERT_|^ERR_TLS_CERT/
