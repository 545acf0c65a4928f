import { expect, onTestFinished, test, vi } from 'vitest'
import type { Exchange } from '../../src/core/exchange.js'
import { openPlatform } from '../../src/platform.js'
import { eventsOf, hello, platformWith, textOfChunks } from '../scene.js'

/** A rule that speaks in this rhythm. */
const speaking = (text: string, pace: { firstTokenMs?: number; tokensPerSecond?: number }) => ({
  rules: [{ name: 'speech', reply: { text }, pace }],
})

const NEVER = 600_000

/** Reads a stream as it comes. */
function listenTo({ body }: Response) {
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

/** A platform seen from inside: what its journal takes in, exchange by exchange. */
async function platformFromInside(rules: ReturnType<typeof speaking>) {
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
  const { chat } = await platformWith(speaking('far away', { firstTokenMs: NEVER }))
  const left = new AbortController()
  // The first token is ten minutes away, so there is an answer here only if the headers came alone.
  const response = await chat({ ...hello, stream: true }, { signal: left.signal })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('cache-control')).toBe('no-cache')
  expect(response.headers.get('x-accel-buffering')).toBe('no')
  expect(response.headers.get('content-length')).toBeNull()
  left.abort()
})

test('the first token arrives while the rest is still to come', async () => {
  const { chat } = await platformWith(speaking('one two', { tokensPerSecond: 0.001 }))
  const left = new AbortController()
  const first = await listenTo(await chat({ ...hello, stream: true }, { signal: left.signal })).read()
  expect(textOfChunks(eventsOf(first ?? '').chunks)).toBe('one')
  expect(first).not.toContain('[DONE]')
  left.abort()
})

test('the pieces of a paced stream arrive over time', async () => {
  const { chat } = await platformWith(speaking('one two three', { tokensPerSecond: 5 }))
  const reads = await listenTo(await chat({ ...hello, stream: true })).readAll()
  expect(reads.length).toBeGreaterThan(1)
  const { chunks, done } = eventsOf(reads.join(''))
  expect(textOfChunks(chunks)).toBe('one two three')
  expect(done).toBe(true)
})

test('a paced stream consists of the same events as one that leaves at once', async () => {
  const text = 'Grüße, 世界 👋🏽!\n  "quoted" \\ and\ta very-long-word-that-is-cut-in-parts  '
  const streams = [{}, { firstTokenMs: 20, tokensPerSecond: 2000 }].map(async pace => {
    const { chat } = await platformWith(speaking(text, pace))
    return eventsOf(await (await chat({ ...hello, stream: true })).text())
  })
  const [atOnce, inTime] = await Promise.all(streams)
  const bare = (chunk: object) => ({ ...chunk, id: '', created: 0 })
  expect(inTime?.chunks.map(bare)).toEqual(atOnce?.chunks.map(bare))
  expect(textOfChunks(inTime?.chunks ?? [])).toBe(text)
  expect(inTime?.done).toBe(true)
})

test('the rhythm of the configuration holds for replies that no rule gives', async () => {
  const { chat } = await platformWith({ pace: { firstTokenMs: NEVER } })
  const left = new AbortController()
  const response = await chat({ ...hello, stream: true }, { signal: left.signal })
  expect(response.status).toBe(200)
  left.abort()
})

test('a reply that is not streamed does not wait for a rhythm', async () => {
  const { chat } = await platformWith(speaking('at once', { firstTokenMs: NEVER }))
  expect(await (await chat(hello)).json()).toMatchObject({ choices: [{ message: { content: 'at once' } }] })
})

test.each([
  ['at once', {}],
  ['in time', { firstTokenMs: 10, tokensPerSecond: 500 }],
])('include_usage adds one chunk without choices before the end of a stream that leaves %s', async (_how, pace) => {
  const { chat } = await platformWith(speaking('Hi there!', pace))
  const response = await chat({ ...hello, stream: true, stream_options: { include_usage: true } })
  const { chunks, done } = eventsOf(await response.text())
  expect(chunks.at(-1)).toMatchObject({
    choices: [],
    usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
  })
  expect(chunks.slice(0, -1).map(({ usage }) => usage)).toEqual(chunks.slice(0, -1).map(() => null))
  expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
  expect(done).toBe(true)
})

test('without include_usage no chunk speaks of usage', async () => {
  const { chat } = await platformWith(speaking('Hi there!', {}))
  const text = await (await chat({ ...hello, stream: true })).text()
  expect(text).toContain('[DONE]')
  expect(text).not.toContain('usage')
})

test('a client that leaves in mid-stream ends the stream here as well', async () => {
  const { journaled, response, leave } = await platformFromInside(speaking('one two', { tokensPerSecond: 0.001 }))
  await listenTo(response).read()
  leave()
  expect((await journaled).outcome).toEqual({
    status: 200,
    source: 'rule "speech"',
    error: undefined,
    complete: false,
  })
})

test('a client that leaves before the first token ends the stream here as well', async () => {
  const { journaled, leave } = await platformFromInside(speaking('one', { firstTokenMs: NEVER }))
  leave()
  expect((await journaled).outcome).toMatchObject({ status: 200, complete: false })
})

test('nothing goes on behind a client that has left', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { journaled, response, leave } = await platformFromInside(speaking('one two', { tokensPerSecond: 0.001 }))
  onTestFinished(() => void vi.useRealTimers())
  await listenTo(response).read()
  expect(vi.getTimerCount()).toBe(1)
  leave()
  await journaled
  expect(vi.getTimerCount()).toBe(0)
})

test('a stream that was read to its end is complete in the journal', async () => {
  const { journaled, response } = await platformFromInside(speaking('one two', { tokensPerSecond: 100 }))
  expect((await listenTo(response).readAll()).join('')).toContain('[DONE]')
  expect((await journaled).outcome).toMatchObject({ status: 200, complete: true })
})

test('a platform that stops cuts open streams, and the client notices', async () => {
  const { platform, journaled, response } = await platformFromInside(speaking('one two', { tokensPerSecond: 0.001 }))
  const stream = listenTo(response)
  await stream.read()
  await platform.stop(0)
  await expect(stream.read()).rejects.toThrow('terminated')
  expect((await journaled).outcome).toMatchObject({ complete: false })
})

test('a platform that is given time to stop lets an open stream end', async () => {
  const { platform, response } = await platformFromInside(speaking('one two three', { tokensPerSecond: 10 }))
  const stopped = platform.stop(NEVER)
  const { chunks, done } = eventsOf((await listenTo(response).readAll()).join(''))
  expect(textOfChunks(chunks)).toBe('one two three')
  expect(done).toBe(true)
  await stopped
})
