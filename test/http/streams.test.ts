import { once } from 'node:events'
import http from 'node:http'
import { connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { Endpoint, Exchange, PacedBody } from '../../src/core/exchange.js'
import { type PaceInput, unpaced } from '../../src/core/pace.js'
import { createEntrance } from '../../src/http/entrance.js'
import { listen } from '../../src/http/listen.js'
import { openPlatform } from '../../src/platform.js'
import { eventsOf, hello, platformWith, textOfChunks } from '../scene.js'
import { isUnknown, mustBe, oneOf, range } from '../sentences.js'
import { onTheWire, wireTo } from '../wire.js'
import { journalOfAll, lineOver } from './emulating.js'

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

test('the pieces of a paced stream arrive over time', async () => {
  const { chat } = await platformWith(replying('one two three', { tokensPerSecond: 5 }))
  const reads = await readerOf(await chat({ ...hello, stream: true })).readAll()
  expect(reads.length).toBeGreaterThan(1)
  const { chunks, done } = eventsOf(reads.join(''))
  expect(textOfChunks(chunks)).toBe('one two three')
  expect(done).toBe(true)
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

test('the pace of the configuration applies to replies that come from no rule', async () => {
  const { chat } = await platformWith({ pace: { firstTokenMs: NEVER } })
  const left = new AbortController()
  const response = await chat({ ...hello, stream: true }, { signal: left.signal })
  expect(response.status).toBe(200)
  left.abort()
})

test('a reply that is not streamed is not paced', async () => {
  const { chat } = await platformWith(replying('at once', { firstTokenMs: NEVER }))
  expect(await (await chat(hello)).json()).toMatchObject({ choices: [{ message: { content: 'at once' } }] })
})

test.each([
  ['unpaced', {}],
  ['paced', { firstTokenMs: 10, tokensPerSecond: 500 }],
])('include_usage adds one chunk without choices before the end of a stream: %s', async (_how, pace) => {
  const { chat } = await platformWith(replying('Hi there!', pace))
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

test('without include_usage no chunk has a usage', async () => {
  const { chat } = await platformWith(replying('Hi there!', {}))
  const text = await (await chat({ ...hello, stream: true })).text()
  expect(text).toContain('[DONE]')
  expect(text).not.toContain('usage')
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

test('when a client disconnects before the first token, the stream ends here as well', async () => {
  const { journaled, leave } = await startStream(replying('one', { firstTokenMs: NEVER }))
  leave()
  expect((await journaled).outcome).toMatchObject({ status: 200, complete: false })
})

test('no timer goes on after a client has disconnected', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  const { journaled, response, leave } = await startStream(replying('one two', { tokensPerSecond: 0.001 }))
  onTestFinished(() => void vi.useRealTimers())
  await readerOf(response).read()
  expect(vi.getTimerCount()).toBe(1)
  leave()
  await journaled
  expect(vi.getTimerCount()).toBe(0)
})

test('a stream that is read to its end is journaled as complete', async () => {
  const { journaled, response } = await startStream(replying('one two', { tokensPerSecond: 100 }))
  expect((await readerOf(response).readAll()).join('')).toContain('[DONE]')
  expect((await journaled).outcome).toMatchObject({ status: 200, complete: true })
})

test('a platform that stops cuts open streams, and the client notices', async () => {
  const { platform, journaled, response } = await startStream(replying('one two', { tokensPerSecond: 0.001 }))
  const stream = readerOf(response)
  await stream.read()
  await platform.stop(0)
  await expect(stream.read()).rejects.toThrow('terminated')
  expect((await journaled).outcome).toMatchObject({ complete: false })
})

test('a platform that is given time to stop lets an open stream end', async () => {
  const { platform, response } = await startStream(replying('one two three', { tokensPerSecond: 10 }))
  const stopped = platform.stop(NEVER)
  const { chunks, done } = eventsOf((await readerOf(response).readAll()).join(''))
  expect(textOfChunks(chunks)).toBe('one two three')
  expect(done).toBe(true)
  await stopped
})

test('an idle keep-alive connection does not hold up a platform that stops', async () => {
  const { platform, response } = await startStream(replying('one', {}))
  await response.text()
  const agent = new http.Agent({ keepAlive: true })
  const request = http.get(`${platform.url}/health`, { agent })
  const [answer] = (await once(request, 'response')) as [http.IncomingMessage]
  await once(answer.resume(), 'close')
  expect(Object.keys(agent.freeSockets)).toHaveLength(1)
  await platform.stop(NEVER)
})

/** How long some work takes. Tests check only the minimum: the maximum depends on the machine. */
async function msOf(work: () => Promise<unknown>): Promise<number> {
  const startedMs = performance.now()
  await work()
  return performance.now() - startedMs
}

test('a stream takes at least as long as its pace says', async () => {
  const { chat } = await platformWith(
    replying('one two three four five six', { firstTokenMs: 50, tokensPerSecond: 50 }),
  )
  const ms = await msOf(async () => (await chat({ ...hello, stream: true })).text())
  expect(ms).toBeGreaterThanOrEqual(50 + 5 * 20)
})

test('many streams at once are slower than one, and all arrive in full', async () => {
  const pace = { tokensPerSecond: 100, fullSpeedStreams: 2 }
  const { chat } = await platformWith(replying('one two three four five six', pace))
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
  const withPace = (pace: string) => ({ headers: { 'x-standin-pace': pace } })

  test('takes precedence over that of the rule', async () => {
    const { chat } = await platformWith(replying('one two', { firstTokenMs: NEVER }))
    const text = await (await chat({ ...hello, stream: true }, withPace('firstTokenMs=0'))).text()
    expect(textOfChunks(eventsOf(text).chunks)).toBe('one two')
  })

  test('applies to a reply without a pace', async () => {
    const { chat } = await platformWith(replying('one two', {}))
    const left = new AbortController()
    const init = { ...withPace(' tokensPerSecond = 0.001 ; jitter=0.2 ;'), signal: left.signal }
    const first = await readerOf(await chat({ ...hello, stream: true }, init)).read()
    expect(textOfChunks(eventsOf(first ?? '').chunks)).toBe('one')
    left.abort()
  })

  test('applies to a reply that comes from no rule', async () => {
    const { chat } = await platformWith()
    const left = new AbortController()
    const init = { ...withPace(`firstTokenMs=${NEVER}`), signal: left.signal }
    expect((await chat({ ...hello, stream: true }, init)).status).toBe(200)
    left.abort()
  })

  test('keeps the settings that it does not name', async () => {
    const { chat } = await platformWith(replying('one two three', { tokensPerSecond: 50 }))
    const ask = async () => (await chat({ ...hello, stream: true }, withPace('firstTokenMs=100'))).text()
    expect(await msOf(ask)).toBeGreaterThanOrEqual(100 + 2 * 20)
  })

  test('applies to that request only', async () => {
    const { chat } = await platformWith(replying('one two', {}))
    const left = new AbortController()
    await chat({ ...hello, stream: true }, { ...withPace(`firstTokenMs=${NEVER}`), signal: left.signal })
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

/** A paced body of the test's own. */
const inPieces = (pieces: readonly string[], pace: PaceInput, more: Partial<PacedBody> = {}): PacedBody => ({
  ...{ head: '[', before: '', pieces, after: ' ', tail: ']' },
  pace: { ...unpaced, ...(pace as object) },
  ...more,
})

/** A line that answers /there with this body, and the exchanges that its journal receives. */
async function lineWith(body: PacedBody) {
  const endpoint: Endpoint = {
    ...{ method: 'GET', path: '/there', access: 'anyone', takesBody: false },
    reply: () => ({ kind: 'reply', status: 200, contentType: 'text/plain', body }),
  }
  const journal = journalOfAll()
  const exchanges: Exchange[] = []
  const waiting = new Map<number, () => void>()
  journal.follow(exchange => waiting.get(exchanges.push(exchange))?.())
  const line = lineOver({ endpoint, journal })
  const listener = await listen(createEntrance({ line: line.accept, app: () => {} }), { host: '127.0.0.1', port: 0 })
  onTestFinished(() => listener.stop(0))
  return {
    url: `http://127.0.0.1:${listener.port}`,
    port: listener.port,
    exchanges,
    /** Resolves when the journal has received `count` exchanges. */
    journaled: (count: number) => new Promise<void>(resolve => waiting.set(count, resolve)),
  }
}

test('a long prompt delays its stream', async () => {
  const { url } = await lineWith(
    inPieces(['a', 'b'], { promptTokensPerSecond: 1000, firstTokenMs: 20 }, { promptTokens: 100 }),
  )
  const ms = await msOf(async () => expect(await (await fetch(`${url}/there`)).text()).toBe('[a b ]'))
  expect(ms).toBeGreaterThanOrEqual(120)
})

test('the chunk sizes of a stream that is not ASCII count bytes', async () => {
  const pieces = ['Grüße', '世界', '👋🏽', 'plain']
  const { url } = await lineWith(inPieces(pieces, { tokensPerSecond: 200 }))
  expect(await (await fetch(`${url}/there`)).text()).toBe('[Grüße 世界 👋🏽 plain ]')
})

test('HEAD of a paced body gets the headers immediately, and no body', async () => {
  const { url, exchanges } = await lineWith(inPieces(['a'], { firstTokenMs: NEVER }))
  const wire = await wireTo(url)
  await wire.say(onTheWire('HEAD /there', ['Connection: close']))
  expect(await wire.rest()).toMatch(/^HTTP\/1\.1 200 OK\r\n.*\r\n\r\n$/s)
  expect(exchanges).toMatchObject([{ outcome: { complete: true } }])
})

test('a paced stream to an HTTP/1.0 client is not chunked, and ends with its connection', async () => {
  const { url } = await lineWith(inPieces(['a', 'b', 'c'], { firstTokenMs: 5, tokensPerSecond: 100 }))
  const wire = await wireTo(url)
  await wire.say('GET /there HTTP/1.0\r\n\r\n')
  expect(await wire.rest()).toMatch(/\r\n\r\n\[a b c \]$/)
})

test('a connection stays open after a paced stream', async () => {
  const { url } = await lineWith(inPieces(['a', 'b', 'c'], { tokensPerSecond: 100 }))
  const wire = await wireTo(url)
  await wire.say(onTheWire('GET /there'))
  // Only the last chunk of the first answer shows where it ends and the second begins.
  await wire.say(onTheWire('GET /there', ['Connection: close']))
  const answers = (await wire.rest()).split(/(?=HTTP\/1\.1 )/)
  expect(answers.map(bodyOf)).toEqual(['[a b c ]', '[a b c ]'])
})

test('pipelined paced streams are sent one after the other, each in full', async () => {
  const { url, exchanges } = await lineWith(inPieces(['a', 'b', 'c'], { firstTokenMs: 10, tokensPerSecond: 100 }))
  const wire = await wireTo(url)
  const requests = [
    ...Array.from({ length: 9 }, () => onTheWire('GET /there')),
    onTheWire('GET /there', ['Connection: close']),
  ]
  await wire.say(requests.join(''))
  const answers = (await wire.rest()).split(/(?=HTTP\/1\.1 )/)
  expect(answers.map(bodyOf)).toEqual(requests.map(() => '[a b c ]'))
  expect(exchanges.map(({ outcome }) => outcome?.complete)).toEqual(requests.map(() => true))
})

/** The body of a chunked answer. */
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

test('writing pauses for a client that does not read, and it gets everything once it reads', async () => {
  const piece = 'x'.repeat(100_000)
  const pieces = Array.from({ length: 200 }, () => piece)
  const { url, port, exchanges } = await lineWith(inPieces(pieces, { tokensPerSecond: 2000 }))
  const socket = connect({ port, host: '127.0.0.1' })
  onTestFinished(() => void socket.destroy())
  socket.pause()
  socket.write(onTheWire('GET /there', ['Connection: close']))
  // Another stream ends in the meantime; this one cannot, since its 20 MB are more than the system buffers for a connection.
  const size = (await (await fetch(`${url}/there`)).text()).length
  expect(exchanges).toHaveLength(1)
  let bytes = 0
  for await (const chunk of socket) bytes += (chunk as Buffer).length
  expect(bytes).toBeGreaterThan(size)
  expect(exchanges).toMatchObject([{ outcome: { complete: true } }, { outcome: { complete: true } }])
})

test('a client that half-closes its connection ends its stream', async () => {
  const { port, exchanges, journaled } = await lineWith(inPieces(['a', 'b', 'c'], { tokensPerSecond: 20 }))
  const socket = await firstBytesOf(port)
  const gone = journaled(1)
  socket.end()
  await gone
  expect(exchanges).toMatchObject([{ outcome: { complete: false } }])
})

test('thousands of streams are released when their clients disconnect', async () => {
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

/** A client that has received the beginning of a stream. */
const firstBytesOf = (port: number) =>
  new Promise<Socket>((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1' })
    socket.once('error', reject)
    socket.once('data', () => resolve(socket))
    socket.write(onTheWire('GET /there'))
  })
