/**
 * The life of a request: accept -> enter -> authorize -> read -> answer -> send or forward -> journal, and the optional
 * stages in between.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { passedMs } from '../core/clock.js'
import { internalError, notFound, notOneHost, PlatformError, unmetExpectation } from '../core/errors.js'
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
import { isPreflight } from './cors.js'
import { type AdoptedRequest, BODY } from './foreign.js'
import type { Pacer } from './pacer.js'
import type { Journey } from './proxy/passage.js'
import { sendOpen, sendPaced, sendWhole } from './send.js'
import type { Options, Outlets, Stage, Step, Surface, Visit } from './stage.js'
import { type HeavyPrompt, limitChat, limitRequests, ownPagesOnly, strikeAfter, strikeBefore } from './stages.js'

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
      const visit = { request, response, exchange, surface, live, pass: undefined, answer: undefined, isStruck: false }
      try {
        const { host, expect } = request.headers
        if (host === undefined || expect !== undefined || host.includes(',')) requireOneHost(request)
        if (request.headers[FAULT_HEADER] === undefined) first(visit)
        else withFault(visit)
      } catch (error) {
        ends.fail(visit, error)
      }
    },
  }
}

/** Chains the stages that are switched on. */
function composed(parts: LineParts, fixed: Fixed) {
  const { platform, auth, scopes, limits, faults, heavyPrompt } = parts
  const ends = new Ending(fixed, parts.contractHeaders)
  const strike = strikeAfter(faults)(ends.deliver, ends)
  const stepsWith = (strikes: boolean) =>
    [
      (platform.live || auth.live) && ownPagesOnly,
      entering(scopes.areBound() ? scopes : undefined),
      limits && limitRequests(limits),
      reading,
      limits && limitChat(heavyPrompt),
      (strikes || faults.mayStrike()) && strikeBefore(faults),
      answering(strike),
    ]
      .filter(stage => typeof stage === 'function')
      .reduceRight<Step>((next, stage) => stage(next, ends), faults.areRandom ? strike : ends.deliver)
  return { platform, auth, ends, first: stepsWith(false), withFault: stepsWith(true) }
}

/** Finds the endpoint and the caller, and checks that the caller has access. */
const entering =
  (scopes: Scopes | undefined): Stage =>
  (next, { when, deliver, end }) => {
    function admit(visit: Visit, caller: Caller): void {
      const { response, exchange } = visit
      exchange.caller = caller
      if (scopes) exchange.scope = scopes.of(exchange)
      if (response.destroyed) return end(visit)
      if (exchange.endpoint) authorize(caller, exchange.endpoint)
      next(visit)
    }

    function tellOptions(visit: Visit): void {
      const { request, exchange, surface } = visit
      when(visit, surface.options(exchange, isPreflight(request.headers)), options => {
        if (!options) return enter(visit, false)
        visit.answer = optionsReply(visit, options)
        deliver(visit)
      })
    }

    function enter(visit: Visit, asksOptions = visit.exchange.method === 'OPTIONS'): void {
      if (asksOptions) return tellOptions(visit)
      const caller = visit.surface.enter(visit.exchange)
      if (caller instanceof Promise) when(visit, caller, found => admit(visit, found))
      else admit(visit, caller)
    }

    return enter
  }

const reading: Stage =
  (next, { fail, end }) =>
  visit => {
    const { request, exchange, surface } = visit
    const { endpoint } = exchange
    const hasUse = endpoint?.takesBody !== false
    // A live platform gets every body, even one that it has no use for.
    if (!hasUse && !(visit.live && isUnread(request))) return next(visit)
    const { 'content-type': type, 'content-encoding': encoding } = exchange.headers
    const isPlain = type === 'application/json' && encoding === undefined
    if (!isPlain && surface.requiresJson && hasUse && !endpoint?.isElsewhere && !endpoint?.isOwn) requireJson(request)
    readBody(request, surface.bodyLimitBytes, body => {
      if (body === undefined) return end(visit)
      if (body instanceof PlatformError) {
        exchange.bodyCutFromBytes = surface.bodyLimitBytes
        return fail(visit, body)
      }
      exchange.body = body
      try {
        if (body.length > MOST_LEVELS && (!endpoint?.isElsewhere || isRecordable(visit))) requireModestJson(body)
        next(visit)
      } catch (error) {
        fail(visit, error)
      }
    })
  }

/**
 * Bodies for paths that only the live platform knows may be of any type. They are parsed only in order to record them.
 */
const isRecordable = ({ request, exchange, surface: { modeOf } }: Visit) =>
  modeOf !== undefined && usesRecordings(modeOf(exchange)) && isJson(request)

/** Makes the answer. One with a fault goes on to `strike`. */
const answering =
  (strike: Step): Stage =>
  (next, { when }) => {
    function settle(visit: Visit, answer: Answer): void {
      visit.answer = answer
      if (answer.fault === undefined) next(visit)
      else strike(visit)
    }
    return visit => {
      const answer = visit.surface.answer(visit.exchange)
      if (answer instanceof Promise) when(visit, answer, found => settle(visit, found))
      else settle(visit, answer)
    }
  }

/** The ways in which a visit can end. Its functions are passed around on their own, so each is bound to its `this`. */
class Ending implements Outlets {
  constructor(
    private readonly fixed: Fixed,
    private readonly contractHeaders: () => readonly string[] = () => nothing,
  ) {}

