/** The life of a request on one page: accept -> identify -> authorize -> decide -> send | proxy -> journal. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { authorize } from '../auth/authorize.js'
import { type Gateway, isOpenAtGateway } from '../auth/gateway.js'
import type { Identify } from '../auth/identify.js'
import { passedMs } from '../core/clock.js'
import {
  internalError,
  notFound,
  notFoundUnasked,
  notOneHost,
  PlatformError,
  unmetExpectation,
} from '../core/errors.js'
import {
  type Answer,
  anonymous,
  type Caller,
  type Endpoint,
  type Exchange,
  type Forward,
  type Outcome,
  type Reply,
  usesRecordings,
} from '../core/exchange.js'
import { createIds } from '../core/ids.js'
import { requireModestJson } from '../core/json.js'
import { isAuth } from '../core/paths.js'
import { scopeNamed } from '../core/scope.js'
import { elsewhere } from '../endpoints/elsewhere.js'
import type { Routes } from '../endpoints/index.js'
import type { ChosenFault, Faults } from '../faults/index.js'
import type { Journal } from '../journal/index.js'
import type { Limits, Pass } from '../limits/index.js'
import type { Pacer } from '../streaming/pacer.js'
import { isJson, isUnread, readBeginning, readBody, requireJson } from './body.js'
import { type Cors, isPreflight } from './cors.js'
import { type DecideParts, decide } from './decide.js'
import { errorReply } from './error-bodies.js'
import { strike } from './faults.js'
import { readBefore } from './foreign.js'
import { limitChat } from './limit-chat.js'
import { mayGoLive } from './modes.js'
import type { Journey } from './proxy/passage.js'
import type { Upstream } from './proxy.js'
import { send } from './send.js'
import { watched } from './watched.js'

/** What the line works with. It is taken once for each request: a reload never changes the rules in the middle of one. */
export interface LineParts extends DecideParts {
  readonly routes: Routes
  /** Throws a 401, or rejects with one. */
  readonly identify: (exchange: Exchange) => ReturnType<Identify>
  /** Which of several tests that share the server asks. */
  readonly scopeOf: (exchange: Exchange) => string
  readonly cors: Cors
  /** What pages are told in its place where the request may reach the live platform. */
  readonly liveCors: Cors
  readonly bodyLimitBytes: number
  /** The tokens of a prompt that takes long to count; `undefined` where it does not. */
  readonly heavyPrompt: (exchange: Exchange) => Promise<number> | undefined
  /** What one credential may use, where that is limited. */
  readonly limits?: Limits | undefined
  /** What is to go wrong. */
  readonly faults: Faults
  /** What is told of the contract with answers that are not made here, as node's flat array. */
  readonly contractHeaders?: (() => readonly string[]) | undefined
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
  /** Whether it may reach something live, and so must not come from a foreign page. */
  readonly isLive: boolean
  /** What it may use of its credential's limits. */
  pass: Pass | undefined
  /** Whether a fault has come over it: that journals it then. */
  isStruck: boolean
}

export type Line = (request: IncomingMessage, response: ServerResponse, path: string) => void

