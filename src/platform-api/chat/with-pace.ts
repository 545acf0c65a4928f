/** Applies a pace to the events of a stream. */
import { hash } from 'node:crypto'
import type { ChatRequest } from '../../completions/request.js'
import type { PacedBody } from '../../core/exchange.js'
import type { Pace } from '../../core/pace.js'
import type { Events, TokenCount } from './frame.js'

/** Returns the events with `pace`. The prompt is counted only if its length matters. */
export function withPace(
  events: Events,
  pace: Pace,
  request: ChatRequest,
  cost: Pick<TokenCount, 'prompt'>,
): PacedBody {
  return {
    ...events,
    pace,
    ...(pace.promptTokensPerSecond > 0 && { promptTokens: cost.prompt }),
    ...(pace.jitter > 0 && { seed: seedOf(request) }),
  }
}

/** The same request gets the same seed, so that its answer has the same rhythm each time. */
function seedOf({ model, messages, seed }: ChatRequest): number {
  return Number.parseInt(hash('sha256', JSON.stringify([model, messages, seed]), 'hex').slice(0, 8), 16)
}
