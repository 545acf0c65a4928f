import { once } from 'node:events'
import http from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Endpoint, Exchange, Paced } from '../../src/core/exchange.js'
import { type PaceInput, unpaced } from '../../src/core/pace.js'
import { createEntrance } from '../../src/http/entrance.js'
import { listen } from '../../src/http/listen.js'
import { openPlatform } from '../../src/platform.js'
import { eventsOf, hello, platformWith, textOfChunks } from '../scene.js'
import { isUnknown, mustBe, oneOf, range } from '../sentences.js'
import { onTheWire, wireTo } from '../wire.js'
import { journalOfAll, lineOver } from './emulating.js'

/** A rule that speaks in this rhythm. */
const speaking = (text: string, pace: PaceInput) => ({
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
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
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
  expect((await journaled).outcome).toMatchObject({
    status: 200,
    answeredBy: { kind: 'rule', title: 'rule "speech"' },
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

test('a connection that is kept alive and idle does not hold it up', async () => {
  const { platform, response } = await platformFromInside(speaking('one', {}))
  await response.text()
  const agent = new http.Agent({ keepAlive: true })
  const request = http.get(`${platform.url}/health`, { agent })
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage]
  await once(answer.resume(), 'close')
  expect(Object.keys(agent.freeSockets)).toHaveLength(1)
  await platform.stop(NEVER)
})

/** The longest that a stream may have taken is the machine's affair; what it takes at least is the plan's. */
async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

test('a stream takes at least the time of its plan', async () => {
  const { chat } = await platformWith(
    speaking('one two three four five six', { firstTokenMs: 50, tokensPerSecond: 50 }),
  )
  const ms = await msOf(async () => (await chat({ ...hello, stream: true })).text())
  expect(ms).toBeGreaterThanOrEqual(50 + 5 * 20)
})

test('many streams at once are slower than one, and all arrive whole', async () => {
  const pace = { tokensPerSecond: 100, fullSpeedStreams: 2 }
  const { chat } = await platformWith(speaking('one two three four five six', pace))
  const texts: string[] = []
  const ms = await msOf(async () => {
    const streams = Array.from({ length: 20 }, async () => (await chat({ ...hello, stream: true })).text())
    texts.push(...(await Promise.all(streams)))
  })
  for (const text of texts) expect(textOfChunks(eventsOf(text).chunks)).toBe('one two three four five six')
  // 20 streams of five pauses: two at a time need 10 × 50 ms, however they share.
  expect(ms).toBeGreaterThanOrEqual(500)
})

describe('a pace that the request asks for', () => {
  const asking = (pace: string) => ({ headers: { 'x-standin-pace': pace } })

  test('comes before that of the rule', async () => {
    const { chat } = await platformWith(speaking('one two', { firstTokenMs: NEVER }))
    const text = await (await chat({ ...hello, stream: true }, asking('firstTokenMs=0'))).text()
    expect(textOfChunks(eventsOf(text).chunks)).toBe('one two')
  })

  test('sets the rhythm of a reply that has none', async () => {
    const { chat } = await platformWith(speaking('one two', {}))
    const left = new AbortController()
    const asked = { ...asking(' tokensPerSecond = 0.001 ; jitter=0.2 ;'), signal: left.signal }
    const first = await listenTo(await chat({ ...hello, stream: true }, asked)).read()
    expect(textOfChunks(eventsOf(first ?? '').chunks)).toBe('one')
    left.abort()
  })

  test('sets the rhythm of a reply that no rule gives', async () => {
    const { chat } = await platformWith()
    const left = new AbortController()
    const asked = { ...asking(`firstTokenMs=${NEVER}`), signal: left.signal }
    expect((await chat({ ...hello, stream: true }, asked)).status).toBe(200)
    left.abort()
  })

  test('leaves alone what it does not name', async () => {
    const { chat } = await platformWith(speaking('one two three', { tokensPerSecond: 50 }))
    const ask = async () => (await chat({ ...hello, stream: true }, asking('firstTokenMs=100'))).text()
    expect(await msOf(ask)).toBeGreaterThanOrEqual(100 + 2 * 20)
  })

  test('holds for that request only', async () => {
    const { chat } = await platformWith(speaking('one two', {}))
    const left = new AbortController()
    await chat({ ...hello, stream: true }, { ...asking(`firstTokenMs=${NEVER}`), signal: left.signal })
    expect(eventsOf(await (await chat({ ...hello, stream: true })).text()).done).toBe(true)
    left.abort()
  })

  test.each([
    [
      'speed=3',
      `speed ${isUnknown()} Known: firstTokenMs, tokensPerSecond, jitter, distribution, promptTokensPerSecond, fullSpeedStreams.`,
    ],
    ['tokenPerSecond=3', `tokenPerSecond ${isUnknown('tokensPerSecond')}`],
    ['firstTokenMs=soon', mustBe('firstTokenMs', range('milliseconds', 0, 600000), 'soon')],
    ['firstTokenMs', mustBe('firstTokenMs', range('milliseconds', 0, 600000), true)],
    ['tokensPerSecond=-1', mustBe('tokensPerSecond', range('a number', 0, 100000), -1)],
    ['tokensPerSecond=50;jitter=2', mustBe('jitter', range('a number', 0, 1), 2)],
    ['distribution=normal', mustBe('distribution', oneOf('fixed', 'uniform', 'lognormal'), 'normal')],
    ['fullSpeedStreams=1.5', mustBe('fullSpeedStreams', 'a whole number', 1.5)],
    ['jitter=0.1, tokensPerSecond=50', 'must be sent once, with ";" between its settings, not ",".'],
  ])('is refused when it is wrong: %s', async (pace, sentence) => {
    const { chat } = await platformWith()
    const response = await chat({ ...hello, stream: true }, asking(pace))
    expect(response.status).toBe(400)
    const told = sentence.startsWith('must') ? sentence : `: ${sentence}`
    expect(await response.json()).toEqual({ error: `Header x-standin-pace${told.startsWith(':') ? told : ` ${told}`}` })
  })

  test('is refused when it is there twice', async () => {
    const { url, apiKey } = await platformWith()
    const wire = await wireTo(url)
    const headers = [`Authorization: Bearer ${apiKey}`, 'x-standin-pace: jitter=0', 'X-Standin-Pace: jitter=1']
    await wire.say(onTheWire('POST /v1/chat/completions', headers, JSON.stringify(hello)))
    const { status, body } = await wire.answer()
    expect(status).toBe(400)
    expect(JSON.parse(body)).toEqual({ error: expect.stringMatching(/^Header x-standin-pace must be sent once/) })
  })
})

/** A paced body of our own. */
const inPieces = (pieces: readonly string[], pace: PaceInput, more: Partial<Paced> = {}): Paced => ({
  ...{ head: '[', before: '', pieces, after: ' ', tail: ']' },
  pace: { ...unpaced, ...(pace as object) },
  ...more,
})

/** A line that answers /there with this body; and what its journal takes in. */
async function lineWith(body: Paced) {
  const endpoint: Endpoint = {
    ...{ method: 'GET', path: '/there', access: 'anyone', takesBody: false },
    reply: () => ({ kind: 'reply', status: 200, contentType: 'text/plain', body }),
  }
  const journal = journalOfAll()
  const exchanges: Exchange[] = []
  const waiting = new Map<number, () => void>()
  journal.follow(exchange => waiting.get(exchanges.push(exchange))?.())
  const line = lineOver({ endpoint, journal })
  const listener = await listen(createEntrance({ line: line.accept, rest: () => {} }), { host: '127.0.0.1', port: 0 })
  onTestFinished(() => listener.stop(0))
  return {
    url: `http://127.0.0.1:${listener.port}`,
    port: listener.port,
    exchanges,
    /** Resolves when so many exchanges are in the journal. */
    journaled: (count: number) => new Promise<void>(resolve => waiting.set(count, resolve)),
  }
}

test('a long prompt takes its time to read', async () => {
  const { url } = await lineWith(
    inPieces(['a', 'b'], { promptTokensPerSecond: 1000, firstTokenMs: 20 }, { promptTokens: 100 }),
  )
  const ms = await msOf(async () => expect(await (await fetch(`${url}/there`)).text()).toBe('[a b ]'))
  expect(ms).toBeGreaterThanOrEqual(120)
})

test('a stream that is not ASCII says how many bytes its chunks have', async () => {
  const pieces = ['Grüße', '世界', '👋🏽', 'plain']
  const { url } = await lineWith(inPieces(pieces, { tokensPerSecond: 200 }))
  expect(await (await fetch(`${url}/there`)).text()).toBe('[Grüße 世界 👋🏽 plain ]')
})

test('HEAD of a paced body gets the headers at once and nothing of the body', async () => {
  const { url, exchanges } = await lineWith(inPieces(['a'], { firstTokenMs: NEVER }))
  const wire = await wireTo(url)
  await wire.say(onTheWire('HEAD /there', ['Connection: close']))
  expect(await wire.rest()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s)
  expect(exchanges).toMatchObject([{ outcome: { complete: true } }])
})

test('a paced stream to HTTP/1.0 is not chunked, and ends with its connection', async () => {
  const { url } = await lineWith(inPieces(['a', 'b', 'c'], { firstTokenMs: 5, tokensPerSecond: 100 }))
  const wire = await wireTo(url)
  await wire.say('GET /there HTTP/1.0\r\n\r\n')
  expect(await wire.rest()).toMatch(/\r\n\r\n\[a b c \]$/)
})

test('a connection is kept after a paced stream', async () => {
  const { url } = await lineWith(inPieces(['a', 'b', 'c'], { tokensPerSecond: 100 }))
  const wire = await wireTo(url)
  await wire.say(onTheWire('GET /there'))
  // By its second request the first one has ended, which only its last chunk can tell.
  await wire.say(onTheWire('GET /there', ['Connection: close']))
  const answers = (await wire.rest()).split(/(?=HTTP\/1\.1 )/)
  expect(answers.map(bodyOf)).toEqual(['[a b c ]', '[a b c ]'])
})

test('paced streams that are asked for at once on one connection follow one another, each in one piece', async () => {
  const { url, exchanges } = await lineWith(inPieces(['a', 'b', 'c'], { firstTokenMs: 10, tokensPerSecond: 100 }))
  const wire = await wireTo(url)
  const asked = [
    ...Array.from({ length: 9 }, () => onTheWire('GET /there')),
    onTheWire('GET /there', ['Connection: close']),
  ]
  await wire.say(asked.join(''))
  const answers = (await wire.rest()).split(/(?=HTTP\/1\.1 )/)
  expect(answers.map(bodyOf)).toEqual(asked.map(() => '[a b c ]'))
  expect(exchanges.map(({ outcome }) => outcome?.complete)).toEqual(asked.map(() => true))
})

/** The body of an answer that came in chunks. */
function bodyOf(answer: string): string {
  let rest = answer.slice(answer.indexOf('\r\n\r\n') + 4)
  let body = ''
  for (;;) {
    const end = rest.indexOf('\r\n')
    const size = Number.parseInt(rest.slice(0, end), 16)
    if (size === 0) return rest === '0\r\n\r\n' ? body : `${body} and then ${JSON.stringify(rest)}`
    body += rest.slice(end + 2, end + 2 + size)
    expect(rest.slice(end + 2 + size, end + 4 + size)).toBe('\r\n')
    rest = rest.slice(end + 4 + size)
  }
}

test('a client that reads nothing is not written to without end, and gets everything when it reads', async () => {
  const piece = 'x'.repeat(100_000)
  const pieces = Array.from({ length: 200 }, () => piece)
  const { url, port, exchanges } = await lineWith(inPieces(pieces, { tokensPerSecond: 2000 }))
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.pause()
  socket.write(onTheWire('GET /there', ['Connection: close']))
  // Another one ends in the meantime; this one cannot, since its 20 MB are more than the system keeps for a connection.
  const size = (await (await fetch(`${url}/there`)).text()).length
  expect(exchanges).toHaveLength(1)
  let bytes = 0
  for await (const chunk of socket) bytes += (chunk as Buffer).length
  expect(bytes).toBeGreaterThan(size)
  expect(exchanges).toMatchObject([{ outcome: { complete: true } }, { outcome: { complete: true } }])
})

test('a client that says no more ends its stream', async () => {
  const { port, exchanges, journaled } = await lineWith(inPieces(['a', 'b', 'c'], { tokensPerSecond: 20 }))
  const socket = await firstBytesOf(port)
  const gone = journaled(1)
  socket.end()
  await gone
  expect(exchanges).toMatchObject([{ outcome: { complete: false } }])
})

test('thousands of streams are let go when their clients leave', async () => {
  const streams = 2000
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const { port, exchanges, journaled } = await lineWith(inPieces(['a', 'b'], { tokensPerSecond: 0.001 }))
  const playing = await Promise.all(Array.from({ length: streams }, () => firstBytesOf(port)))
  expect(exchanges).toEqual([])
  expect(vi.getTimerCount()).toBe(1)
  const allGone = journaled(streams)
  for (const socket of playing) socket.destroy()
  await allGone
  expect(new Set(exchanges.map(({ outcome }) => outcome?.complete))).toEqual(new Set([false]))
  expect(vi.getTimerCount()).toBe(0)
})

/** A client that has been sent the beginning of a stream. */
const firstBytesOf = (port: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('error', reject)
    socket.once('data', () => resolve(socket))
    socket.write(onTheWire('GET /there'))
  })