/** Makes the line. It answers every request that it is given, whatever happens, and journals it last. */
export function createLine(current: () => LineParts, { journal, pacer, report }: Fixed): Line {
  const nextRequestId = createIds('req_', 16)

  function accept(request: IncomingMessage, response: ServerResponse, path: string): void {
    const exchange = newExchange(request, path)
    const parts = current()
    const isLive = mayReachLive(exchange, parts)
    const visit: Visit = { request, response, exchange, parts, isLive, pass: undefined, isStruck: false }
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
    if (visit.isLive) parts.origins.requireOwn(request.headers, isOpenAtGateway(exchange.path))
    if (isAuth(exchange.path)) return enterAuth(visit)
    if (isElsewhere(visit)) return enterElsewhere(visit)
    if (exchange.method === 'OPTIONS') return deliver(visit, options(visit, parts.routes))
    const endpoint = parts.routes.get(exchange.method, exchange.path)
    exchange.endpoint = endpoint
    if (endpoint.access === 'anyone') return admit(visit, endpoint, anonymous)
    const caller = parts.identify(exchange)
    if (!(caller instanceof Promise)) return admit(visit, endpoint, caller)
    caller.then(found => admit(visit, endpoint, found)).catch(error => fail(visit, error))
  }

  /** Without a good credential nobody learns more than that the path is not documented. */
  function enterElsewhere(visit: Visit): void {
    const { request, exchange, parts } = visit
    if (exchange.method === 'OPTIONS' && isPreflight(request.headers)) return deliver(visit, options(visit, anyRoute))
    const endpoint = elsewhere(exchange.method, exchange.path)
    const enter = async () => {
      const caller = await parts.identify(exchange)
      authorize(caller, endpoint)
      admit(visit, endpoint, caller)
    }
    enter().catch(error => fail(visit, isRefusal(error) ? notFoundUnasked(error) : error))
  }

  /** Who asks the auth backend is found out by its endpoints, or by the live one; a gateway wants to see a key first. */
  function enterAuth(visit: Visit): void {
    const { exchange, parts } = visit
    const { mode, routes, gateway } = parts.auth
    const { method, path } = exchange
    const enter = async () => {
      if (method === 'OPTIONS') return deliver(visit, options(visit, mode === 'proxy' ? anyRoute : await routes()))
      if (mode === 'proxy') {
        return read(visit, LIVE_AUTH_BODY_BYTES, () => {
          const chosen = faultBefore(visit)
          if (chosen) suffer(visit, chosen, () => forward(visit, { kind: 'forward' }))
          else forward(visit, { kind: 'forward' })
        })
      }
      const found = await routes()
      exchange.endpoint = found.find(method, path)
      exchange.authorization = await gateway.admit(exchange)
      admit(visit, found.get(method, path), anonymous)
    }
    enter().catch(error => fail(visit, error))
  }

  function admit(visit: Visit, endpoint: Endpoint, caller: Caller): void {
    const { request, response, exchange, parts } = visit
    exchange.caller = caller
    exchange.endpoint = endpoint
    exchange.scope = parts.scopeOf(exchange)
    if (response.destroyed) return journal.add(exchange)
    authorize(caller, endpoint)
    visit.pass = parts.limits?.passFor(caller, exchange.path)
    visit.pass?.request()
    if (!endpoint.takesBody) return proceed(visit, endpoint)
    // Supabase's server reads a body as JSON whatever its headers say.
    if (isAuth(exchange.path)) return read(visit, AUTH_BODY_BYTES, () => proceed(visit, endpoint))
    if (!endpoint.isElsewhere) requireJson(request)
    read(visit, parts.bodyLimitBytes, () => proceed(visit, endpoint))
  }

  function read(visit: Visit, limitBytes: number, then: () => void): void {
    const { request, exchange } = visit
    readBody(request, limitBytes, body => {
      if (body === undefined) return journal.add(exchange)
      if (body instanceof PlatformError) {
        exchange.bodyCutFromBytes = limitBytes
        return fail(visit, body)
      }
      exchange.body = body
      try {
        if (willBeParsed(visit)) requireModestJson(body)
        then()
      } catch (error) {
        fail(visit, error)
      }
    })
  }

  /** Asks for the answer, unless a fault that was asked for comes first. */
  function proceed(visit: Visit, endpoint: Endpoint): void {
    const limited = limitChat(visit)
    if (limited) limited.then(() => goOn(visit, endpoint)).catch(error => fail(visit, error))
    else goOn(visit, endpoint)
  }

  function goOn(visit: Visit, endpoint: Endpoint): void {
    const chosen = faultBefore(visit)
    if (chosen) suffer(visit, chosen, () => answer(visit, endpoint))
    else answer(visit, endpoint)
  }

  function answer(visit: Visit, endpoint: Endpoint): void {
    const decided = decide(visit.parts, endpoint, visit.exchange)
    if (!(decided instanceof Promise)) return settle(visit, decided)
    decided.then(found => settle(visit, found)).catch(error => fail(visit, error))
  }

  function settle(visit: Visit, decided: Answer): void {
    const { response, exchange, parts, isStruck } = visit
    const { witness = undefined } = decided.kind === 'forward' ? decided : {}
    const answer = witness ? { ...decided, witness: watched(witness, response, report) } : decided
    const chosen = isStruck || isAuth(exchange.path) ? undefined : parts.faults.drawn(exchange, answer)
    if (chosen) suffer(visit, chosen, () => deliver(visit, answer))
    else deliver(visit, answer)
  }

  /** Goes on with a fault in the way, which sees to it that the end is journaled. */
  function suffer(visit: Visit, chosen: ChosenFault, goOn: () => void): void {
    const { exchange, response } = visit
    if (response.destroyed) return note(visit)
    visit.isStruck = true
    strike(response, exchange, chosen, {
      goOn() {
        try {
          goOn()
        } catch (error) {
          fail(visit, error)
        }
      },
      refuse: error => fail(visit, error),
      ended: () => journal.add(exchange),
    })
  }

  function note({ exchange, isStruck }: Visit): void {
    if (!isStruck) journal.add(exchange)
  }

  function deliver(visit: Visit, answer: Answer): void {
    // Its 'close' has been and gone: nobody would notice that nothing arrives.
    if (visit.response.destroyed) return note(visit)
    switch (answer.kind) {
      case 'reply':
        return reply(visit, answer)
      case 'forward':
        return forward(visit, answer)
    }
  }

  function forward(visit: Visit, { witness, recordedAs }: Forward): void {
    const { request, response, exchange, parts, pass, isStruck } = visit
    const journey: Journey = {
      request,
      response,
      exchange,
      ours: () => [...(pass?.headers() ?? []), ...contractHeaders(visit)],
      // Who is to break the chunks of an answer has to read them.
      isPlain: isStruck,
      recordedAs,
      witness,
      done: error => (error === undefined ? note(visit) : fail(visit, error)),
    }
    const proxy = isAuth(exchange.path) ? parts.auth.proxy : parts.proxy
    proxy()
      .then(proxy => proxy.forward(journey))
      .catch(error => fail(visit, error))
  }

  function reply(visit: Visit, reply: Reply, error?: PlatformError): void {
    const { request, response, exchange, pass } = visit
    const isOfAuth = isAuth(exchange.path)
    // The auth backend has none, and a recording its own.
    const requestId = isOfAuth || reply.isRecorded ? undefined : nextRequestId()
    const piecesAtMs = typeof reply.body === 'string' || Buffer.isBuffer(reply.body) ? undefined : []
    const outcome: Outcome = {
      status: reply.status,
      answeredBy: reply.answeredBy,
      error: error?.message,
      code: error?.code,
      hint: error?.more.hint,
      remark: reply.remark,
      requestId,
      said: reply,
      upstream: reply.upstream,
      beganMs: passedMs(),
      piecesAtMs,
      complete: false,
    }
    // Attached before the first byte leaves, so that a stream that is cut is in the journal as well.
    exchange.outcome = outcome
    const { headersFor, authHeadersFor } = corsOf(visit)
    const common = [...(isOfAuth ? authHeadersFor : headersFor)(request.headers.origin)]
    if (requestId !== undefined) common.push('x-request-id', requestId)
    if (reply.tokens) pass?.settle(reply.tokens)
    if (pass) common.push(...pass.headers())
    common.push(...contractHeaders(visit))
    const done = (complete: boolean) => {
      outcome.complete = complete
      note(visit)
    }
    send(response, reply, common, pacer, done, piecesAtMs)
  }

  function fail(visit: Visit, cause: unknown): void {
    const { request, response, exchange } = visit
    const error = cause instanceof PlatformError ? cause : internalError()
    if (error !== cause) report(cause)
    if (error.more.tried) exchange.caller = { kind: 'refused', tried: error.more.tried }
    // With the connection it was journaled, and what is in the journal does not change.
    if (visit.isStruck && response.destroyed) return
    if (response.headersSent) {
      // Too late to say anything: cutting the stream is how the client notices.
      response.destroy()
      return note(visit)
    }
    const refuse = () => reply(visit, errorReply(error, exchange), error)
    if (exchange.body !== undefined) return refuse()
    const before = readBefore(request)
    if (before instanceof Buffer) exchange.body = before
    if (before || !isUnread(request)) return refuse()
    readBeginning(request, (beginning, cutFromBytes) => {
      exchange.body = beginning
      if (cutFromBytes !== undefined) exchange.bodyCutFromBytes = cutFromBytes
      if (response.destroyed) note(visit)
      else refuse()
    })
  }

  return accept
}

