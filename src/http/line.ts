/**
 * The life of a request: accept -> enter -> authorize -> read -> answer -> send or forward -> journal, and the optional
 * stages in between.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { uptimeMs } from '../core/clock.js'
import { internalError, notOneHost, PlatformError, unmetExpectation } from '../core/errors.js'
import {
  type Answer,
  anonymous,
  type Caller,
  type Exchange,
  type Forward,
  isOpenBody,
  type Outcome,
  type Reply,
  type ResponseObserver,
  usesRecordings,
} from '../core/exchange.js'
import { MOST_LEVELS, requireModestJson } from '../core/json.js'
import { isAuth } from '../core/paths.js'
import { createIds } from '../core/random.js'
import { SCOPE_HEADER, type Scopes } from '../core/scope.js'
import { FAULT_HEADER, type Faults } from '../faults/index.js'
import { authorize } from '../keys/identify.js'
import type { Limits, Quota } from '../limits/index.js'
import { isJson, isUnread, isUpgraded, readBeginning, readBody, requireJson } from './body.js'
import { everyMethod, isPreflight, preflightHeaders } from './cors.js'
import { type AdoptedRequest, BODY } from './foreign.js'
import type { Pacer } from './pacer.js'
import type { ForwardContext } from './proxy/proxied-request.js'
import { sendOpen, sendPaced, sendWhole } from './send.js'
import type { Outlets, RequestContext, Stage, Step, Surface } from './stage.js'
import { faultsAfter, faultsBefore, type HeavyPrompt, limitChat, limitRequests, ownPagesOnly } from './stages.js'

/** The parts from which the line is built. A feature that is switched off has no stage on the line. */
export interface LineParts {
  readonly platform: Surface
  /** The auth backend below /auth/v1. */
  readonly auth: Surface
  readonly scopes: Scopes
  /** The limits of each credential, if there are any. */
  readonly limits?: Limits | undefined
  /** Counts the tokens of a prompt that takes long to count; returns `undefined` for others. */
  readonly heavyPrompt: HeavyPrompt
  readonly faults: Faults
  /** The headers that name the contract on answers that are not made here, as node's flat array. */
  readonly contractHeaders?: (() => readonly string[]) | undefined
}

interface Fixed {
  readonly pacer: Pacer
  /** Adds an exchange to the journal when it is over. */
  readonly add: (exchange: Exchange) => void
  /** Called after `add`, even if that threw. */
  readonly left: (exchange: Exchange) => void
  /** Called with errors that are our own fault, not the client's. */
  readonly report: (error: unknown) => void
}

export interface Line {
  readonly accept: (request: IncomingMessage, response: ServerResponse, path: string) => void
  /** Whether a WebSocket on this path is carried to the live platform. */
  readonly carriesWebSocket: (request: Pick<Exchange, 'method' | 'path'>) => boolean
  /** Rebuilds the line after something was switched on or off. Requests that are under way stay on the old one. */
  renew(): void
}

/** Creates the line. It answers every request, whatever happens, and journals it last. */
export function createLine(current: () => LineParts, fixed: Fixed): Line {
  let line = composed(current(), fixed)
  return {
    renew() {
      line = composed(current(), fixed)
    },
    carriesWebSocket: request => !isAuth(request.path) && (line.platform.live?.carriesWebSocket?.(request) ?? false),
    accept(request, response, path) {
      const { platform, auth, first, withFault, ends } = line
      const exchange = newExchange(request, path)
      if (isUpgraded(request)) exchange.isWebSocket = true
      const surface = path.startsWith('/auth/') && isAuth(path) ? auth : platform
      const live = surface.live?.mayReach(exchange) ? surface.live : undefined
      const context = {
        request,
        response,
        exchange,
        surface,
        live,
        quota: undefined,
        answer: undefined,
        hasFault: false,
      }
      try {
        const { host, expect } = request.headers
        if (host === undefined || expect !== undefined || host.includes(',')) requireOneHost(request)
        if (request.headers[FAULT_HEADER] === undefined) first(context)
        else withFault(context)
      } catch (error) {
        ends.fail(context, error)
      }
    },
  }
}

/** Chains the stages that are switched on. */
function composed(parts: LineParts, fixed: Fixed) {
  const { platform, auth, scopes, limits, faults, heavyPrompt } = parts
  const ends = new Ending(fixed, parts.contractHeaders)
  const withFaults = faultsAfter(faults)(ends.deliver, ends)
  const stepsWith = (hasFaultHeader: boolean) =>
    [
      (platform.live || auth.live) && ownPagesOnly,
      entering(scopes.byKey.size > 0 ? scopes : undefined),
      limits && limitRequests(limits),
      reading,
      limits && limitChat(heavyPrompt),
      (hasFaultHeader || faults.mayApply()) && faultsBefore(faults),
      answering(withFaults),
    ]
      .filter(stage => typeof stage === 'function')
      .reduceRight<Step>((next, stage) => stage(next, ends), faults.areRandom ? withFaults : ends.deliver)
  return { platform, auth, ends, first: stepsWith(false), withFault: stepsWith(true) }
}

