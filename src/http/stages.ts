/** The optional stages of the line: own pages only, limits and faults. */
import { type ChatRequest, chatIn } from '../completions/request.js'
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { ChosenFault, Faults } from '../faults/index.js'
import type { Limits } from '../limits/index.js'
import { applyFault } from './faults.js'
import type { Outlets, RequestContext, Stage, Step } from './stage.js'

/** Refuses requests from foreign pages that may reach something live. */
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

/** Counts the tokens of a prompt that takes long to count; returns `undefined` for others. */
export type HeavyPrompt = (exchange: Exchange) => Promise<number> | undefined

/** Counts the prompt of a chat completion and, while it is open, the stream. Throws a 400 or a 429 over the limits. */
export const limitChat =
  (heavyPrompt: HeavyPrompt): Stage =>
  (next, { when }) =>
  context => {
    const { response, exchange, quota } = context
    // `close` has already fired for a destroyed response.
    const chat = quota?.countsChat && !response.destroyed ? readable(context) : undefined
    if (!quota || !chat) return next(context)
    when(context, quota.countsPrompts ? heavyPrompt(exchange) : undefined, promptTokens => {
      const close = response.destroyed ? undefined : quota.chat(chat, promptTokens)
      if (close) response.once('close', close)
      next(context)
    })
  }

/** Returns `undefined` for a body that is no chat completion request; how to answer it is up to the live platform. */
function readable({ exchange, surface }: RequestContext): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch (error) {
    if ((surface.modeOf?.(exchange) ?? 'emulate') !== 'emulate' && error instanceof PlatformError) return undefined
    throw error
  }
}

/** Applies a fault that the request or a test asked for, before the request is answered. */
export const faultsBefore =
  (faults: Faults): Stage =>
  (next, ends) =>
  context => {
    const { exchange, surface } = context
    const chosen = faults.requested(exchange) ?? (surface.failsBeforehand ? faults.ruledOrRandom(exchange) : undefined)
    applyOrContinue(context, chosen, next, ends)
  }

/** Applies the fault of the rule that answered, or a random one, to the answer. */
export const faultsAfter =
  (faults: Faults): Stage =>
  (next, ends) =>
  context => {
    const { exchange, answer, hasFault, surface } = context
    const isDrawn = !hasFault && !surface.failsBeforehand
    applyOrContinue(context, isDrawn ? faults.ruledOrRandom(exchange, answer) : undefined, next, ends)
  }

/** Continues, applying the fault if there is one. The fault then makes sure that the exchange is journaled. */
function applyOrContinue(
  context: RequestContext,
  chosen: ChosenFault | undefined,
  next: Step,
  { fail, end, journal }: Outlets,
): void {
  const { exchange, response, surface } = context
  if (!chosen) return next(context)
  if (response.destroyed) return end(context)
  context.hasFault = true
  applyFault(response, exchange, chosen, {
    codeOf: surface.faultCode,
    goOn() {
      try {
        next(context)
      } catch (error) {
        fail(context, error)
      }
    },
    refuse: error => fail(context, error),
    ended: () => journal(context),
  })
}
