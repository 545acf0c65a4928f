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

const change = (platform: Pick<Scene, 'url'>, settings: object) => control(platform, 'PUT /settings', settings)
const settingsOf = async (platform: Pick<Scene, 'url'>) => (await control(platform, 'GET /settings')).body

test('run-time changes survive an edit of other settings; an edit of the same setting wins', async () => {
  const { platform, edit } = await edited({})
  await change(platform, {
    pace: { firstTokenMs: 1, models: { 'gpt-4o': { jitter: 1 } } },
    limits: { requestsPerMinute: 50 },
    random: [{ chance: 0, hang: true }],
  })
  const changed = async () => {
    const { pace, limits, random } = await settingsOf(platform)
    return [pace, limits, random].map(({ isChanged }) => isChanged)
  }
  await edit({ version: '1.0.1' })
  expect(await changed()).toEqual([true, true, true])
  expect((await settingsOf(platform)).pace.inForce).toMatchObject({ models: { 'gpt-4o': { jitter: 1 } } })
  await edit({ version: '1.0.1', limits: { requestsPerMinute: 9 } })
  expect(await changed()).toEqual([true, false, true])
  expect((await settingsOf(platform)).limits.inForce.requestsPerMinute).toBe(9)
  await edit({ version: '1.0.1', models: [{ id: 'mine', pace: { jitter: 0.1 } }] })
  expect(await changed()).toEqual([false, false, true])
  await edit({ version: '1.0.1', faults: { random: [{ chance: 0.5, hang: true }] } })
  expect(await changed()).toEqual([false, false, false])
})

test('a full reset restores the configuration; a reset of one scope keeps changes that apply to all scopes', async () => {
  const platform = await platformWith({ pace: { tokensPerSecond: 500 } })
  await change(platform, { pace: { tokensPerSecond: 600 } })
  await change(platform, { limits: { requestsPerMinute: 50 } })
  await control(platform, 'POST /reset', { scope: 'one' })
  expect((await settingsOf(platform)).pace.inForce.tokensPerSecond).toBe(600)
  expect((await settingsOf(platform)).limits.isChanged).toBe(true)
  await control(platform, 'POST /reset')
  expect((await settingsOf(platform)).pace.inForce.tokensPerSecond).toBe(500)
  expect((await settingsOf(platform)).limits.isChanged).toBe(false)
})

test('random faults can be set and removed at run time', async () => {
  const platform = await platformWith()
  const always = { chance: 1, status: 503 }
  const { body } = await change(platform, { random: [always] })
  expect(body.random).toEqual({ inForce: [{ ...always, path: '/v1/*' }], configured: [], isChanged: true })
  expect((await platform.chat(hello)).status).toBe(503)
  await change(platform, { random: null })
  expect((await platform.chat(hello)).status).toBe(200)
  expect(await change(platform, { random: [{ chance: 2, hang: true }] })).toEqual({
    status: 400,
    body: { error: mustBe('random[0].chance', range('a number', 0, 1), 2) },
  })
})

test('the list of modes says why one is unavailable', async () => {
  const platform = await platformWith({ modes: { 'GET /v1/models': 'replay' } })
  const needs = NEEDS_LIVE
  const configured = { mode: 'emulate', modes: { 'GET /v1/models': 'replay' } }
  expect((await control(platform, 'GET /mode')).body).toEqual({
    ...configured,
    choices: [
      { mode: 'emulate' },
      { mode: 'proxy', reason: `The mode proxy ${needs}` },
      { mode: 'record', reason: `The mode record ${needs}` },
      { mode: 'replay' },
    ],
    configured,
  })
})

const setClock = async (platform: Scene, clock: unknown) => {
  const { status, body } = await change(platform, { clock })
  return status === 200 ? { status, body: body.clock } : { status, body }
}

const getClock = async (platform: Scene) => (await settingsOf(platform)).clock

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
  [{ now: 'tomorrow' }, mustBe('clock.now', aMoment, 'tomorrow')],
  [{ now: -1 }, mustBe('clock.now', aMoment, -1)],
  [{ advanceMs: '1h' }, mustBe('clock.advanceMs', 'a whole number of milliseconds', '1h')],
  [{ advanceMs: -9e15 }, 'clock.advanceMs must lead to a time from 1970 to 9000; -9000000000000000 does not.'],
  [{ advancems: 1 }, `clock.advancems ${isUnknown('advanceMs')}`],
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