/** The fault that was asked for; on the auth backend, where what is refused must not have happened, one of chance as well. */
const faultBefore = ({ exchange, parts: { faults } }: Visit): ChosenFault | undefined =>
  faults.asked(exchange) ?? (isAuth(exchange.path) ? faults.drawn(exchange) : undefined)

const nothing: readonly string[] = []
const contractHeaders = ({ exchange: { mode }, parts }: Visit): readonly string[] =>
  mode === undefined || mode === 'emulate' ? nothing : (parts.contractHeaders?.() ?? nothing)

const anyMethod = ['GET', 'HEAD', 'POST', 'OPTIONS']
/** Which methods a live backend has on a path only it can say. */
const anyRoute: Pick<Routes, 'methodsOf'> = { methodsOf: () => [...anyMethod, 'PUT', 'PATCH', 'DELETE'] }

/** Whether it is for the live platform, or a recording, to know the path. */
const isElsewhere = ({ exchange, parts: { routes, modeOf } }: Visit) =>
  !routes.has(exchange.path) && exchange.path !== '*' && modeOf(exchange) !== 'emulate'

/** What goes to a path that only the live platform knows is parsed for recordings alone, and may be of any kind. */
const willBeParsed = ({ request, exchange, parts: { modeOf } }: Visit): boolean =>
  !exchange.endpoint?.isElsewhere || (usesRecordings(modeOf(exchange)) && isJson(request))