/** Finds the endpoint and the caller, and checks that the caller has access. */
const entering =
  (scopes: Scopes | undefined): Stage =>
  (next, { when, deliver, end }) => {
    function admit(context: RequestContext, caller: Caller): void {
      const { response, exchange } = context
      exchange.caller = caller
      if (scopes) exchange.scope = scopes.of(exchange)
      if (response.destroyed) return end(context)
      if (exchange.endpoint) authorize(caller, exchange.endpoint)
      next(context)
    }

    function answerOptions(context: RequestContext): void {
      const { request, exchange, surface } = context
      const say = (headers: readonly string[]) => {
        context.answer = { kind: 'reply', status: 204, contentType: '', body: '', headers }
        deliver(context)
      }
      if (isPreflight(request.headers)) return say(preflightHeaders(request.headers))
      // RFC 9110 §9.3.7: "*" asks about the server as a whole.
      when(context, exchange.path === '*' ? everyMethod : surface.methodsOf(exchange), methods => {
        if (methods) say(['allow', methods.join(', ')])
        else enter(context, false)
      })
    }

    function enter(context: RequestContext, asksOptions = context.exchange.method === 'OPTIONS'): void {
      if (asksOptions) return answerOptions(context)
      const caller = context.surface.enter(context.exchange)
      if (caller instanceof Promise) when(context, caller, found => admit(context, found))
      else admit(context, caller)
    }

    return enter
  }