test('a pace set at run time applies from the next stream until it is restored', async () => {
  const platform = await platformWith({ rules })
  const { body } = await change(platform, { pace: { firstTokenMs: 300 } })
  expect(body.pace).toMatchObject({ inForce: { firstTokenMs: 300 }, configured: { firstTokenMs: 0 }, isChanged: true })
  expect(await firstMsOf(platform)).toBeGreaterThan(290)
  await change(platform, { pace: forever })
  expect((await change(platform, { pace: null })).body.pace).toMatchObject({
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
  await change(platform, { pace: { models: { other: forever } } })
  await change(platform, { pace: { models: { other: {}, 'gpt-4o-mini': { firstTokenMs: 300 } } } })
  await firstMsOf(platform, { model: 'other' })
  expect(await firstMsOf(platform)).toBeGreaterThan(290)
  const { inForce } = (await settingsOf(platform)).pace
  expect((await change(platform, { pace: inForce })).body.pace.inForce).toEqual(inForce)
  // Models are listed as before: their pace is not shown.
  const { data } = (await (await platform.ask('/v1/models')).json()) as { data: readonly object[] }
  expect(data.map(model => 'pace' in model)).toEqual([false, false])
})

test.each([
  [{ firstTokenMs: -1 }, mustBe('pace.firstTokenMs', range('milliseconds', 0, 600000), -1)],
  [{ tokenPerSecond: 3 }, `pace.tokenPerSecond ${isUnknown('tokensPerSecond')}`],
  [{ models: { 'gpt-4': {} } }, `pace.models["gpt-4"] is no model here.${didYouMean('gpt-4o')}`],
])('%j is refused, and nothing changes', async (wrong, error) => {
  const platform = await platformWith()
  const both = { pace: wrong, limits: { requestsPerMinute: 1 }, clock: { frozen: true } }
  expect(await change(platform, both)).toEqual({ status: 400, body: { error } })
  expect(await settingsOf(platform)).toMatchObject({ clock: { frozen: false }, limits: { isChanged: false } })
  expect((await settingsOf(platform)).pace.isChanged).toBe(false)
})

const greeting = [{ reply: { text: 'Hi there!' } }]
const none = {
  bodyBytes: 4_194_304,
  requestsPerMinute: 0,
  tokensPerMinute: 0,
}

test('limits can be set and removed at run time, for every credential', async () => {
  const platform = await platformWith({ rules: greeting })
  const { chat } = platform
  expect((await settingsOf(platform)).limits).toEqual({
    inForce: none,
    configured: none,
    isChanged: false,
    used: [],
  })
  const { body } = await change(platform, { limits: { requestsPerMinute: 1, bodyBytes: 1000 } })
  expect(body.limits).toEqual({
    inForce: { ...none, requestsPerMinute: 1, bodyBytes: 1000 },
    configured: none,
    isChanged: true,
    used: [],
  })
  expect([(await chat(hello)).status, (await chat(hello)).status]).toEqual([200, 429])
  await change(platform, { limits: { bodyBytes: 1000 } })
  expect((await chat({ ...hello, user: 'x'.repeat(2000) })).status).toBe(413)
  expect((await change(platform, { limits: null })).body.limits).toMatchObject({ inForce: none, isChanged: false })
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
  const { used } = (await settingsOf(platform)).limits
  expect(used).toEqual([
    {
      kind: 'apiKey',
      id: expect.any(String),
      name: 'my app',
      start: expect.stringMatching(/^sk-local-/),
      requests: 2,
      tokens: 24,

      refused: 1,
      resetMs: expect.any(Number),
    },
    { kind: 'anon', requests: 1, tokens: 0, refused: 0, resetMs: expect.any(Number) },
  ])
  expect(JSON.stringify(used)).not.toContain('very-secret-indeed')
  await clock.advance(60_000)
  expect((await settingsOf(platform)).limits.used).toEqual([])
})
