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

test('each change of what decides the next answer is told, with who made it and what it was before', async () => {
  const platform = await platformWith()
  const valuesOf = await following(platform)
  const latest = () => valuesOf<object>('situation').at(-1)
  await vi.waitFor(() => expect(latest()).toMatchObject({ mode: { mode: 'emulate' }, faults: [], changed: {} }))
  const test = await connect(platform.url)
  await test.failNext({ status: 503 })
  await vi.waitFor(() =>
    expect(latest()).toMatchObject({
      faults: [{ fault: { status: 503 }, times: 1 }],
      changed: { faults: { by: 'test', from: [] } },
    }),
  )
  expect((await platform.chat(hello)).status).toBe(503)
  await vi.waitFor(() => expect(latest()).toMatchObject({ faults: [], changed: {} }))
  platform.clock.advance(86_400_000)
  await vi.waitFor(() => expect(latest()).toMatchObject({ changed: { clock: { by: 'test', from: { offsetMs: 0 } } } }))
  const headers = { 'content-type': 'application/json', 'x-standin-dashboard': 'yes' }
  await platform.ask('/__standin/pace', { method: 'PUT', headers, body: '{"firstTokenMs":5}' })
  await vi.waitFor(() =>
    expect(latest()).toMatchObject({
      pace: { firstTokenMs: 5 },
      changed: { pace: { by: 'dashboard', from: { firstTokenMs: 0 } } },
    }),
  )
  await platform.ask('/__standin/reset', { method: 'POST' })
  await vi.waitFor(() => expect(latest()).toMatchObject({ clock: { offsetMs: 0 }, changed: {} }))
})
