/** What the feed of a list tells besides the requests that have ended: those in flight, and what decides the next answer. */
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect } from '../../src/index.js'
import { hello, platformWith, type Scene } from '../scene.js'

/** Follows the journal as the dashboard does. Returns the values of each kind of event so far. */
async function following(platform: Scene) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const { body } = await platform.ask('/__standin/journal?follow&brief', { signal: leaving.signal })
  const events: { readonly event: string; readonly value: never }[] = []
  const read = async () => {
    let text = ''
    for await (const piece of (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream() as never)) {
      const parts = (text + piece).split('\n\n')
      text = parts.pop() ?? ''
      for (const part of parts) {
        const [, event, json] = /^event: (\w+)\n(?:id: \d+\n)?data: (.*)$/m.exec(part) ?? []
        if (event && json) events.push({ event, value: JSON.parse(json) as never })
      }
    }
  }
  read().catch(() => {})
  return <T>(wanted: string) => events.filter(({ event }) => event === wanted).map(({ value }) => value as T)
}

interface Flight {
  readonly prompt: string
  readonly status: number | null
  readonly pieces: number
  readonly tokens: number
}

test('a request is told when it begins, then its pieces as they grow, and then that it is over', async () => {
  const platform = await platformWith({ pace: { firstTokenMs: 400, tokensPerSecond: 20, jitter: 0 } })
  const valuesOf = await following(platform)
  const answer = platform.chat({ ...hello, stream: true }).then(response => response.text())
  await vi.waitFor(() => expect(valuesOf<Flight[]>('flights')[0]).toMatchObject([{ prompt: 'hello', pieces: 0 }]))
  await answer
  await vi.waitFor(() => expect(valuesOf('flights').at(-1)).toEqual([]), { timeout: 3000 })
  const grown = valuesOf<Flight[]>('flights').flatMap(flights => flights.map(({ tokens }) => tokens))
  expect(Math.max(...grown)).toBeGreaterThan(Math.min(...grown))
  expect(valuesOf<unknown[]>('exchanges').flat()).toMatchObject([{ prompt: 'hello', status: 200 }])
})

test('a request that hangs is in flight until its client leaves', async () => {
  const platform = await platformWith()
  const valuesOf = await following(platform)
  const leaving = new AbortController()
  const headers = { 'x-standin-fault': 'hang=true' }
  const hanging = platform.chat(hello, { headers, signal: leaving.signal }).catch(() => 'left')
  await vi.waitFor(() => expect(valuesOf<Flight[]>('flights').at(-1)).toMatchObject([{ status: null }]))
  leaving.abort()
  expect(await hanging).toBe('left')
  await vi.waitFor(() => expect(valuesOf('flights').at(-1)).toEqual([]))
})

interface Situation {
  readonly data: readonly {
    readonly what: string
    readonly says: string
    readonly by?: string
    readonly undo: string | null
  }[]
  readonly problems: readonly object[]
}

test('each change of what decides the next answer is told, with who made it, and can be taken back', async () => {
  const platform = await platformWith()
  const valuesOf = await following(platform)
  const latest = () => valuesOf<Situation>('situation').at(-1)?.data ?? []
  const told = (what: string) => latest().find(item => item.what === what)
  await vi.waitFor(() => expect(latest()).toEqual([{ what: 'mode', says: 'emulate', undo: null }]))
  const test = await connect(platform.url)
  await test.failNext({ status: 503 }, { times: 2 })
  await vi.waitFor(() => expect(told('faults')).toMatchObject({ says: 'the next 2 requests: status=503', by: 'test' }))
  expect((await platform.chat(hello)).status).toBe(503)
  await vi.waitFor(() => expect(told('faults')).toMatchObject({ says: 'the next request: status=503', by: 'test' }))
  await platform.clock.advance(86_400_000)
  await platform.reply('For now.', { when: { user: 'hi' } })
  await platform.hold({ when: { user: 'later' } })
  const headers = { 'content-type': 'application/json', 'x-standin-dashboard': 'yes' }
  const random = [{ status: 500, chance: 0.05 }]
  const put = (path: string, body: object) =>
    platform.ask(`/__standin${path}`, { method: 'PUT', headers, body: JSON.stringify(body) })
  await put('/settings', {
    pace: { firstTokenMs: 5, models: { 'gpt-4o': { tokensPerSecond: 9 } } },
    limits: { requestsPerMinute: 90 },
    random,
  })
  await put('/mode', { mode: 'replay' })
  await vi.waitFor(() => expect(told('mode')).toMatchObject({ says: 'replay', by: 'dashboard' }))
  expect(latest().map(({ what, says }) => `${what}: ${says}`)).toEqual([
    'mode: replay',
    'faults: the next request: status=503',
    'random faults: 5 % of /v1/*: status=500',
    expect.stringContaining('holds: hold-1 on chat completions when {"user":"later"}'),
    'limits: 90 requests a minute',
    'pace: first token after 5 ms, then at once; gpt-4o: first token after 5 ms, 9 a second',
    'clock: clock +1 day',
    'rules: 1 temporary rule',
  ])
  for (const { undo } of latest()) {
    const taken = await platform.ask(`/__standin/situation/${encodeURIComponent(undo ?? '')}`, {
      method: 'DELETE',
      headers,
    })
    expect(taken.status).toBe(204)
  }
  await vi.waitFor(() => expect(latest()).toEqual([{ what: 'mode', says: 'emulate', undo: null }]))
  expect((await platform.ask('/__standin/situation/nothing', { method: 'DELETE' })).status).toBe(404)
})

test('after two changes of the mode, taking it back leads to what is configured', async () => {
  const platform = await platformWith({ upstream: { baseUrl: 'http://127.0.0.1:9', apiKey: 'a-live-key-of-somebody' } })
  for (const mode of ['record', 'replay'] as const) await platform.switchMode(mode)
  await platform.ask('/__standin/situation/mode', { method: 'DELETE' })
  expect(await platform.mode).toBe('emulate')
})
