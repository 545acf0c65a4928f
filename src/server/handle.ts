/** The life of a request on one page: accept -> identify -> authorize -> decide -> send | proxy -> journal. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { authorize } from '../auth/authorize.js'
import type { Gateway } from '../auth/gateway.js'
import type { Identify } from '../auth/identify.js'
import { internalError, notFound, notOneHost, PlatformError, unmetExpectation } from '../core/errors.js'
import {
  type Answer,
  anonymous,
  type Caller,
  type Endpoint,
  type Exchange,
  type Mode,
  type Outcome,
  type Reply,
} from '../core/exchange.js'
import { isAuth } from '../core/reserved.js'
import type { Routes } from '../endpoints/index.js'
import type { Journal } from '../journal/index.js'
import type { Pacer } from '../streaming/pacer.js'
import { readBody, requireJson } from './body.js'
import { type Cors, isPreflight } from './cors.js'
import { decide } from './decide.js'
import { errorReply } from './error-bodies.js'
import type { Upstream } from './proxy.js'
import { send } from './send.js'

/** What the line works with. It is taken once for each request: a reload never changes the rules in the middle of one. */
export interface LineParts {
  readonly mode: Mode
  readonly routes: Routes
  readonly identify: Identify
  readonly cors: Cors
  readonly bodyLimitBytes: number
  /** The way to the live platform; asked only in the modes that go there. */
  readonly proxy: () => Promise<Upstream>
  /** Whether the auth backend is answered here or carried to the live one, and what stands in front of it. */
  readonly auth: AuthParts
}

/** What the line works with below /auth/v1; loaded when somebody signs in, or when there is time. */
interface AuthParts {
  readonly mode: 'local' | 'proxy'
  readonly routes: () => Promise<Routes>
  readonly gateway: Gateway
  /** The way to the live auth backend; asked only in the mode that goes there. */
  readonly proxy: () => Promise<Upstream>
}

interface Fixed {
  readonly journal: Journal
  readonly pacer: Pacer
  /** Told of errors that are ours, not the client's. */
  readonly report: (error: unknown) => void
}

/** One request on its way down the line. */
interface Visit {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly exchange: Exchange
  readonly parts: LineParts
}

export type Line = (request: IncomingMessage, response: ServerResponse, path: string) => void

