/** Conditions of rules, tested on exchanges outside of rules. */

import { check, closed } from '../../check/check.js'
import { ProblemsError } from '../../check/problem.js'
import { CHAT, type ChatRequest, chatIn } from '../../completions/request.js'
import type { Exchange } from '../../core/exchange.js'
import { withoutExpressions } from '../../core/json.js'
import { Asked } from './asked.js'
import { compileWhen } from './compile.js'
import { type When, whenSchema } from './form.js'

/** Conditions, as they are written, and whether an exchange fits them. */
interface OnExchanges {
  readonly when: When
  readonly fit: (exchange: Exchange) => boolean
}

/** Only a chat completion request can fit, whatever the conditions. Throws a ProblemsError that names what is wrong with `when`. */
export function conditionsOn(when: unknown): OnExchanges {
  const checked = check(closed({ when: whenSchema }), { when: withoutExpressions(when) })
  if ('mistakes' in checked) {
    throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: 'the call', sentence })))
  }
  const conditions = compileWhen(checked.value.when)
  return {
    when: checked.value.when,
    fit(exchange) {
      if (exchange.path !== CHAT) return false
      const request = readable(exchange)
      if (!request) return false
      const asked = new Asked(request, exchange)
      return conditions.every(condition => condition.holds(asked))
    },
  }
}

/** A request that we cannot read as a chat completion request may be one for the platform that answers it. */
export function readable(exchange: Exchange): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch {
    return undefined
  }
}
