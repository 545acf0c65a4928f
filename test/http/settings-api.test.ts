import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { didYouMean, isUnknown, mustBe, NEEDS_LIVE, range } from '../sentences.js'
import { control } from './controlled.js'

/** A platform with a configuration file that a test can edit. */
async function edited(config: object) {
  const dir = mkdtempSync(path.join(tmpdir(), 'standin-changes-'))
  const file = path.join(dir, 'platform.config.yaml')
  const write = (written: object) => writeFileSync(file, JSON.stringify({ state: 'memory', port: 0, ...written }))
  write(config)
  const platform = await openPlatform({ cwd: dir, file })
  onTestFinished(async () => {
    await platform.stop()
    rmSync(dir, { recursive: true, force: true })
  })
  const edit = async (written: object) => {
    write(written)
    await platform.reload()
  }
  return { platform, edit }
}

test('run-time changes survive an edit of other settings; an edit of the same setting wins', async () => {
  const { platform, edit } = await edited({})
  await control(platform, 'PUT /pace', { firstTokenMs: 1, models: { 'gpt-4o': { jitter: 1 } } })
  await control(platform, 'PUT /limits', { requestsPerMinute: 50 })
  await control(platform, 'PUT /faults/random', { random: [{ chance: 0, hang: true }] })
  const changed = () =>
    Promise.all(
      ['/pace', '/limits', '/faults/random'].map(
        async path => (await control(platform, `GET ${path}`)).body.isChanged as boolean,
      ),
    )
  await edit({ version: '1.0.1' })
  expect(await changed()).toEqual([true, true, true])
  expect((await control(platform, 'GET /pace')).body.inForce).toMatchObject({ models: { 'gpt-4o': { jitter: 1 } } })
  await edit({ version: '1.0.1', limits: { requestsPerMinute: 9 } })
  expect(await changed()).toEqual([true, false, true])
  expect((await control(platform, 'GET /limits')).body.inForce.requestsPerMinute).toBe(9)
  await edit({ version: '1.0.1', models: [{ id: 'mine', pace: { jitter: 0.1 } }] })
  expect(await changed()).toEqual([false, false, true])
  await edit({ version: '1.0.1', faults: { random: [{ chance: 0.5, hang: true }] } })
  expect(await changed()).toEqual([false, false, false])
})

test('a full reset restores the configuration; a reset of one scope keeps changes that apply to all scopes', async () => {
  const platform = await platformWith({ pace: { tokensPerSecond: 500 } })
  await control(platform, 'PUT /pace', { tokensPerSecond: 600 })
  await control(platform, 'PUT /limits', { requestsPerMinute: 50 })
  await control(platform, 'POST /reset', { scope: 'one' })
  expect((await control(platform, 'GET /pace')).body.inForce.tokensPerSecond).toBe(600)
  expect((await control(platform, 'GET /limits')).body.isChanged).toBe(true)
  await control(platform, 'POST /reset')
  expect((await control(platform, 'GET /pace')).body.inForce.tokensPerSecond).toBe(500)
  expect((await control(platform, 'GET /limits')).body.isChanged).toBe(false)
})

test('random faults can be set and removed at run time', async () => {
  const platform = await platformWith()
  const always = { chance: 1, status: 503 }
  const { body } = await control(platform, 'PUT /faults/random', { random: [always] })
  expect(body).toEqual({ inForce: [{ ...always, path: '/v1/*' }], configured: [], isChanged: true })
  expect((await platform.chat(hello)).status).toBe(503)
  await control(platform, 'DELETE /faults/random')
  expect((await platform.chat(hello)).status).toBe(200)
  expect(await control(platform, 'PUT /faults/random', { random: [{ chance: 2, hang: true }] })).toEqual({
    status: 400,
    body: { error: mustBe('random[0].chance', range('a number', 0, 1), 2) },
  })
})

test('a pending fault can be deleted by its id', async () => {
  const platform = await platformWith()
  const { id } = (await control(platform, 'POST /faults', { fault: { status: 500 } })).body
  await control(platform, 'POST /faults', { fault: { status: 503 } })
  expect(await control(platform, `DELETE /faults/${id}`)).toEqual({ status: 204, body: undefined })
  expect((await platform.chat(hello)).status).toBe(503)
  expect(await control(platform, `DELETE /faults/${id}`)).toEqual({
    status: 404,
    body: { error: `There is no waiting fault with the id "${id}".` },
  })
})

test('the list of modes says why one is unavailable', async () => {
  const platform = await platformWith({ modes: { 'GET /v1/models': 'replay' } })
  const needs = NEEDS_LIVE
  const configured = { mode: 'emulate', modes: { 'GET /v1/models': 'replay' } }
  expect((await control(platform, 'GET /mode/choices')).body).toEqual({
    data: [
      { mode: 'emulate' },
      { mode: 'proxy', reason: `The mode proxy ${needs}` },
      { mode: 'record', reason: `The mode record ${needs}` },
      { mode: 'replay' },
    ],
    configured,
  })
})

