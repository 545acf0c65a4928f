/**
 * The life of a request: accept -> enter -> authorize -> read -> answer -> send or forward -> journal, and the optional
 * stages in between.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createIds, uptimeMs } from '../core/clock.js'
import { internalError, notOneHost, PlatformError, unmetExpectation } from '../core/errors.js'
import {
  anonymous,
  type Caller,
  type Exchange,
  type Outcome,
  type RunningTest,
  usesRecordings,
} from '../core/exchange.js'
import { MOST_LEVELS, requireModestJson } from '../core/json.js'
import { isAuth, isReserved, isRest } from '../core/paths.js'
import { type Answer, type Forward, isWholeBody, type PacedBody, type Reply } from '../core/reply.js'
import { SCOPE_HEADER } from '../core/scope.js'
import { FAULT_HEADER, type Faults } from '../faults/index.js'
import type { Holds } from '../holds/index.js'
import { authorize } from '../keys/identify.js'
import type { Limits } from '../limits/index.js'
import { earlierBodyOf, isJson, isUnread, readBeginning, readBody, requireJson } from './body.js'
import { allMethods, isPreflight, preflightHeaders } from './cors.js'
import { holdRequests } from './held.js'
import { faultsAfter, faultsBefore, limitChat, limitRequests, ownPagesOnly } from './optional-stages.js'
import type { Pacer } from './pacer.js'
import type { ForwardContext } from './proxy/proxied-request.js'
import { type ScopeParts, scopeByMore } from './scopes.js'
import { sendComplete, sendStream } from './send.js'
import type { Exits, RequestContext, Stage, Step, Surface } from './stage.js'
import { handshakeOf } from './upgrades.js'

/** What the line is built from. A feature that is switched off has no stage on the line. */
export interface LineParts extends ScopeParts {
  readonly platform: Surface
  /** The auth backend below /auth/v1. */
  readonly auth: Surface
  /** The tables below /rest/v1, if there are any. */
  readonly tables?: Surface | undefined
  /** The limits of each credential, if there are any. */
  readonly limits?: Limits | undefined
  readonly faults: Faults
  readonly holds: Holds
  /** The headers with the contract check's result for answers that are not emulated, as node's flat array. */
  readonly contractHeaders: () => readonly string[]
}

export interface LineServices {
  readonly pacer: Pacer
  /** Tells the journal of an exchange that begins. */
  readonly begin: (exchange: Exchange, number: number) => void
  /** Adds an exchange that has ended to the journal. */
  readonly add: (exchange: Exchange) => void
  /** Called after `add`, even if that threw. */
  readonly onEnd: (exchange: Exchange) => void
  /** Called with internal errors. */
  readonly report: (error: unknown) => void
  /** The test that is running in this process, if one is. */
  readonly runningTest: () => RunningTest | undefined
}

export interface Line {
  readonly accept: (request: IncomingMessage, response: ServerResponse, path: string) => void
  /** Decides whether a WebSocket on a path is forwarded to the live platform; `undefined` while none is. */
  readonly webSockets: () => ((path: string) => boolean) | undefined
  /** The requests that have not ended, the oldest first. */
  readonly open: ReadonlySet<RequestContext>
  /** Rebuilds the line after something was switched on or off. Pending requests stay on the old one. */
  renew(): void
}

/** Creates the line. Every request gets an answer, even if something fails, and is then journaled. */
export function createLine(current: () => LineParts, services: LineServices): Line {
  const open = new Set<RequestContext>()
  let count = 0
  let line = composeLine(current(), services, open)
  return {
    open,
    renew() {
      line = composeLine(current(), services, open)
    },
    webSockets() {
      const forwards = line.platform.live?.forwardsWebSocket
      return forwards && (path => !isAuth(path) && !isReserved(path) && forwards({ method: 'GET', path }))
    },
    accept(request, response, path) {
      const { platform, auth, tables, scopes, scopesBy, first, firstWithFault, exits } = line
      const exchange = newExchange(request, path)
      exchange.running = services.runningTest()
      const { baggage, [SCOPE_HEADER]: scope } = request.headers
      if (baggage !== undefined || scope !== undefined) scopes.decide(exchange, scopesBy)
      services.begin(exchange, ++count)
      if (handshakeOf(request)) exchange.isWebSocket = true
      const surface = path.startsWith('/auth/') && isAuth(path) ? auth : tables && isRest(path) ? tables : platform
      if (surface === auth) exchange.ipAddress = request.socket.remoteAddress
      const live = surface.live?.mayReach(exchange) ? surface.live : undefined
      const context: RequestContext = {
        request,
        response,
        exchange,
        number: count,
        surface,
        live,
        quota: undefined,
        answer: undefined,
        hasFault: false,
        held: undefined,
      }
      open.add(context)
      try {
        const { host, expect } = request.headers
        if (host === undefined || expect !== undefined || host.includes(',')) requireOneHost(request)
        if (request.headers[FAULT_HEADER] === undefined) first(context)
        else firstWithFault(context)
      } catch (error) {
        exits.fail(context, error)
      }
    },
  }
}

