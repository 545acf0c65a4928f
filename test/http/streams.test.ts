import { connect } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Exchange } from '../../src/core/exchange.js'
import type { PaceInput } from '../../src/core/pace.js'
import { openPlatform } from '../../src/platform.js'
import { eventsOf, hello, platformWith, textOfChunks } from '../scene.js'
import { isUnknown } from '../sentences.js'
import { onTheWire, wireTo } from '../wire.js'

/** A rule that replies at this pace. */
const replying = (text: string, pace: PaceInput) => ({
  rules: [{ name: 'speech', reply: { text }, pace }],
})

const NEVER = 600_000

/** Reads a stream as it arrives. */
function readerOf({ body }: Response) {
  const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  return {
    /** The text of one read; `undefined` at the end. */
    read: async () => (await reader.read()).value,
    async readAll() {
      const reads: string[] = []
      for (let read = await reader.read(); !read.done; read = await reader.read()) reads.push(read.value)
      return reads
    },
  }
}

/** A platform that has begun to send a stream, and the exchange that its journal receives. */
async function startStream(rules: ReturnType<typeof replying>) {
  const given = { port: 0, state: 'memory' }
  const flags = Object.entries(given).map(([name, value]) => ({ path: [name], value, origin: 'the test' }))
  const platform = await openPlatform({ cwd: import.meta.dirname, file: false, flags, ...rules })
  onTestFinished(() => platform.stop())
  const journaled = new Promise<Exchange>(resolve => platform.journal.follow(resolve))
  const left = new AbortController()
  const response = await fetch(`${platform.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...hello, stream: true }),
    signal: left.signal,
  })
  return { platform, journaled, response, leave: () => left.abort() }
}

test('the headers of a stream arrive before its first token', async () => {
  const { chat } = await platformWith(replying('far away', { firstTokenMs: NEVER }))
  const left = new AbortController()
  // The first token is ten minutes away, so there is an answer here only if the headers came alone.
  const response = await chat({ ...hello, stream: true }, { signal: left.signal })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-cache')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(response.headers.get('content-length')).toBeNull()
  left.abort()
})

test('the first token arrives before the rest is sent', async () => {
  const { chat } = await platformWith(replying('one two', { tokensPerSecond: 0.001 }))
  const left = new AbortController()
  const first = await readerOf(await chat({ ...hello, stream: true }, { signal: left.signal })).read()
  expect(textOfChunks(eventsOf(first ?? '').chunks)).toBe('one')
  expect(first).not.toContain('[DONE]')
  left.abort()
})

test('a paced stream consists of the same events as an unpaced one', async () => {
  const text = 'Grüße, 世界 👋🏽!\n  "quoted" \\ and\ta very-long-word-that-is-cut-in-parts  '
  const streams = [{}, { firstTokenMs: 20, tokensPerSecond: 2000 }].map(async pace => {
    const { chat } = await platformWith(replying(text, pace))
    return eventsOf(await (await chat({ ...hello, stream: true })).text())
  })
  const [atOnce, inTime] = await Promise.all(streams)
  const bare = (chunk: object) => ({ ...chunk, id: '', created: 0 })
  expect(inTime?.chunks.map(bare)).toEqual(atOnce?.chunks.map(bare))
  expect(textOfChunks(inTime?.chunks ?? [])).toBe(text)
  expect(inTime?.done).toBe(true)
})

test('when a client disconnects in mid-stream, the stream ends here as well', async () => {
  const { journaled, response, leave } = await startStream(replying('one two', { tokensPerSecond: 0.001 }))
  await readerOf(response).read()
  leave()
  expect((await journaled).outcome).toMatchObject({
    status: 200,
    answeredBy: { kind: 'rule', title: 'rule "speech"' },
    error: undefined,
    complete: false,
  })
})

/** How long some work takes. Tests check only the minimum: the maximum depends on the machine. */
async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

describe('a pace that the request asks for', () => {
  const withPace = (pace: string) => ({ headers: { 'x-standin-pace': pace } })

  test('takes precedence over that of the rule', async () => {
    const { chat } = await platformWith(replying('one two', { firstTokenMs: NEVER }))
    const text = await (await chat({ ...hello, stream: true }, withPace('firstTokenMs=0'))).text()
    expect(textOfChunks(eventsOf(text).chunks)).toBe('one two')
  })

  test('keeps the settings that it does not name', async () => {
    const { chat } = await platformWith(replying('one two three', { tokensPerSecond: 50 }))
    const ask = async () => (await chat({ ...hello, stream: true }, withPace('firstTokenMs=100'))).text()
    expect(await msOf(ask)).toBeGreaterThanOrEqual(100 + 2 * 20)
  })

  test.each([
    ['speed=3', `speed ${isUnknown()} Known: firstTokenMs, tokensPerSecond, jitter.`],
    ['tokenPerSecond=3', `tokenPerSecond ${isUnknown('tokensPerSecond')}`],
    ['jitter=0.1, tokensPerSecond=50', 'must be sent once, with ";" between its settings, not ",".'],
  ])('is refused when it is invalid: %s', async (pace, sentence) => {
    const { chat } = await platformWith()
    const response = await chat({ ...hello, stream: true }, withPace(pace))
    expect(response.status).toBe(400)
    const words = sentence.startsWith('must') ? sentence : `: ${sentence}`
    expect(await response.json()).toEqual({
      error: `Header x-standin-pace${words.startsWith(':') ? words : ` ${words}`}`,
    })
  })

  test('is refused when it is sent twice', async () => {
    const { url, apiKey } = await platformWith()
    const wire = await wireTo(url)
    const headers = [`Authorization: Bearer ${apiKey}`, 'x-standin-pace: jitter=0', 'X-Standin-Pace: jitter=1']
    await wire.say(onTheWire('POST /v1/chat/completions', headers, JSON.stringify(hello)))
    const { status, body } = await wire.answer()
    expect(status).toBe(400)
    expect(JSON.parse(body)).toEqual({ error: expect.stringMatching(/^Header x-standin-pace must be sent once/) })
  })
})

test('writing pauses for a client that does not read, and it gets everything once it reads', async () => {
  const { url, apiKey, chat, journal, idle } = await platformWith(
    replying('word '.repeat(60_000), { tokensPerSecond: 100_000 }),
  )
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname).pause()
  onTestFinished(() => void socket.destroy())
  const body = JSON.stringify({ ...hello, stream: true })
  socket.write(onTheWire('POST /v1/chat/completions', [`Authorization: Bearer ${apiKey}`, 'Connection: close'], body))
  // Another stream ends in the meantime; this one cannot, since it is more than the system buffers for a connection.
  const size = (await (await chat({ ...hello, stream: true })).text()).length
  expect(await journal.count()).toBe(1)
  let bytes = 0
  for await (const chunk of socket) bytes += (chunk as Buffer).length
  expect(bytes).toBeGreaterThan(size)
  await idle()
  expect(await journal.count({ complete: true })).toBe(2)
})
