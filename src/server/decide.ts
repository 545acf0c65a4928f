/** Decides where an answer comes from: made here, or carried over from the live platform. */

import type { Answer, Endpoint, Exchange, Mode } from '../core/exchange.js'
import type { Fault } from '../core/fault.js'
import { CHAT } from '../core/read-chat.js'
import { isAuth } from '../core/reserved.js'

/** What a rule says is to go wrong with the answer to a chat completion request, whoever gives that. */
export type FaultByRule = (exchange: Exchange) => Promise<Fault | undefined>

interface Parts {
  readonly mode: Mode
  readonly faultByRule?: FaultByRule | undefined
}

/** The auth backend answers here in every mode; the platform's endpoints as the mode says. */
export function decide({ mode, faultByRule }: Parts, endpoint: Endpoint, exchange: Exchange): Answer | Promise<Answer> {
  if (isAuth(endpoint.path)) return endpoint.reply(exchange)
  switch (mode) {
    case 'emulate':
      return endpoint.reply(exchange)
    case 'proxy':
    case 'record':
    case 'replay':
      if (endpoint.path !== CHAT || !faultByRule) return { kind: 'forward' }
      return faultByRule(exchange).then(fault => ({ kind: 'forward', ...(fault && { fault }) }))
  }
}