/** Chains the stages that are switched on. */
function composeLine(parts: LineParts, services: LineServices, open: Set<RequestContext>) {
  const { platform, auth, tables, scopes, scopesBy, limits, faults, holds } = parts
  const exits = new LineExits(services, parts, open)
  const withFaults = faultsAfter(faults)(exits.deliver, exits)
  const stepsWith = (hasFaultHeader: boolean) =>
    [
      (platform.live || auth.live) && ownPagesOnly,
      enterSurface(scopes.dependOnCaller() ? parts : undefined),
      limits && limitRequests(limits),
      readRequestBody,
      scopes.dependOnCaller() && scopeByMore(parts),
      limits && limitChat,
      holds.areWaiting() && holdRequests(holds),
      (hasFaultHeader || faults.mayApply()) && faultsBefore(faults),
      getAnswer(withFaults),
    ]
      .filter(stage => typeof stage === 'function')
      .reduceRight<Step>((next, stage) => stage(next, exits), faults.areRandom ? withFaults : exits.deliver)
  return { platform, auth, tables, scopes, scopesBy, exits, first: stepsWith(false), firstWithFault: stepsWith(true) }
}

/** Finds the endpoint and the caller, and checks that the caller has access. `scoped` is given if the scope depends on the caller. */
const enterSurface =
  (scoped: ScopeParts | undefined): Stage =>
  (next, { when, deliver, end }) => {
    function continueAs(context: RequestContext, caller: Caller): void {
      const { response, exchange } = context
      exchange.caller = caller
      scoped?.scopes.decide(exchange, scoped.scopesBy)
      if (response.destroyed) return end(context)
      if (exchange.endpoint) authorize(caller, exchange.endpoint)
      next(context)
    }

    function answerOptions(context: RequestContext): void {
      const { request, exchange, surface } = context
      const replyWith = (headers: readonly string[]) => {
        context.answer = { kind: 'reply', status: 204, contentType: '', body: '', headers }
        deliver(context)
      }
      if (isPreflight(request.headers)) return replyWith(preflightHeaders(request.headers))
      // RFC 9110 §9.3.7: "*" asks about the server as a whole.
      when(context, exchange.path === '*' ? allMethods : surface.methodsOf(exchange), methods => {
        if (methods) replyWith(['allow', methods.join(', ')])
        else enter(context, false)
      })
    }

    function enter(context: RequestContext, isOptions = context.exchange.method === 'OPTIONS'): void {
      if (isOptions) return answerOptions(context)
      const caller = scoped ? enterAnyScope(context) : context.surface.enter(context.exchange)
      if (caller instanceof Promise) when(context, caller, found => continueAs(context, found))
      else continueAs(context, caller)
    }

    return enter
  }

/** Finds the endpoint among those of all scopes, since the caller may decide otherwise than the headers. */
function enterAnyScope({ surface, exchange }: RequestContext): Caller | Promise<Caller> {
  const { scope } = exchange
  exchange.scope = ''
  try {
    return surface.enter(exchange)
  } finally {
    exchange.scope = scope
  }
}

