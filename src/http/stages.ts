/** The stages of the line that are there only while they are switched on: own pages, scopes, limits and faults. */
import { type ChatRequest, chatIn } from '../completions/request.js'
import { PlatformError } from '../core/errors.js'
import type { Exchange } from '../core/exchange.js'
import type { ChosenFault, Faults } from '../faults/index.js'
import type { Limits } from '../limits/index.js'
import { strike } from './faults.js'
import type { Ends, Stage, Step, Visit } from './stage.js'

/** Refuses foreign pages what may reach something live. */
export const ownPagesOnly: Stage = next => visit => {
  const { live, request, exchange } = visit
  live?.origins.requireOwn(request.headers, live.mayBeLinked(exchange.path))
  next(visit)
}

/** Counts requests. Throws a 429 for one too many. */
export const limitRequests =
  (limits: Limits): Stage =>
  next =>
  visit => {
    const { caller, path, endpoint } = visit.exchange
    visit.pass = limits.passFor(caller, path, endpoint?.isByRule)
    visit.pass?.request()
    next(visit)
  }

/** The tokens of a prompt that takes long to count; `undefined` where it does not. */
export type HeavyPrompt = (exchange: Exchange) => Promise<number> | undefined

/** Counts the prompt of a chat completion and, for as long as it is open, the stream. Throws a 400 or a 429 over the limits. */
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

/** The live platform decides what a body is that is no chat completion request. */
function readable({ exchange, surface }: Visit): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch (error) {
    if ((surface.modeOf?.(exchange) ?? 'emulate') !== 'emulate' && error instanceof PlatformError) return undefined
    throw error
  }
}

/** Lets a fault that was asked for come over a request before it is answered. */
export const strikeBefore =
  (faults: Faults): Stage =>
  (next, ends) =>
  visit => {
    const { exchange, surface } = visit
    const chosen = faults.asked(exchange) ?? (surface.failsBeforehand ? faults.drawn(exchange) : undefined)
    suffer(visit, chosen, next, ends)
  }

/** Lets a fault of the rule that has answered, or of chance, come over the answer. */
export const strikeAfter =
  (faults: Faults): Stage =>
  (next, ends) =>
  visit => {
    const { exchange, answer, isStruck, surface } = visit
    const isDrawn = !isStruck && !surface.failsBeforehand
    suffer(visit, isDrawn ? faults.drawn(exchange, answer) : undefined, next, ends)
  }

/** Goes on, with a fault if one was chosen; that sees to it that the end is journaled. */
function suffer(visit: Visit, chosen: ChosenFault | undefined, next: Step, { fail, end, journal }: Ends): void {
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
