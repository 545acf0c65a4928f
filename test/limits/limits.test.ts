import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ChatRequest } from '../../src/chat/request.js'
import { PlatformError } from '../../src/core/errors.js'
import { anonymous, type Caller } from '../../src/core/exchange.js'
import { documentedEndpoints } from '../../src/endpoints/index.js'
import { createCounters, createLimits, type LimitSettings } from '../../src/limits/index.js'

const MINUTE = 60_000
const CHAT = '/v1/chat/completions'
const ada: Caller = { kind: 'user', id: 'ada' }
const bob: Caller = { kind: 'user', id: 'bob' }

/** Limits with a clock that the test moves; a prompt has as many tokens as its `seed` says. */
function limitsWith(settings: Partial<LimitSettings>, maxPromptTokensOf: Record<string, number> = {}) {
  const clock = { ms: 1000 }
  const counters = createCounters(() => clock.ms)
  const limits = createLimits({
    settings: { requestsPerMinute: 0, tokensPerMinute: 0, ...settings },
    maxPromptTokensOf: new Map(Object.entries(maxPromptTokensOf)),
    counters,
    promptTokens: ({ seed }) => seed ?? 0,
  })
  const passFor = (caller: Caller, path = CHAT) => {
    const pass = limits?.quotaFor(caller, path, path === CHAT ? { callsModel: true } : {})
    if (!pass) throw new Error(`nothing is limited on ${path}`)
    return pass
  }
  return { clock, limits, passFor }
}

const chat = (tokens: number, more: Partial<ChatRequest> = {}): ChatRequest => ({
  model: 'gpt-4o-mini',
  messages: [{ role: 'user', content: 'hello' }],
  seed: tokens,
  ...more,
})

/** The error that `ask` throws, with its headers by name; `undefined` if it passes. */
function refusal(ask: () => unknown) {
  try {
    ask()
    return undefined
  } catch (error) {
    if (!(error instanceof PlatformError)) throw error
    return { status: error.status, message: error.message, headers: byName(error.headers) }
  }
}

function byName(flat: readonly string[]): Record<string, string> {
  const pairs = flat.flatMap((name, i) => (i % 2 === 0 ? [[name, flat[i + 1] ?? '']] : []))
  return Object.fromEntries(pairs)
}

test('createLimits returns undefined without any limit', () => {
  expect(limitsWith({}).limits).toBeUndefined()
  expect(limitsWith({}, { 'gpt-4o': 1 }).limits).toBeDefined()
})

test('a request over the limit is refused until a minute after the first one', () => {
  const { clock, passFor } = limitsWith({ requestsPerMinute: 2 })
  passFor(ada).request()
  clock.ms += 40_000
  passFor(ada, '/v1/models').request()
  clock.ms += 5_500
  expect(refusal(() => passFor(ada).request())).toEqual({
    status: 429,
    message: 'Rate limit reached for requests: 2 per minute, and all are used. Try again in 14.5s.',
    headers: { 'retry-after': '15', 'retry-after-ms': '14500' },
  })
  clock.ms += 14_499.5
  expect(refusal(() => passFor(ada).request())?.headers).toEqual({ 'retry-after': '1', 'retry-after-ms': '1' })
  clock.ms += 0.5
  expect(refusal(() => passFor(ada).request())).toBeUndefined()
})

test('credentials do not share limits, and requests without one are not counted', () => {
  const { limits, passFor } = limitsWith({ requestsPerMinute: 1 })
  const callers: Caller[] = [
    ada,
    bob,
    { kind: 'apiKey', name: 'my app', id: 'ada' },
    { kind: 'apiKey', name: 'my app', id: 'other' },
    { kind: 'anon' },
    { kind: 'service' },
  ]
  for (const caller of callers) expect(refusal(() => passFor(caller).request())).toBeUndefined()
  for (const caller of callers) expect(refusal(() => passFor(caller).request())?.status).toBe(429)
  expect(limits?.quotaFor(anonymous, CHAT)).toBeUndefined()
})

test('only documented endpoints that take a credential are limited', () => {
  const { limits } = limitsWith({ requestsPerMinute: 1 })
  const limited = ['/v1/models', CHAT, '/api/v1', '/health', '/auth/v1/user', '/v1', '/api/v1x'].filter(path =>
    limits?.quotaFor(
      ada,
      path,
      documentedEndpoints.find(one => one.path === path),
    ),
  )
  expect(limited).toEqual(['/v1/models', CHAT, '/api/v1'])
})

test('a credential never exceeds its limit within a minute of its first request, for any sequence of requests', () => {
  const events = fc.array(
    fc.record({ caller: fc.constantFrom(ada, bob), waitMs: fc.integer({ min: 0, max: 25_000 }) }),
    {
      minLength: 50,
      maxLength: 200,
    },
  )
  fc.assert(
    fc.property(events, fc.integer({ min: 1, max: 5 }), (asked, most) => {
      const { clock, passFor } = limitsWith({ requestsPerMinute: most })
      const windows = new Map<Caller, { startMs: number; passed: number }>()
      for (const { caller, waitMs } of asked) {
        clock.ms += waitMs
        const refused = refusal(() => passFor(caller).request())
        const window = windows.get(caller)
        if (!window || clock.ms - window.startMs >= MINUTE) {
          expect(refused).toBeUndefined()
          windows.set(caller, { startMs: clock.ms, passed: 1 })
        } else {
          expect(refused !== undefined).toBe(window.passed >= most)
          if (!refused) window.passed++
        }
      }
    }),
  )
})

