/** Answers that a fault has kept from their clients, and the outlet that swallows them. */
import type { ServerResponse } from 'node:http'
import type { Exchange } from '../core/exchange.js'
import { type Outlet, setOutlet } from '../core/outlet.js'
import { type Answer, isWholeBody, type Reply } from '../core/reply.js'

export type LostAnswers = ReturnType<typeof createLostAnswers>

/** More than a test run loses. */
const MOST_ANSWERS = 1000

/** The lost answers to requests that have an `Idempotency-Key`: a second request with the same key gets the first answer. */
export function createLostAnswers() {
  const answers = new Map<string, { readonly scope: string; readonly reply: Reply }>()
  return {
    keep(exchange: Exchange, answer: Answer): void {
      const name = nameOf(exchange)
      if (name === undefined || answer.kind !== 'reply') return
      if (typeof answer.body !== 'string' && !isWholeBody(answer.body)) return
      const { fault: _fault, ...reply } = answer
      if (answers.size === MOST_ANSWERS) answers.clear()
      answers.set(name, {
        scope: exchange.scope,
        reply: { ...reply, headers: [...(reply.headers ?? []), ...replayed] },
      })
    },
    find(exchange: Exchange): Reply | undefined {
      const name = answers.size === 0 ? undefined : nameOf(exchange)
      return name === undefined ? undefined : answers.get(name)?.reply
    },
    /** Forgets those of a scope, or all. */
    clear(scope?: string): void {
      for (const [name, answer] of answers) if (scope === undefined || answer.scope === scope) answers.delete(name)
    },
  }
}

/** As Stripe marks them. */
export const REPLAYED_HEADER = 'idempotent-replayed'
const replayed = [REPLAYED_HEADER, 'true']

function nameOf({ method, path, query, scope, authorization, headers }: Exchange): string | undefined {
  const { 'idempotency-key': key } = headers
  return key === undefined ? undefined : JSON.stringify([method, path, query, scope, authorization, key])
}

/** Sends nothing of an answer. Closes the connection when the answer begins, or leaves it open. */
export function swallowAnswer(response: ServerResponse, isSilent: boolean): void {
  const begin = () => {
    if (!isSilent) response.destroy()
  }
  const outlet: Outlet = { writeHead: begin, flushHeaders() {}, write: () => true, end() {}, writableNeedDrain: false }
  setOutlet(response, outlet)
}
