/** Exchanges for tests that look at one without a server. */
import { anonymous, type Exchange } from '../src/core/exchange.js'

/** A chat completion request without a caller, but for what is said of it. */
export const exchangeWith = (more: Partial<Exchange> = {}): Exchange => ({
  method: 'POST',
  path: '/v1/chat/completions',
  query: '',
  headers: {},
  authorization: undefined,
  startedMs: 0,
  caller: anonymous,
  scope: '',
  endpoint: undefined,
  mode: undefined,
  body: undefined,
  outcome: undefined,
  ...more,
})