/** Makes the line. It answers every request that it is given, whatever happens, and journals it last. */
export function createLine(current: () => LineParts, { journal, pacer, report }: Fixed): Line {
  function accept(request: IncomingMessage, response: ServerResponse, path: string): void {
    const visit = { request, response, exchange: newExchange(request, path), parts: current() }
    try {
      identify(visit)
    } catch (error) {
      fail(visit, error)
    }
  }

  function identify(visit: Visit): void {
    const { request, exchange, parts } = visit
    requireHost(request)
    requireNoExpectation(request)
    if (isAuth(exchange.path)) return enterAuth(visit)
    if (exchange.method === 'OPTIONS') return deliver(visit, options(visit, parts.routes))
    const endpoint = parts.routes.get(exchange.method, exchange.path)
    if (endpoint.access === 'anyone') return admit(visit, endpoint, anonymous)
    const caller = parts.identify(exchange.authorization)
    if (!(caller instanceof Promise)) return admit(visit, endpoint, caller)
    caller.then(found => admit(visit, endpoint, found)).catch(error => fail(visit, error))
  }

  /** Who asks the auth backend is found out by its endpoints, or by the live one; a gateway wants to see a key first. */
  function enterAuth(visit: Visit): void {
    const { exchange, parts } = visit
    const { mode, routes, gateway } = parts.auth
    const { method, path } = exchange
    const enter = async () => {
      if (method === 'OPTIONS') return deliver(visit, options(visit, mode === 'proxy' ? anyRoute : await routes()))
      if (mode === 'proxy') {
        // A path that climbs out of the auth backend would come out anywhere on the live server.
        if (climbing.test(path)) throw notFound()
        return read(visit, LIVE_AUTH_BODY_BYTES, () => forward(visit))
      }
      exchange.authorization = await gateway.admit(exchange)
      admit(visit, (await routes()).get(method, path), anonymous)
    }
    enter().catch(error => fail(visit, error))
  }

  function admit(visit: Visit, endpoint: Endpoint, caller: Caller): void {
    const { request, response, exchange, parts } = visit
    exchange.caller = caller
    if (response.destroyed) return journal.add(exchange)
    authorize(caller, endpoint)
    if (!endpoint.takesBody) return answer(visit, endpoint)
    // Supabase's server reads a body as JSON whatever its headers say.
    if (isAuth(exchange.path)) return read(visit, AUTH_BODY_BYTES, () => answer(visit, endpoint))
    requireJson(request)
    read(visit, parts.bodyLimitBytes, () => answer(visit, endpoint))
  }

  function read(visit: Visit, limitBytes: number, then: () => void): void {
    const { request, exchange } = visit
    readBody(request, limitBytes, body => {
      if (body === undefined) return journal.add(exchange)
      if (body instanceof PlatformError) return fail(visit, body)
      exchange.body = body
      try {
        then()
      } catch (error) {
        fail(visit, error)
      }
    })
  }

  function answer(visit: Visit, endpoint: Endpoint): void {
    const decided = decide(visit.parts.mode, endpoint, visit.exchange)
    if (!(decided instanceof Promise)) return deliver(visit, decided)
    decided.then(found => deliver(visit, found)).catch(error => fail(visit, error))
  }

  function deliver(visit: Visit, answer: Answer): void {
    // Its 'close' has been and gone: nobody would notice that nothing arrives.
    if (visit.response.destroyed) return journal.add(visit.exchange)
    switch (answer.kind) {
      case 'reply':
        return reply(visit, answer)
      case 'forward':
        return forward(visit)
    }
  }

  function forward(visit: Visit): void {
    const { request, response, exchange, parts } = visit
    const done = (error?: PlatformError) => (error ? fail(visit, error) : journal.add(exchange))
    const proxy = isAuth(exchange.path) ? parts.auth.proxy : parts.proxy
    proxy()
      .then(proxy => proxy.forward(request, response, exchange, done))
      .catch(error => fail(visit, error))
  }

  function reply({ request, response, exchange, parts }: Visit, reply: Reply, error?: PlatformError): void {
    const outcome: Outcome = {
      status: reply.status,
      source: reply.source,
      error: error?.message,
      hint: error?.more.hint,
      complete: false,
    }
    // Attached before the first byte leaves, so that a stream that is cut is in the journal as well.
    exchange.outcome = outcome
    const { headersFor, authHeadersFor } = parts.cors
    const cors = (isAuth(exchange.path) ? authHeadersFor : headersFor)(request.headers.origin)
    send(response, reply, cors, pacer, complete => {
      outcome.complete = complete
      journal.add(exchange)
    })
  }

  function fail(visit: Visit, cause: unknown): void {
    const { response, exchange } = visit
    const error = cause instanceof PlatformError ? cause : internalError()
    if (error !== cause) report(cause)
    if (response.headersSent) {
      // Too late to say anything: cutting the stream is how the client notices.
      response.destroy()
      return journal.add(exchange)
    }
    reply(visit, errorReply(error, exchange), error)
  }

  return accept
}

const anyMethod = ['GET', 'HEAD', 'POST', 'OPTIONS']
/** Which methods a live backend has on a path only it can say. */
const anyRoute: Pick<Routes, 'methodsOf'> = { methodsOf: () => [...anyMethod, 'PUT', 'PATCH', 'DELETE'] }

const climbing = /\/(\.|%2e){1,2}(\/|$)/i

function options({ request, exchange, parts }: Visit, routes: Pick<Routes, 'methodsOf'>): Reply {
  // RFC 9110 §9.3.7: "*" asks about the server as a whole.
  const methods = exchange.path === '*' ? anyMethod : routes.methodsOf(exchange.path)
  // A page must be able to read the 404 of a path that is not there, so its preflight passes too.
  if (isPreflight(request.headers)) return parts.cors.preflight(request.headers, methods ?? anyMethod)
  if (!methods) throw notFound()
  return { kind: 'reply', status: 204, contentType: '', body: '', headers: ['allow', methods.join(', ')] }
}

/** RFC 9112 §3.2. Two of them arrive here joined by a comma. */
function requireHost({ headers: { host }, httpVersion }: IncomingMessage): void {
  if (host === undefined ? httpVersion === '1.1' : host.includes(',')) throw notOneHost()
}

/** RFC 9110 §10.1.1: 100-continue is the one expectation there is, and node has met that one already. */
function requireNoExpectation({ headers: { expect } }: IncomingMessage): void {
  if (expect !== undefined && !/^100-continue$/i.test(expect)) throw unmetExpectation()
}

/** Supabase's own limit. */
const AUTH_BODY_BYTES = 1_048_576
/** The live auth backend has its own opinion; this is so that nobody fills the memory. */
const LIVE_AUTH_BODY_BYTES = 10 * AUTH_BODY_BYTES

function newExchange({ method = '', url = '', headers }: IncomingMessage, path: string): Exchange {
  const startedMs = performance.now()
  const mark = url.indexOf('?')
  return {
    method,
    path,
    query: mark < 0 ? '' : url.slice(mark + 1),
    headers,
    authorization: headers.authorization,
    startedMs,
    caller: anonymous,
    body: undefined,
    outcome: undefined,
  }
}
