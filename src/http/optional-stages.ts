/** The optional stages of the line: refusing foreign pages, limits and faults. */
import { type ChatRequest, chatIn } from '../chat/request.js'
import { PlatformError } from '../core/errors.js'
import type { Outcome } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import { appliedFaultInWords } from '../core/reply.js'
import type { ChosenFault, Faults } from '../faults/index.js'
import type { Limits } from '../limits/index.js'
import { type DamagedWriter, damageResponse, reset } from './damage.js'
import type { Exits, RequestContext, Stage, Step } from './stage.js'

/** Throws a 403 for requests from foreign pages that may reach the live platform. */
export const ownPagesOnly: Stage = next => context => {
  const { live, request, exchange } = context
  live?.origins.requireOwn(request.headers, live.mayBeLinked(exchange.path))
  next(context)
}

/** Counts requests. Throws a 429 over the limit. */
export const limitRequests =
  (limits: Limits): Stage =>
  next =>
  context => {
    const { caller, path, endpoint } = context.exchange
    context.quota = limits.quotaFor(caller, path, endpoint?.isConfigured)
    context.quota?.request()
    next(context)
  }

/** Counts the tokens of a chat completion and its open stream. Throws a 400 or a 429 over the limits. */
export const limitChat: Stage = next => context => {
  const { response, quota } = context
  // `close` has already fired for a destroyed response.
  const chat = quota?.countsChat && !response.destroyed ? readableChat(context) : undefined
  const close = chat && quota?.chat(chat)
  if (close) response.once('close', close)
  next(context)
}

/** Returns `undefined` for an invalid chat request that is not emulated, since the live platform may accept it. */
function readableChat({ exchange, surface }: RequestContext): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch (error) {
    if ((surface.modeOf?.(exchange) ?? 'emulate') !== 'emulate' && error instanceof PlatformError) return undefined
    throw error
  }
}

/** Applies a fault that a header or a test requested, before the request is answered. */
export const faultsBefore =
  (faults: Faults): Stage =>
  (next, ends) =>
  context => {
    const { exchange, surface } = context
    const chosenFault =
      faults.requested(exchange) ?? (surface.drawsFaultsFirst ? faults.ruledOrRandom(exchange) : undefined)
    applyOrContinue(context, chosenFault, next, ends)
  }

/** Applies a fault to the answer: that of the rule that answered, or a random one. */
export const faultsAfter =
  (faults: Faults): Stage =>
  (next, ends) =>
  context => {
    const { exchange, answer, hasFault, surface } = context
    const mayApply = !hasFault && !surface.drawsFaultsFirst
    applyOrContinue(context, mayApply ? faults.ruledOrRandom(exchange, answer) : undefined, next, ends)
  }

/** Continues with the fault, if there is one. The fault then journals the exchange. */
function applyOrContinue(
  context: RequestContext,
  chosen: ChosenFault | undefined,
  next: Step,
  { fail, end, journal }: Exits,
): void {
  const { exchange, response, surface } = context
  if (!chosen) return next(context)
  if (response.destroyed) return end(context)
  context.hasFault = true
  const { fault, by } = chosen
  let damaged: DamagedWriter | undefined
  let complete = false
  response.once('finish', () => {
    complete = true
  })
  response.once('close', () => {
    const isSpoilt = damaged?.happened === true
    const happened = !isOnlyForBody(fault) || damaged?.happened !== false
    const outcome = exchange.outcome ?? noOutcome
    const sentBytes = complete ? outcome.sentBytes : damaged?.sentBytes
    exchange.outcome = { ...outcome, fault: { fault, by, happened, isSpoilt }, complete, sentBytes }
    journal(context)
  })

  function begin(): void {
    if (fault.hang) return
    if (fault.reset === 'before') return reset(response)
    // The response to HEAD has no body to damage.
    damaged = damageResponse(response, exchange.method === 'HEAD' ? { contentType: fault.contentType } : fault)
    const { status } = fault
    try {
      if (status === undefined) return next(context)
      const cause = appliedFaultInWords({ fault, by, happened: true, isSpoilt: false })
      throw faultError({ ...fault, status }, surface.faultCode(status), `Made by the ${cause}.`)
    } catch (error) {
      fail(context, error)
    }
  }

  if (fault.delayMs === undefined) return begin()
  const timer = setTimeout(begin, fault.delayMs)
  response.once('close', () => clearTimeout(timer))
}

const noOutcome: Outcome = { status: 0, error: undefined, answeredBy: undefined, complete: false }

const isOnlyForBody = ({ status, delayMs }: Fault) => status === undefined && delayMs === undefined

/** The default message for each status. */
const faultMessages: Readonly<Record<number, string>> = {
  400: 'The request cannot be understood.',
  401: 'The credential is not accepted.',
  402: 'The account has no credit left.',
  403: 'This is not allowed.',
  404: 'Not found.',
  408: 'The request took too long to arrive.',
  409: 'The request conflicts with another one.',
  413: 'The request body is too large.',
  422: 'The request cannot be processed.',
  429: 'Too many requests. Slow down and try again.',
  500: 'Something went wrong on the server.',
  502: 'The server behind this one gave no valid answer.',
  503: 'The service is not available at the moment. Try again later.',
  504: 'The server behind this one did not answer in time.',
  529: 'The service is overloaded. Try again later.',
}

interface ErrorFault {
  readonly status: number
  readonly message?: string | undefined
  /** In seconds. */
  readonly retryAfter?: number | undefined
}

/** The error for a fault with a status. `code` is the auth backend's code. */
export const faultError = ({ status, message, retryAfter }: ErrorFault, code: string, hint: string) =>
  new PlatformError(
    status,
    code,
    message ?? faultMessages[status] ?? `The answer is an error with status ${status}.`,
    [
      ...(status === 401 ? ['www-authenticate', 'Bearer'] : []),
      ...(retryAfter === undefined ? [] : ['retry-after', String(retryAfter)]),
    ],
    { hint },
  )