const reading: Stage =
  (next, { fail, end }) =>
  context => {
    const { request, exchange, surface } = context
    const { endpoint } = exchange
    const hasUse = endpoint?.takesBody !== false
    // A live platform gets every body, even one that it has no use for.
    if (!hasUse && !(context.live && isUnread(request))) return next(context)
    const { 'content-type': type, 'content-encoding': encoding } = exchange.headers
    const isPlain = type === 'application/json' && encoding === undefined
    if (!isPlain && surface.requiresJson && hasUse && !endpoint?.isUndocumented && !endpoint?.isConfigured)
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

/** Makes the answer. One with a fault goes on to `withFaults`. */
const answering =
  (withFaults: Step): Stage =>
  (next, { when }) => {
    function settle(context: RequestContext, answer: Answer): void {
      context.answer = answer
      if (answer.fault === undefined) next(context)
      else withFaults(context)
    }
    return context => {
      const answer = context.surface.answer(context.exchange)
      if (answer instanceof Promise) when(context, answer, found => settle(context, found))
      else settle(context, answer)
    }
  }

/** The ways in which a request can end. Its functions are passed around on their own, so each is bound to its `this`. */
class Ending implements Outlets {
  constructor(
    private readonly fixed: Fixed,
    private readonly contractHeaders: () => readonly string[] = () => nothing,
  ) {}

  readonly when: Outlets['when'] = (context, value, then) => {
    if (value instanceof Promise) value.then(then).catch(error => this.fail(context, error))
    else then(value)
  }

  readonly journal: Step = ({ exchange }) => {
    const { add, left, report } = this.fixed
    try {
      add(exchange)
    } catch (error) {
      // The response has been sent, and the next request on the connection must not be affected.
      report(error)
    }
    left(exchange)
  }

  readonly end: Step = context => {
    if (!context.hasFault) this.journal(context)
  }

  readonly deliver: Step = context => {
    const { answer, response } = context
    // `close` has already fired, so no event would end the exchange.
    if (response.destroyed || !answer) return this.end(context)
    if (answer.kind === 'reply') this.reply(context, answer)
    else this.forward(context, answer)
  }

  readonly fail = (context: RequestContext, cause: unknown): void => {
    const { request, response, exchange, hasFault } = context
    const error = cause instanceof PlatformError ? cause : internalError()
    if (error !== cause) this.fixed.report(cause)
    if (error.more.tried) exchange.caller = { kind: 'refused', tried: error.more.tried }
    // It was journaled when the connection closed, and journal entries do not change afterwards.
    if (hasFault && response.destroyed) return
    if (response.headersSent) {
      // It is too late for an error body. The client notices the error when its stream is cut.
      response.destroy()
      return this.end(context)
    }
    if (exchange.body !== undefined) return this.refuse(context, error)
    const adopted = (request as AdoptedRequest)[BODY]
    if (adopted instanceof Buffer) exchange.body = adopted
    if (adopted || !isUnread(request)) return this.refuse(context, error)
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
    const { request, response, exchange, surface, quota, hasFault } = context
    const forward: ForwardContext = {
      ...{ request, response, exchange, recordedAs },
      ownHeaders: () => [...(quota?.headers() ?? []), ...this.contractOf(exchange)],
      // A fault that splits the chunks needs an uncompressed body.
      isPlain: hasFault,
      observer: observer && watched(observer, response, this.fixed.report),
      done: error => (error === undefined ? this.end(context) : this.fail(context, error)),
    }
    if (!surface.live) throw new Error(`There is no live platform behind ${exchange.path}.`)
    this.when(context, surface.live.proxy(), proxy => proxy.forward(forward))
  }

  private contractOf({ mode }: Exchange): readonly string[] {
    return mode === undefined ? nothing : this.contractHeaders()
  }

  private furtherHeaders(exchange: Exchange, { headers: own }: Reply, quota: Quota | undefined): readonly string[] {
    const contract = exchange.mode === 'emulate' ? nothing : this.contractOf(exchange)
    return [...(quota?.headers() ?? nothing), ...contract, ...(own ?? nothing)]
  }

  private reply(context: RequestContext, reply: Reply, error?: PlatformError): void {
    const { request, response, exchange, surface, quota, live } = context
    const { body, contentType, tokens } = reply
    // A recording has its own request id.
    const requestId = surface.hasRequestIds && !reply.isRecorded ? nextRequestId() : undefined
    const { origin } = request.headers
    const { cors: allowed } = live ?? surface
    const cors = origin === undefined ? allowed.forNoOrigin : allowed.headersFor(origin)
    if (quota && tokens) quota.settle(tokens)
    const hasOwnAlone = !quota && exchange.mode === 'emulate'
    const more = hasOwnAlone ? (reply.headers ?? nothing) : this.furtherHeaders(exchange, reply, quota)
    const head = { contentType, cors, requestId, more }
    const isWhole = typeof body === 'string' || Buffer.isBuffer(body)
    const piecesAtMs = isWhole ? undefined : []
    const outcome = newOutcome(reply, error, requestId, piecesAtMs)
    // Set before the first byte is sent, so that a stream that is cut is in the journal as well.
    exchange.outcome = outcome
    if (isWhole) {
      sendWhole(response, head, reply, body)
      outcome.complete = true
      return this.end(context)
    }
    const done = (complete: boolean, sentBytes?: number) => {
      outcome.complete = complete
      if (!complete) outcome.sentBytes = sentBytes
      this.end(context)
    }
    if (isOpenBody(body)) sendOpen(response, head, reply, body, piecesAtMs, done)
    else sendPaced(response, head, reply, body, { pacer: this.fixed.pacer, piecesAtMs }, done)
  }
}

const nothing: readonly string[] = []
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
 * RFC 9112 §3.2: node joins two Host headers with a comma. RFC 9110 §10.1.1: the only defined expectation is handled by
 * node itself.
 */
function requireOneHost({ headers: { host, expect }, httpVersion }: IncomingMessage): void {
  if (host === undefined ? httpVersion === '1.1' : host.includes(',')) throw notOneHost()
  if (expect !== undefined && !/^100-continue$/i.test(expect)) throw unmetExpectation()
}

function newExchange({ method = '', url = '', headers }: IncomingMessage, path: string): Exchange {
  const { authorization, [SCOPE_HEADER]: scope } = headers
  const mark = url.indexOf('?')
  return {
    method,
    path,
    query: mark < 0 ? '' : url.slice(mark + 1),
    headers,
    authorization,
    startedMs: uptimeMs(),
    endedMs: undefined,
    caller: anonymous,
    scope: typeof scope === 'string' ? scope : '',
    endpoint: undefined,
    mode: undefined,
    body: undefined,
    chat: undefined,
    isKnownGood: undefined,
    openaiRefuses: undefined,
    outcome: undefined,
  }
}

/**
 * Wraps the observer of a response. Errors that it throws are reported; it then only gets an `end` that says the
 * response is incomplete. `end` is called exactly once, at the latest when the response closes, even if there was no
 * answer.
 */
export function watched(
  observer: ResponseObserver,
  response: ServerResponse,
  report: (error: unknown) => void,
): ResponseObserver {
  let failed = false
  let ended = false
  function tell(what: () => void): void {
    if (failed || ended) return
    try {
      what()
    } catch (error) {
      failed = true
      report(error)
    }
  }
  function end(complete: boolean): void {
    if (ended) return
    ended = true
    try {
      observer.end(complete && !failed)
    } catch (error) {
      report(error)
    }
  }
  if (response.destroyed) end(false)
  else response.once('close', () => end(false))
  return {
    head: (status, headers) => tell(() => observer.head(status, headers)),
    bytes: bytes => tell(() => observer.bytes(bytes)),
    end,
  }
}