const setClock = async ({ ask }: Scene, body: unknown) => {
  const response = await ask('/__standin/clock', {
    method: 'PUT',
    bearer: null,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

const getClock = async ({ ask }: Scene) => (await ask('/__standin/clock', { bearer: null })).json()

test.each([
  ['a time', '2031-02-03T04:05:06Z'],
  ['milliseconds', Date.UTC(2031, 1, 3, 4, 5, 6)],
])('the clock freezes at exactly the given time: %s', async (_what, now) => {
  const platform = await platformWith()
  const { status, body } = await setClock(platform, { now, frozen: true })
  expect({ status, body }).toEqual({
    status: 200,
    body: { now: '2031-02-03T04:05:06.000Z', frozen: true, offsetMs: expect.any(Number) },
  })
  expect(await getClock(platform)).toMatchObject({ now: '2031-02-03T04:05:06.000Z', frozen: true })
})

const aMoment = 'a time from 1970 to 9000, such as 2030-01-31T12:00:00Z, or milliseconds since 1970'

test.each([
  [{ now: 'tomorrow' }, mustBe('now', aMoment, 'tomorrow')],
  [{ now: -1 }, mustBe('now', aMoment, -1)],
  [{ advanceMs: '1h' }, mustBe('advanceMs', 'a whole number of milliseconds', '1h')],
  [{ advanceMs: -9e15 }, 'advanceMs must lead to a time from 1970 to 9000; -9000000000000000 does not.'],
  [{ advancems: 1 }, `advancems ${isUnknown('advanceMs')}`],
])('%j is refused with an error that names the field', async (body, error) => {
  const platform = await platformWith()
  expect(await setClock(platform, body)).toEqual({ status: 400, body: { error } })
})

test('a refused call changes nothing, even if some of its fields are valid', async () => {
  const platform = await platformWith()
  await setClock(platform, { now: '2031-02-03', frozen: true })
  await setClock(platform, { now: '1970-01-01', advanceMs: -1, frozen: false })
  expect(await getClock(platform)).toMatchObject({ now: '2031-02-03T00:00:00.000Z', frozen: true })
})

const rules = [{ reply: { text: 'one two three four' } }]

/** A pace too slow for any test: a stream that ends did not follow it. */
const forever = { firstTokenMs: 600_000 }

/** Reads a stream to its end; returns how long it took to begin. */
async function firstMsOf({ chat }: Scene, body: object = {}): Promise<number> {
  const beganMs = performance.now()
  const response = await chat({ ...hello, stream: true, ...body })
  const reader = response.body?.getReader()
  await reader?.read()
  const firstMs = performance.now() - beganMs
  while (!(await reader?.read())?.done);
  return firstMs
}

test('a pace set at run time applies from the next stream until it is deleted', async () => {
  const platform = await platformWith({ rules })
  const { body } = await control(platform, 'PUT /pace', { firstTokenMs: 300 })
  expect(body).toMatchObject({ inForce: { firstTokenMs: 300 }, configured: { firstTokenMs: 0 }, isChanged: true })
  expect(await firstMsOf(platform)).toBeGreaterThan(290)
  await control(platform, 'PUT /pace', forever)
  expect((await control(platform, 'DELETE /pace')).body).toMatchObject({
    inForce: { firstTokenMs: 0 },
    isChanged: false,
  })
  await firstMsOf(platform)
})

test('a model can be given a pace of its own, or lose it', async () => {
  const platform = await platformWith({
    rules,
    models: [{ id: 'gpt-4o-mini' }, { id: 'other', pace: { firstTokenMs: 300 } }],
  })
  expect(await firstMsOf(platform, { model: 'other' })).toBeGreaterThan(290)
  await control(platform, 'PUT /pace', { models: { other: forever } })
  await control(platform, 'PUT /pace', { models: { other: {}, 'gpt-4o-mini': { firstTokenMs: 300 } } })
  await firstMsOf(platform, { model: 'other' })
  expect(await firstMsOf(platform)).toBeGreaterThan(290)
  const { inForce } = (await control(platform, 'GET /pace')).body
  expect((await control(platform, 'PUT /pace', inForce)).body.inForce).toEqual(inForce)
  // Models are listed as before: their pace is not shown.
  const { data } = (await (await platform.ask('/v1/models')).json()) as { data: readonly object[] }
  expect(data.map(model => 'pace' in model)).toEqual([false, false])
})

test.each([
  [{ firstTokenMs: -1 }, mustBe('firstTokenMs', range('milliseconds', 0, 600000), -1)],
  [{ tokenPerSecond: 3 }, `tokenPerSecond ${isUnknown('tokensPerSecond')}`],
  [{ models: { 'gpt-4': {} } }, `models["gpt-4"] is no model here.${didYouMean('gpt-4o')}`],
])('%j is refused, and nothing changes', async (wrong, error) => {
  const platform = await platformWith()
  expect(await control(platform, 'PUT /pace', wrong)).toEqual({ status: 400, body: { error } })
  expect((await control(platform, 'GET /pace')).body.isChanged).toBe(false)
})

const greeting = [{ reply: { text: 'Hi there!' } }]
const none = {
  bodyBytes: 4_194_304,
  requestsPerMinute: 0,
  tokensPerMinute: 0,
  concurrentStreams: 0,
}

test('limits can be set and removed at run time, for every credential', async () => {
  const platform = await platformWith({ rules: greeting })
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
    rules: greeting,
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
