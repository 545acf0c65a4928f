/** The optional stages of the line: own pages only, limits and faults. */
import { type ChatRequest, chatIn } from '../completions/request.js'
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { ChosenFault, Faults } from '../faults/index.js'
import type { Limits } from '../limits/index.js'
import { strike } from './faults.js'
import type { Outlets, Stage, Step, Visit } from './stage.js'

/** Refuses requests from foreign pages that may reach something live. */
export const ownPagesOnly: Stage = next => visit => {
  const { live, request, exchange } = visit
  live?.origins.requireOwn(request.headers, live.mayBeLinked(exchange.path))
  next(visit)
}

/** Counts requests. Throws a 429 over the limit. */
export const limitRequests =
  (limits: Limits): Stage =>
  next =>
  visit => {
    const { caller, path, endpoint } = visit.exchange
    visit.pass = limits.passFor(caller, path, endpoint?.isOwn)
    visit.pass?.request()
    next(visit)
  }

/** Counts the tokens of a prompt that takes long to count; returns `undefined` for others. */
export type HeavyPrompt = (exchange: Exchange) => Promise<number> | undefined

/** Counts the prompt of a chat completion and, while it is open, the stream. Throws a 400 or a 429 over the limits. */
export const limitChat =
  (heavyPrompt: HeavyPrompt): Stage =>
  (next, { when }) =>
  visit => {
    const { response, exchange, pass } = visit
    // `close` has already fired for a destroyed response.
    const chat = pass?.countsChat && !response.destroyed ? readable(visit) : undefined
    if (!pass || !chat) return next(visit)
    when(visit, pass.countsPrompts ? heavyPrompt(exchange) : undefined, promptTokens => {
      const close = response.destroyed ? undefined : pass.chat(chat, promptTokens)
      if (close) response.once('close', close)
      next(visit)
    })
  }

/** Returns `undefined` for a body that is no chat completion request; how to answer it is up to the live platform. */
function readable({ exchange, surface }: Visit): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch (error) {
    if ((surface.modeOf?.(exchange) ?? 'emulate') !== 'emulate' && error instanceof PlatformError) return undefined
    throw error
  }
}

/** Applies a fault that the request or a test asked for, before the request is answered. */
export const strikeBefore =
  (faults: Faults): Stage =>
  (next, ends) =>
  visit => {
    const { exchange, surface } = visit
    const chosen = faults.asked(exchange) ?? (surface.failsBeforehand ? faults.drawn(exchange) : undefined)
    suffer(visit, chosen, next, ends)
  }

/** Applies the fault of the rule that answered, or a random one, to the answer. */
export const strikeAfter =
  (faults: Faults): Stage =>
  (next, ends) =>
  visit => {
    const { exchange, answer, isStruck, surface } = visit
    const isDrawn = !isStruck && !surface.failsBeforehand
    suffer(visit, isDrawn ? faults.drawn(exchange, answer) : undefined, next, ends)
  }

/** Continues, applying the fault if there is one. The fault then makes sure that the exchange is journaled. */
function suffer(visit: Visit, chosen: ChosenFault | undefined, next: Step, { fail, end, journal }: Outlets): void {
  const { exchange, response, surface } = visit
  if (!chosen) return next(visit)
  if (response.destroyed) return end(visit)
  visit.isStruck = true
  strike(response, exchange, chosen, {
    codeOf: surface.faultCode,
    goOn() {
      try {
        next(visit)
      } catch (error) {
        fail(visit, error)
      }
    },
    refuse: error => fail(visit, error),
    ended: () => journal(visit),
  })
}
