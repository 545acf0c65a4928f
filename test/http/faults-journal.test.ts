import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { type Exchange, sourceOf } from '../../src/core/exchange.js'
import type { PlatformOptions } from '../../src/index.js'
import { openPlatform } from '../../src/platform.js'
import { hello } from '../scene.js'
import { all, requestChat, streams, ways } from './answers.js'

/** A platform, and the chat completions that its journal receives, in order. */
async function journaledPlatform({ rules = [], ...options }: PlatformOptions = {}) {
  const values = { port: 0, state: 'memory', mode: options.mode ?? 'emulate' }
  const flags = [
    ...Object.entries(values),
    ...Object.entries(options.upstream ?? {}).map(([k, v]) => [`upstream.${k}`, v]),
  ].map(([name, value]) => ({ path: String(name).split('.'), value, origin: 'the test' }))
  const platform = await openPlatform({ cwd: import.meta.dirname, file: false, flags, rules })
  onTestFinished(() => platform.stop())
  const entries: Exchange[] = []
  const listeners: (() => void)[] = []
  platform.journal.follow(exchange => {
    if (exchange.path !== '/v1/chat/completions') return
    entries.push(exchange)
    for (const listener of listeners.splice(0)) listener()
  })
  return {
    platform,
    entries,
    /** The first `count` entries, as soon as the journal has received them. */
    async journaled(count = 1) {
      while (entries.length < count) await new Promise<void>(added => listeners.push(added))
      return entries.slice(0, count)
    },
  }
}

/** The outcome, with its source in words. */
const outcomeOf = ({ outcome }: Exchange = {} as Exchange) => ({ ...outcome, source: sourceOf(outcome) })

const byHeader = (fault: string) => `fault ${fault} (x-standin-fault)`

test.each(all)(
  'the journal names the source of an answer, its fault and whether it was complete: %s',
  async (_name, way) => {
    const { platform, entries, journaled } = await journaledPlatform(await way.options())
    const outcomes: readonly (readonly [fault: string, complete: boolean, source?: string])[] = [
      ['delayMs=1; contentType=text/plain', true],
      ['reset=mid-body', false],
      ['cutBytes=40', false],
      ...(way.isStream
        ? ([
            ['cut=2', false],
            ['fail=2', true],
          ] as const)
        : ([['cut=1', true, ', which had no effect']] as const)),
    ]
    for (const [fault] of outcomes) await requestChat(platform, { ...way, fault })
    expect((await journaled(outcomes.length)).map(outcomeOf)).toMatchObject(
      outcomes.map(([fault, complete, effect = '']) => ({
        ...{ status: 200, complete },
        source: `${way.source} + ${byHeader(fault)}${effect}`,
      })),
    )
    // Each once.
    await requestChat(platform, way)
    await journaled(outcomes.length + 1)
    expect(entries).toHaveLength(outcomes.length + 1)
  },
)

test('an error from a fault is journaled with its message and its cause', async () => {
  const { platform, journaled } = await journaledPlatform()
  platform.faultCalls.add({ fault: { status: 429, message: 'Slow down.' }, times: 1 })
  await requestChat(platform, { isStream: false })
  expect(outcomeOf((await journaled())[0])).toMatchObject({
    status: 429,
    source: 'fault status=429 (one-shot)',
    error: 'Slow down.',
    hint: 'Made by the fault status=429 (one-shot).',
    complete: true,
  })
})

// Clients that disconnect, and a platform that stops.

/** Sends a request, and disconnects once it has been taken or its first data has arrived. */
async function leaveAfter(platform: { url: string; apiKey: string }, fault: string, until: 'taken' | 'data') {
  const request = http.request(`${platform.url}/v1/chat/completions`, {
    method: 'POST',
    agent: false,
    headers: { authorization: `Bearer ${platform.apiKey}`, 'x-standin-fault': fault },
  })
  request.on('error', () => {})
  await new Promise<void>(sent => request.end(JSON.stringify({ ...hello, stream: true }), () => sent()))
  if (until === 'data') {
    const [response] = await once(request, 'response')
    await once(response, 'data')
  }
  // Once a later request is answered, the earlier ones have been taken.
  else await fetch(`${platform.url}/v1/models`, { headers: { authorization: `Bearer ${platform.apiKey}` } })
  request.destroy()
}

test.each(streams)(
  'a request that hangs or waits ends when its client disconnects, and is journaled: %s',
  async (_name, way) => {
    const { platform, journaled } = await journaledPlatform(await way.options())
    const faults = ['hang', 'delayMs=3600000', 'status=503; delayMs=3600000']
    for (const fault of faults) await leaveAfter(platform, fault, 'taken')
    const outcomes = (await journaled(faults.length)).map(outcomeOf)
    expect(outcomes).toMatchObject(
      faults.map(fault => ({
        status: 0,
        error: undefined,
        complete: false,
        source: byHeader(fault),
      })),
    )
  },
)

test.each(streams)('a stalled stream ends when its client disconnects: %s', async (_name, way) => {
  const { platform, journaled } = await journaledPlatform(await way.options())
  await leaveAfter(platform, 'stall=1', 'data')
  const [entry] = await journaled()
  expect(outcomeOf(entry)).toMatchObject({
    status: 200,
    complete: false,
    source: `${way.source} + ${byHeader('stall=1')}`,
  })
})

test.each(streams)('a platform stops even while requests hang, wait or stall: %s', async (_name, way) => {
  const { platform, entries } = await journaledPlatform(await way.options())
  const faults = ['hang', 'delayMs=3600000', 'stall=1', 'stall=1; stallMs=3600000']
  const requests = faults.map(fault => requestChat(platform, { ...way, fault }).catch(() => undefined))
  // When the last request is answered, the others have been taken.
  await requestChat(platform, way)
  await platform.stop()
  await Promise.all(requests)
  expect(entries.length).toBe(faults.length + 1)
})

test('a stalled live stream does not pile up in memory', async () => {
  let taken = 0
  const event = Buffer.from(`data: ${JSON.stringify({ text: 'x'.repeat(65_000) })}\n\n`)
  const server = http.createServer(async (request, response) => {
    request.resume()
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const gone = once(response, 'close')
    while (!response.destroyed && taken < 2000) {
      taken++
      if (!response.write(event)) await Promise.race([once(response, 'drain'), gone])
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const { platform, journaled } = await journaledPlatform({
    mode: 'proxy',
    upstream: { baseUrl: `http://127.0.0.1:${port}`, apiKey: 'sk-live' },
  })
  const held = requestChat(platform, { isStream: true, fault: 'stall=2; stallMs=400; cut=2' })
  const { text } = await held
  await journaled()
  expect(text.length).toBe(2 * event.length)
  // Kernel and streams buffer a few megabytes between two processes; 2000 events would be 130.
  expect(taken).toBeLessThan(400)
})

test('a live stream goes on after a stall that is longer than the timeout', async () => {
  const { upstream, ...options } = await (ways['proxied, a paced stream'] as (typeof ways)[string]).options()
  const { platform, journaled } = await journaledPlatform({ ...options, upstream: { ...upstream, timeoutMs: 300 } })
  const { isWhole, text } = await requestChat(platform, { isStream: true, fault: 'stall=1; stallMs=600' })
  expect(isWhole).toBe(true)
  expect(text).toContain('[DONE]')
  expect(outcomeOf((await journaled())[0])).toMatchObject({ complete: true })
})
