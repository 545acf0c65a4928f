import { once } from 'node:events'
import http, { type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import type { ConfigInput } from '../../src/platform/config/schema.js'
import { hello, platformWith } from '../scene.js'

const rules = [{ reply: { text: 'Hi there!' } }]
// Tokens, as the estimate counts them.
const PROMPT = 9
const ANSWER = 3

const limited = (limits: ConfigInput['limits'], options = {}) => platformWith({ rules, limits, ...options })

/** The headers that tell clients what is left. */
const rateLimitsIn = ({ headers }: { readonly headers: Headers }) =>
  Object.fromEntries([...headers].filter(([name]) => name.startsWith('x-ratelimit-')))

const left = ({ headers }: { readonly headers: Headers }, what: 'requests' | 'tokens') =>
  headers.get(`x-ratelimit-remaining-${what}`)

const errorOf = async (response: Response) => ((await response.json()) as { error: string }).error

/** OpenAI's client, and the status of each answer that it got. */
function clientOf({ url, apiKey }: { readonly url: string; readonly apiKey: string }, maxRetries: number) {
  const statuses: number[] = []
  const openai = new OpenAI({
    baseURL: `${url}/v1`,
    apiKey,
    maxRetries,
    async fetch(...args) {
      const response = await fetch(...args)
      statuses.push(response.status)
      return response
    },
  })
  const ask = () =>
    openai.chat.completions.create({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] })
  return { ask, statuses }
}

test('without limits no answer has rate limit headers', async () => {
  const { chat } = await platformWith({ rules })
  expect(rateLimitsIn(await chat(hello))).toEqual({})
})

test('every answer says what is left, whatever its status', async () => {
  const { ask, chat } = await limited({ requestsPerMinute: 100, tokensPerMinute: 1000, bodyBytes: 1000 })
  const answers = [
    await chat(hello),
    await chat({ ...hello, stream: true }),
    await chat({ ...hello, model: 'unknown' }),
    await chat({ messages: [] }),
    await chat({ ...hello, user: 'x'.repeat(2000) }),
    await chat(hello, { headers: { 'content-type': 'text/plain' } }),
    await ask('/v1/models', { method: 'HEAD' }),
  ]
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 400, 400, 413, 415, 200])
  expect(answers.map(answer => left(answer, 'requests'))).toEqual(['99', '98', '97', '96', '95', '94', '93'])
  for (const answer of answers) {
    expect(rateLimitsIn(answer)).toMatchObject({
      'x-ratelimit-limit-requests': '100',
      'x-ratelimit-reset-requests': expect.stringMatching(/^(1m0s|59(\.\d+)?s|5\d(\.\d+)?s)$/),
      'x-ratelimit-limit-tokens': '1000',
      'x-ratelimit-remaining-tokens': expect.stringMatching(/^9\d\d$/),
      'x-ratelimit-reset-tokens': expect.stringMatching(/s$/),
    })
  }
})

test("a request over the limit is OpenAI's RateLimitError, with everything that a client needs to wait", async () => {
  const platform = await limited({ requestsPerMinute: 2 })
  const { ask } = clientOf(platform, 0)
  await ask()
  await ask()
  const error = await ask().catch(failure => failure)
  expect(error).toBeInstanceOf(OpenAI.RateLimitError)
  expect(error.message).toMatch(/^429 .*Rate limit reached for requests: 2 per minute/)
  const afterMs = Number(error.headers.get('retry-after-ms'))
  expect(afterMs).toBeGreaterThan(0)
  expect(afterMs).toBeLessThanOrEqual(60_000)
  expect(error.headers.get('retry-after')).toBe(String(Math.ceil(afterMs / 1000)))
  expect(left(error, 'requests')).toBe('0')
})

test("OpenAI's client waits as long as the headers say, and then gets its answer", async () => {
  const platform = await limited({ requestsPerMinute: 1 })
  const { ask, statuses } = clientOf(platform, 1)
  await ask()
  // By default it would retry after half a second at most, and be refused again.
  await platform.clock.advance(59_200)
  expect((await ask()).choices[0]?.message.content).toBe('Hi there!')
  expect(statuses).toEqual([200, 429, 200])
})

test('prompt and answer count towards the token limit, streamed or not, until a prompt no longer fits', async () => {
  const { chat, clock } = await limited({ tokensPerMinute: 30 })
  expect(left(await chat(hello), 'tokens')).toBe(String(30 - PROMPT - ANSWER))
  expect(left(await chat({ ...hello, stream: true }), 'tokens')).toBe(String(30 - 2 * (PROMPT + ANSWER)))
  const refused = await chat(hello)
  expect(refused.status).toBe(429)
  expect(await errorOf(refused)).toMatch(/^Rate limit reached for tokens: 30 per minute, 24 used, 9 requested\. Try/)
  await clock.advance(60_000)
  expect((await chat(hello)).status).toBe(200)
})

test('a prompt larger than the whole limit is refused for good, and clients do not retry it', async () => {
  const platform = await limited({ tokensPerMinute: 5 })
  const { ask, statuses } = clientOf(platform, 2)
  await expect(ask()).rejects.toThrow(/Request too large: the limit is 5 tokens per minute, and the prompt alone has 9/)
  expect(statuses).toEqual([429])
})

test('a request without a valid credential uses nothing up, and gets no rate limit headers', async () => {
  const { chat } = await limited({ requestsPerMinute: 1 })
  for (const bearer of [null, 'sk-local-wrong']) {
    const refused = await chat(hello, { bearer })
    expect(refused.status).toBe(401)
    expect(rateLimitsIn(refused)).toEqual({})
  }
  expect((await chat(hello)).status).toBe(200)
})

/** A platform with limits in front of a live one that answers like this. */
async function limitedProxyTo(answer: RequestListener, limits: ConfigInput['limits']) {
  const live = http.createServer(answer).listen(0, '127.0.0.1')
  await once(live, 'listening')
  onTestFinished(() => {
    live.closeAllConnections()
    live.close()
  })
  const baseUrl = `http://127.0.0.1:${(live.address() as AddressInfo).port}`
  return platformWith({ mode: 'proxy', upstream: { baseUrl, apiKey: 'sk-live' }, limits })
}

test('in front of the live platform our limits apply, and our headers replace its own', async () => {
  const { chat } = await limitedProxyTo(
    (_request, response) =>
      void response
        .writeHead(200, { 'X-RateLimit-Limit-Requests': '7', 'x-ratelimit-remaining-requests': '6', 'x-live': 'yes' })
        .end('{}'),
    { requestsPerMinute: 3, tokensPerMinute: 20 },
  )
  const answered = await chat(hello)
  expect(answered.headers.get('x-live')).toBe('yes')
  expect(answered.headers.get('x-ratelimit-limit-requests')).toBe('3')
  expect(left(answered, 'requests')).toBe('2')
  expect(left(answered, 'tokens')).toBe(String(20 - PROMPT))
  await chat(hello)
  expect(await errorOf(await chat(hello))).toMatch(
    /^Rate limit reached for tokens: 20 per minute, 18 used, 9 requested/,
  )
  expect(await errorOf(await chat(hello))).toMatch(/^Rate limit reached for requests: 3 per minute/)
})
