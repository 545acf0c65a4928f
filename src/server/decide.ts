/** Decides where an answer comes from: made here, or carried over from the live platform. */

import type { Answer, Endpoint, Exchange, Mode } from '../core/exchange.js'
import { isAuth } from '../core/reserved.js'

/** The auth backend answers here in every mode; the platform's endpoints as the mode says. */
export function decide(mode: Mode, endpoint: Endpoint, exchange: Exchange): Answer | Promise<Answer> {
  if (isAuth(endpoint.path)) return endpoint.reply(exchange)
  switch (mode) {
    case 'emulate':
      return endpoint.reply(exchange)
    case 'proxy':
      return { kind: 'forward' }
  }
}