const readRequestBody: Stage =
  (next, { fail, end }) =>
  context => {
    const { request, exchange, surface } = context
    const { endpoint } = exchange
    const takesBody = endpoint?.takesBody !== false
    // A live platform gets every body, even where none is expected.
    if (!takesBody && !(context.live && isUnread(request))) return next(context)
    const { 'content-type': type, 'content-encoding': encoding } = exchange.headers
    const isPlainJson = type === 'application/json' && encoding === undefined
    if (!isPlainJson && surface.requiresJsonType && takesBody && !endpoint?.isUndocumented && !endpoint?.isConfigured)
      requireJson(request)
    readBody(request, surface.bodyLimitBytes, body => {
      if (body === undefined) return end(context)
      if (body instanceof PlatformError) {
        exchange.bodyCutFromBytes = surface.bodyLimitBytes
        return fail(context, body)
      }
      exchange.body = body
      try {
        if (body.length > MOST_LEVELS && (!endpoint?.isUndocumented || isRecordable(context))) requireModestJson(body)
        next(context)
      } catch (error) {
        fail(context, error)
      }
    })
  }

/**
 * Bodies for paths that only the live platform knows may be of any type. They are parsed only in order to record them.
 */
const isRecordable = ({ request, exchange, surface: { modeOf } }: RequestContext) =>
  modeOf !== undefined && usesRecordings(modeOf(exchange)) && isJson(request)

/** Gets the answer. One that has a fault continues with `withFaults`. */
const getAnswer =
  (withFaults: Step): Stage =>
  (next, { when }) => {
    function continueWith(context: RequestContext, answer: Answer): void {
      context.answer = answer
      if (answer.fault === undefined) next(context)
      else withFaults(context)
    }
    return context => {
      const answer = context.surface.answer(context.exchange)
      if (answer instanceof Promise) when(context, answer, found => continueWith(context, found))
      else continueWith(context, answer)
    }
  }

/** The ways in which a request can leave the stages. Arrow functions, because stages use them without the object. */
class LineExits implements Exits {
  constructor(
    private readonly services: LineServices,
    private readonly parts: LineParts,
    private readonly open: Set<RequestContext>,
  ) {}

  readonly when: Exits['when'] = (context, value, then) => {
    if (value instanceof Promise) value.then(then).catch(error => this.fail(context, error))
    else then(value)
  }

  readonly journal: Step = context => {
    const { exchange, held } = context
    const { add, onEnd, report } = this.services
    this.open.delete(context)
    held?.correct(exchange.outcome)
    try {
      add(exchange)
    } catch (error) {
      // The response has been sent, and the next request on the connection must not be affected.
      report(error)
    }
    onEnd(exchange)
  }

  readonly end: Step = context => {
    const { hasFault, held, response } = context
    if (hasFault) return
    if (held && !response.destroyed) response.once('close', () => this.journal(context))
    else this.journal(context)
  }

  readonly deliver: Step = context => {
    const { answer, response } = context
    // `close` has already fired, so no event would end the exchange.
    if (response.destroyed || !answer) return this.end(context)
    context.held?.attach()
    if (answer.kind === 'reply') this.reply(context, answer)
    else this.forward(context, answer)
  }

  readonly fail = (context: RequestContext, cause: unknown): void => {
    const { request, response, exchange, hasFault } = context
    const error = cause instanceof PlatformError ? cause : internalError()
    if (error !== cause) this.services.report(cause)
    if (error.more.tried) {
      exchange.caller = { kind: 'refused', tried: error.more.tried }
      const { scopes, scopesBy } = this.parts
      if (scopes.users.areAny()) scopes.decide(exchange, scopesBy)
    }
    // The fault has journaled it when the connection closed, and journal entries do not change.
    if (hasFault && response.destroyed) return
    if (response.headersSent) {
      // It is too late for an error body. The cut stream shows the client that something failed.
      response.destroy()
      return this.end(context)
    }
    if (exchange.body !== undefined) return this.refuse(context, error)
    const earlierBody = earlierBodyOf(request)
    if (Buffer.isBuffer(earlierBody)) exchange.body = earlierBody
    if (earlierBody || !isUnread(request)) return this.refuse(context, error)
    readBeginning(request, (beginning, cutFromBytes) => {
      exchange.body = beginning
      if (cutFromBytes !== undefined) exchange.bodyCutFromBytes = cutFromBytes
      if (response.destroyed) this.end(context)
      else this.refuse(context, error)
    })
  }

  private refuse(context: RequestContext, error: PlatformError): void {
    this.reply(context, context.surface.errorReply(error, context.exchange), error)
  }