  readonly when: Outlets['when'] = (visit, value, then) => {
    if (value instanceof Promise) value.then(then).catch(error => this.fail(visit, error))
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

  readonly end: Step = visit => {
    if (!visit.isStruck) this.journal(visit)
  }

  readonly deliver: Step = visit => {
    const { answer, response } = visit
    // `close` has already fired: no event would report that nothing arrives.
    if (response.destroyed || !answer) return this.end(visit)
    if (answer.kind === 'reply') this.reply(visit, answer)
    else this.forward(visit, answer)
  }

  readonly fail = (visit: Visit, cause: unknown): void => {
    const { request, response, exchange, isStruck } = visit
    const error = cause instanceof PlatformError ? cause : internalError()
    if (error !== cause) this.fixed.report(cause)
    if (error.more.tried) exchange.caller = { kind: 'refused', tried: error.more.tried }
    // It was journaled when the connection closed, and journal entries do not change afterwards.
    if (isStruck && response.destroyed) return
    if (response.headersSent) {
      // It is too late for an error body. The client notices the error when its stream is cut.
      response.destroy()
      return this.end(visit)
    }
    if (exchange.body !== undefined) return this.refuse(visit, error)
    const before = (request as AdoptedRequest)[BODY]
    if (before instanceof Buffer) exchange.body = before
    if (before || !isUnread(request)) return this.refuse(visit, error)
    readBeginning(request, (beginning, cutFromBytes) => {
      exchange.body = beginning
      if (cutFromBytes !== undefined) exchange.bodyCutFromBytes = cutFromBytes
      if (response.destroyed) this.end(visit)
      else this.refuse(visit, error)
    })
  }

  private refuse(visit: Visit, error: PlatformError): void {
    this.reply(visit, visit.surface.errorReply(error, visit.exchange), error)
  }

  private forward(visit: Visit, { witness, recordedAs }: Forward): void {
    const { request, response, exchange, surface, pass, isStruck } = visit
    const journey: Journey = {
      ...{ request, response, exchange, recordedAs },
      ours: () => [...(pass?.headers() ?? []), ...this.contractOf(exchange)],
      // A fault that splits the chunks needs an uncompressed body.
      isPlain: isStruck,
      witness: witness && watched(witness, response, this.fixed.report),
      done: error => (error === undefined ? this.end(visit) : this.fail(visit, error)),
    }
    if (!surface.live) throw new Error(`There is no live platform behind ${exchange.path}.`)
    surface.live
      .proxy()
      .then(proxy => proxy.forward(journey))
      .catch(error => this.fail(visit, error))
  }

  private contractOf({ mode }: Exchange): readonly string[] {
    return mode === undefined ? nothing : this.contractHeaders()
  }

  private furtherHeaders(exchange: Exchange, { headers: own }: Reply, pass: Quota | undefined): readonly string[] {
    const contract = exchange.mode === 'emulate' ? nothing : this.contractOf(exchange)
    return [...(pass?.headers() ?? nothing), ...contract, ...(own ?? nothing)]
  }

  private reply(visit: Visit, reply: Reply, error?: PlatformError): void {
    const { request, response, exchange, surface, pass, live } = visit
    const { body, contentType, tokens } = reply
    // A recording has its own request id.
    const requestId = surface.hasRequestIds && !reply.isRecorded ? nextRequestId() : undefined
    const { origin } = request.headers
    const { cors: allowed } = live ?? surface
    const cors = origin === undefined ? allowed.forNoOrigin : allowed.headersFor(origin)
    if (pass && tokens) pass.settle(tokens)
    const hasOwnAlone = !pass && exchange.mode === 'emulate'
    const more = hasOwnAlone ? (reply.headers ?? nothing) : this.furtherHeaders(exchange, reply, pass)
    const head = { contentType, cors, requestId, more }
    const isWhole = typeof body === 'string' || Buffer.isBuffer(body)
    const piecesAtMs = isWhole ? undefined : []
    const outcome = newOutcome(reply, error, requestId, piecesAtMs)
    // Set before the first byte is sent, so that a stream that is cut is in the journal as well.
    exchange.outcome = outcome
    if (isWhole) {
      sendWhole(response, head, reply, body)
      outcome.complete = true
      return this.end(visit)
    }
    const done = (complete: boolean) => {
      outcome.complete = complete
      this.end(visit)
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
  said: reply,
  upstream: reply.upstream,
  beganMs: passedMs(),
  piecesAtMs,
  complete: false,
})

const anyMethod: readonly string[] = ['GET', 'HEAD', 'POST', 'OPTIONS']

function optionsReply({ request, exchange, surface, live }: Visit, { methods: own }: Options): Reply {
  // RFC 9110 §9.3.7: "*" asks about the server as a whole.
  const methods = exchange.path === '*' ? anyMethod : own
  // A page must be able to read the 404 of an unknown path, so its preflight succeeds too.
  if (isPreflight(request.headers)) return (live ?? surface).cors.preflight(request.headers, methods ?? anyMethod)
  if (!methods) throw notFound()
  return { kind: 'reply', status: 204, contentType: '', body: '', headers: ['allow', methods.join(', ')] }
}

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
    startedMs: passedMs(),
    endedMs: undefined,
    caller: anonymous,
    scope: typeof scope === 'string' ? scope : '',
    endpoint: undefined,
    mode: undefined,
    body: undefined,
    chat: undefined,
    isUsualChat: undefined,
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
  witness: ResponseObserver,
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
      witness.end(complete && !failed)
    } catch (error) {
      report(error)
    }
  }
  if (response.destroyed) end(false)
  else response.once('close', () => end(false))
  return {
    head: (status, headers) => tell(() => witness.head(status, headers)),
    bytes: bytes => tell(() => witness.bytes(bytes)),
    end,
  }
}