const isRefusal = (error: unknown): error is PlatformError => error instanceof PlatformError && error.status === 401

const corsOf = ({ isLive, parts }: Visit): Cors => (isLive ? parts.liveCors : parts.cors)

/** A preflight goes where the request would that it asks about. */
function mayReachLive({ method, path, headers }: Exchange, { auth, modeOf, onMiss }: LineParts): boolean {
  if (isAuth(path)) return auth.mode === 'proxy'
  const asked = method === 'OPTIONS' ? headers['access-control-request-method'] : undefined
  return mayGoLive(modeOf({ method: asked ?? method, path }), onMiss)
}

function options(visit: Visit, routes: Pick<Routes, 'methodsOf'>): Reply {
  const { request, exchange } = visit
  // RFC 9110 §9.3.7: "*" asks about the server as a whole.
  const methods = exchange.path === '*' ? anyMethod : routes.methodsOf(exchange.path)
  // A page must be able to read the 404 of a path that is not there, so its preflight passes too.
  if (isPreflight(request.headers)) return corsOf(visit).preflight(request.headers, methods ?? anyMethod)
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
export const AUTH_BODY_BYTES = 1_048_576
/** The live auth backend has its own opinion; this is so that nobody fills the memory. */
const LIVE_AUTH_BODY_BYTES = 10 * AUTH_BODY_BYTES

function newExchange({ method = '', url = '', headers }: IncomingMessage, path: string): Exchange {
  const startedMs = passedMs()
  const mark = url.indexOf('?')
  return {
    method,
    path,
    query: mark < 0 ? '' : url.slice(mark + 1),
    headers,
    authorization: headers.authorization,
    startedMs,
    caller: anonymous,
    scope: scopeNamed(headers),
    endpoint: undefined,
    mode: undefined,
    body: undefined,
    outcome: undefined,
  }
}