  private forward(context: RequestContext, { observer, recordedAs }: Forward): void {
    const { request, response, exchange, surface, hasFault, held } = context
    const forward: ForwardContext = {
      request,
      response,
      exchange,
      recordedAs,
      ownHeaders: () => this.sharedHeaders(context),
      // A fault or a hold that splits the chunks needs an uncompressed body.
      isUncompressed: hasFault || held !== undefined,
      observer,
      report: this.services.report,
      done: error => (error === undefined ? this.end(context) : this.fail(context, error)),
    }
    if (!surface.live) throw new Error(`There is no live platform behind ${exchange.path}.`)
    this.when(context, surface.live.proxy(), proxy => proxy.forward(forward))
  }

  /** The headers that our own answers and live ones have: what is left of the limits, and the contract check's result. */
  private sharedHeaders({ exchange: { mode }, quota }: RequestContext): readonly string[] {
    const contract = mode === undefined || mode === 'emulate' ? noHeaders : this.parts.contractHeaders()
    return quota ? [...quota.headers(), ...contract] : contract
  }

  private reply(context: RequestContext, reply: Reply, error?: PlatformError): void {
    const { request, response, exchange, surface, quota, live } = context
    const { status, statusText, body, contentType, headers = noHeaders, tokens } = reply
    // A recording has the request id of its live answer.
    const requestId = surface.hasRequestIds && !reply.isRecorded ? nextRequestId() : undefined
    const { origin } = request.headers
    const { cors: allowed } = live ?? surface
    const cors = origin === undefined ? allowed.forNoOrigin : allowed.headersFor(origin)
    if (quota && tokens) quota.settle(tokens)
    const shared = this.sharedHeaders(context)
    const head = {
      statusText,
      contentType,
      cors,
      requestId,
      more: shared.length === 0 ? headers : [...shared, ...headers],
    }
    const piecesAtMs: number[] = []
    const isComplete = isWholeBody(body)
    const outcome = newOutcome(reply, error, requestId, isComplete ? undefined : piecesAtMs)
    // Set before the first byte is sent, so that the journal also has streams that are cut.
    exchange.outcome = outcome
    if (isComplete) {
      sendComplete(response, head, { status, body }, exchange.bodyCutFromBytes !== undefined)
      outcome.complete = true
      return this.end(context)
    }
    const { pacer } = this.services
    sendStream(response, head, { status, body: body as PacedBody }, { pacer, piecesAtMs }, (complete, sentBytes) => {
      outcome.complete = complete
      if (!complete) outcome.sentBytes = sentBytes
      this.end(context)
    })
  }
}

const noHeaders: readonly string[] = []
const nextRequestId = createIds('req_', 16)

const newOutcome = (
  reply: Reply,
  error: PlatformError | undefined,
  requestId: string | undefined,
  piecesAtMs: number[] | undefined,
): Outcome => ({
  status: reply.status,
  answeredBy: reply.answeredBy,
  error: error?.message,
  code: error?.code,
  hint: error?.more.hint,
  remark: reply.remark,
  requestId,
  answer: reply,
  upstream: reply.upstream,
  beganMs: uptimeMs(),
  piecesAtMs,
  complete: false,
})

/**
 * Throws a 400 unless an HTTP/1.1 request has exactly one Host header (RFC 9112 §3.2); node joins two of them with a
 * comma. Throws a 417 for any expectation but the one that is defined (RFC 9110 §10.1.1), which node handles itself.
 */
function requireOneHost({ headers: { host, expect }, httpVersion }: IncomingMessage): void {
  if (host === undefined ? httpVersion === '1.1' : host.includes(',')) throw notOneHost()
  if (expect !== undefined && !/^100-continue$/i.test(expect)) throw unmetExpectation()
}

function newExchange({ method = '', url = '', headers }: IncomingMessage, path: string): Exchange {
  const queryStart = url.indexOf('?')
  return {
    method,
    path,
    query: queryStart < 0 ? '' : url.slice(queryStart + 1),
    headers,
    authorization: headers.authorization,
    startedMs: uptimeMs(),
    endedMs: undefined,
    caller: anonymous,
    scope: '',
    running: undefined,
    endpoint: undefined,
    mode: undefined,
    body: undefined,
    chat: undefined,
    openaiRefuses: undefined,
    outcome: undefined,
  }
}
