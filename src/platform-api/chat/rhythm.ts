/** Gives the events of a stream their rhythm. */
import { hash } from 'node:crypto'
import type { ChatRequest } from '../../completions/request.js'
import type { Paced } from '../../core/exchange.js'
import type { Pace } from '../../core/pace.js'
import type { Cost, Events } from './frame.js'

/** The events in the rhythm of `pace`; the prompt is counted only where its length matters. */
export function paced(events: Events, pace: Pace, request: ChatRequest, cost: Cost): Paced {
  return {
    ...events,
    pace,
    ...(pace.promptTokensPerSecond > 0 && { promptTokens: cost.prompt }),
    ...(pace.jitter > 0 && { seed: seedOf(request) }),
  }
}

/** The same for the same question, so that its answer comes in the same rhythm each time. */
function seedOf({ model, messages, seed }: ChatRequest): number {
  return Number.parseInt(hash('sha256', JSON.stringify([model, messages, seed]), 'hex').slice(0, 8), 16)
}
