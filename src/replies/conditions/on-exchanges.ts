/** Tests the conditions of rules on exchanges, for uses other than rules. */

import { check, closed } from '../../check/check.js'
import { plainJson } from '../../check/plain-json.js'
import { ProblemsError } from '../../check/problem.js'
import { type ChatRequest, chatIn } from '../../completions/request.js'
import type { Exchange } from '../../core/exchange.js'
import { CHAT } from '../../core/paths.js'
import { ChatInput } from './chat-input.js'
import { compileWhen } from './compile.js'
import { whenSchema } from './form.js'

/**
 * Only chat completion requests can match, whatever the conditions are. Throws a ProblemsError that names the mistakes
 * in `when`.
 */
export function conditionsOn(when: unknown) {
  const checked = check(closed({ when: whenSchema }), plainJson({ when }, { origin: 'failNext', isRule: true }))
  if ('mistakes' in checked) {
    throw new ProblemsError(checked.mistakes.map(({ sentence }) => ({ origin: 'failNext', sentence })))
  }
  const conditions = compileWhen(checked.value.when)
  return {
    /** The conditions as written. */
    when: checked.value.when,
    /** Whether an exchange meets them. */
    fit(exchange: Exchange): boolean {
      if (exchange.path !== CHAT) return false
      const request = findChat(exchange)
      if (!request) return false
      const input = new ChatInput(request, exchange)
      return conditions.every(condition => condition.holds(input))
    },
  }
}

/** The chat request of an exchange; `undefined` if it is invalid here, since the live platform may still accept it. */
export function findChat(exchange: Exchange): ChatRequest | undefined {
  try {
    return chatIn(exchange)
  } catch {
    return undefined
  }
}
