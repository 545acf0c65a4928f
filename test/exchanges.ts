/** Exchanges for tests without a server. */
import { anonymous, type Exchange } from '../src/core/exchange.js'

/** A chat completion request without a caller; `more` overrides its fields. */
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
