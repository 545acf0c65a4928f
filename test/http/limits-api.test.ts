import { expect, test } from 'vitest'
import { hello, platformWith } from '../scene.js'
import { isUnknown, mustBe, wholeNumber } from '../sentences.js'
import { control } from './controlled.js'

const rules = [{ reply: { text: 'Hi there!' } }]
const none = {
  bodyBytes: 4_194_304,
  requestsPerMinute: 0,
  tokensPerMinute: 0,
  concurrentStreams: 0,
}

test('limits can be set and removed at run time, for every credential', async () => {
  const platform = await platformWith({ rules })
  const { chat } = platform
  expect((await control(platform, 'GET /limits')).body).toEqual({
    inForce: none,
    configured: none,
    isChanged: false,
    used: [],
  })
  const { body } = await control(platform, 'PUT /limits', { requestsPerMinute: 1, bodyBytes: 1000 })
  expect(body).toEqual({
    inForce: { ...none, requestsPerMinute: 1, bodyBytes: 1000 },
    configured: none,
    isChanged: true,
    used: [],
  })
  expect([(await chat(hello)).status, (await chat(hello)).status]).toEqual([200, 429])
  await control(platform, 'PUT /limits', { bodyBytes: 1000 })
  expect((await chat({ ...hello, user: 'x'.repeat(2000) })).status).toBe(413)
  expect((await control(platform, 'DELETE /limits')).body).toMatchObject({ inForce: none, isChanged: false })
  expect((await chat({ ...hello, user: 'x'.repeat(2000) })).status).toBe(200)
})

test('the usage of each credential is listed by name, without the secret', async () => {
  const platform = await platformWith({
    rules,
    limits: { requestsPerMinute: 2, tokensPerMinute: 1000 },
    apiKeys: [{ name: 'my app', key: 'sk-local-very-secret-indeed' }],
  })
  const { chat, ask, anonKey, clock } = platform
  for (let i = 0; i < 3; i++) await (await chat(hello)).text()
  await ask('/api/v1', { bearer: anonKey })
  const { used } = (await control(platform, 'GET /limits')).body
  expect(used).toEqual([
    {
      kind: 'apiKey',
      id: expect.any(String),
      name: 'my app',
      start: expect.stringMatching(/^sk-local-/),
      requests: 2,
      tokens: 24,
      streams: 0,
      refused: 1,
      resetMs: expect.any(Number),
    },
    { kind: 'anon', requests: 1, tokens: 0, streams: 0, refused: 0, resetMs: expect.any(Number) },
  ])
  expect(JSON.stringify(used)).not.toContain('very-secret-indeed')
  clock.advance(60_000)
  expect((await control(platform, 'GET /limits')).body.used).toEqual([])
})

test('usage survives a change of the limits, and a reset clears it', async () => {
  const platform = await platformWith({ rules, limits: { requestsPerMinute: 5 } })
  const left = async () => (await platform.chat(hello)).headers.get('x-ratelimit-remaining-requests')
  expect(await left()).toBe('4')
  await control(platform, 'PUT /limits', { requestsPerMinute: 3 })
  expect(await left()).toBe('1')
  await control(platform, 'POST /reset', {})
  expect((await control(platform, 'GET /limits')).body).toMatchObject({ isChanged: false, used: [] })
  expect(await left()).toBe('4')
})

test.each([
  [{ requestsPerMinute: -1 }, mustBe('requestsPerMinute', wholeNumber(0, 1000000000), -1)],
  [{ tokensPerMinutes: 1 }, `tokensPerMinutes ${isUnknown('tokensPerMinute')}`],
])('%j is refused, and nothing changes', async (wrong, error) => {
  const platform = await platformWith()
  expect(await control(platform, 'PUT /limits', wrong)).toEqual({ status: 400, body: { error } })
  expect((await control(platform, 'GET /limits')).body.isChanged).toBe(false)
})