test('a prompt must fit into the remaining tokens, and the answer is deducted afterwards', () => {
  const { clock, passFor } = limitsWith({ tokensPerMinute: 100 })
  const first = passFor(ada)
  first.chat(chat(40))
  expect(byName(first.headers())).toMatchObject({ 'x-ratelimit-remaining-tokens': '60' })
  first.settle({ prompt: 40, completion: 35 })
  expect(byName(first.headers())).toMatchObject({ 'x-ratelimit-remaining-tokens': '25' })
  clock.ms += 20_000
  expect(refusal(() => passFor(ada).chat(chat(26)))).toEqual({
    status: 429,
    message: 'Rate limit reached for tokens: 100 per minute, 75 used, 26 requested. Try again in 40s.',
    headers: { 'retry-after': '40', 'retry-after-ms': '40000' },
  })
  expect(refusal(() => passFor(ada).chat(chat(25)))).toBeUndefined()
  expect(refusal(() => passFor(bob).chat(chat(100)))).toBeUndefined()
})

test('an answer may cost more than the remaining tokens, which then are 0 and not negative', () => {
  const { passFor } = limitsWith({ tokensPerMinute: 100 })
  const pass = passFor(ada)
  pass.chat(chat(10))
  pass.settle({ prompt: 10, completion: 5000 })
  expect(byName(pass.headers())['x-ratelimit-remaining-tokens']).toBe('0')
  expect(refusal(() => passFor(ada).chat(chat(1)))?.status).toBe(429)
})

test("prompt tokens in the answer's usage replace the counted ones", () => {
  const { passFor } = limitsWith({ tokensPerMinute: 100 })
  const pass = passFor(ada)
  pass.chat(chat(10))
  pass.settle({ prompt: 50, completion: 7 })
  expect(byName(pass.headers())['x-ratelimit-remaining-tokens']).toBe('43')
})

test('an answer that ends in a later minute does not count towards that minute', () => {
  const { clock, passFor } = limitsWith({ tokensPerMinute: 100 })
  const slow = passFor(ada)
  slow.chat(chat(10))
  clock.ms += MINUTE
  const next = passFor(ada)
  next.chat(chat(20))
  slow.settle({ prompt: 10, completion: 90 })
  expect(byName(next.headers())['x-ratelimit-remaining-tokens']).toBe('80')
})

test('a prompt that is too long for its model is a 400 that costs no tokens', () => {
  const { passFor } = limitsWith({ tokensPerMinute: 1000 }, { 'gpt-4o': 50, 'gpt-4o-mini': 10 })
  const asked = (model: string, tokens: number) => refusal(() => passFor(ada).chat(chat(tokens, { model })))
  expect(asked('gpt-4o-mini', 11)).toEqual({
    status: 400,
    message: "This model's maximum prompt is 10 tokens; yours has 11. Make it shorter.",
    headers: {},
  })
  expect(asked('gpt-4o', 51)?.status).toBe(400)
  expect(byName(passFor(ada).headers())['x-ratelimit-remaining-tokens']).toBe('1000')
  expect([asked('gpt-4o', 50), asked('mistral-small-latest', 900)]).toEqual([undefined, undefined])
})

test('maxPromptTokens also applies to requests without a credential', () => {
  const { passFor } = limitsWith({ requestsPerMinute: 1 }, { 'gpt-4o': 20 })
  expect(refusal(() => passFor(anonymous).chat(chat(21, { model: 'gpt-4o' })))?.status).toBe(400)
  for (let i = 0; i < 3; i++) {
    const pass = passFor(anonymous)
    pass.request()
    expect(pass.chat(chat(20, { model: 'gpt-4o' }))).toBeUndefined()
    expect(pass.headers()).toEqual([])
  }
})

test('headers have the configured limits, the remaining amounts and the time until the reset', () => {
  const { clock, passFor } = limitsWith({ requestsPerMinute: 3, tokensPerMinute: 100 })
  const pass = passFor(ada)
  pass.request()
  pass.chat(chat(30))
  const headers = (requests: string, tokens: string, reset: string) => ({
    'x-ratelimit-limit-requests': '3',
    'x-ratelimit-remaining-requests': requests,
    'x-ratelimit-reset-requests': reset,
    'x-ratelimit-limit-tokens': '100',
    'x-ratelimit-remaining-tokens': tokens,
    'x-ratelimit-reset-tokens': reset,
  })
  expect(byName(pass.headers())).toEqual(headers('2', '70', '1m0s'))
  clock.ms += 1
  expect(byName(pass.headers())).toEqual(headers('2', '70', '59.999s'))
  clock.ms += 58_799
  expect(byName(pass.headers())).toEqual(headers('2', '70', '1.2s'))
  clock.ms += 1_194
  expect(byName(pass.headers())).toEqual(headers('2', '70', '6ms'))
  clock.ms += 6
  expect(byName(pass.headers())).toEqual(headers('3', '100', '0s'))
  const onlyRequests = limitsWith({ requestsPerMinute: 3 }).passFor(ada)
  expect(Object.keys(byName(onlyRequests.headers()))).toEqual(Object.keys(headers('', '', '')).slice(0, 3))
})
