import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import path from 'node:path'
import { constants, createGzip, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { openFolder } from '../../src/recordings/index.js'
import { createRecorder } from '../../src/recordings/recorder.js'
import { createRun } from '../../src/recordings/run.js'
import { createShelf } from '../../src/recordings/shelf.js'
import { createRedact } from '../../src/redact/index.js'
import { folderWith } from '../command.js'
import { exchangeWith } from '../exchanges.js'
import { hello } from '../scene.js'
import { liveWith, saying, tape } from './live.js'

const sse = { 'content-type': 'text/event-stream' }

/** A stream of these events, ending in `[DONE]` where that is among them. */
const streaming =
  (...events: readonly string[]) =>
  (_request: unknown, response: ServerResponse) => {
    response.writeHead(200, sse)
    for (const event of events) response.write(`data: ${event}\n\n`)
    response.end()
  }

/** A live platform that gives another answer each time. */
const counting = () => {
  let count = 0
  return liveWith((request, response) => saying({ count: ++count })(request, response))
}

test('every exchange with the live platform becomes a file, and the client has what the live platform said', async () => {
  const live = await liveWith(saying({ object: 'list', data: [{ id: 'live-model' }] }))
  const { recording, files, text } = tape(live.url)
  const { ask, stop, receipt } = await recording()
  const response = await ask('/v1/models')
  expect(await response.json()).toEqual({ object: 'list', data: [{ id: 'live-model' }] })
  await stop()
  expect(files()).toEqual([expect.stringMatching(/^models\/get-[0-9a-f]{12}\.yaml$/)])
  expect(text()).toContain('        - id: live-model\n')
  expect(receipt()).toMatchObject({ recorded: 1, passed: 1, served: 0, missed: 0 })
})

test('a refusal of the live platform is recorded as faithfully as anything it says', async () => {
  const live = await liveWith((_request, response) =>
    response.writeHead(429, { 'retry-after': '7', 'content-type': 'application/json' }).end('{"error":"Slow down."}'),
  )
  const { recording, replaying } = tape(live.url)
  const { chat, stop } = await recording()
  await (await chat(hello)).text()
  await stop()
  const again = await (await replaying()).chat(hello)
  expect(again.status).toBe(429)
  expect(again.headers.get('retry-after')).toBe('7')
  expect(await again.text()).toBe('{"error":"Slow down."}')
})

test('a live platform that cannot be reached leaves nothing on the disk', async () => {
  const live = await liveWith((request: IncomingMessage) => void request.socket.destroy())
  const { recording, files } = tape(live.url)
  const { chat, stop } = await recording()
  expect((await chat(hello)).status).toBe(502)
  await stop()
  expect(files()).toEqual([])
})

test('the same request asked several times is a list in the order of the requests, however late each answer comes', async () => {
  const live = await liveWith(() => {})
  const { recording, replaying, files } = tape(live.url)
  const { chat, stop } = await recording()
  const answers: Promise<unknown>[] = []
  const open: ServerResponse[] = []
  for (let i = 0; i < 3; i++) {
    const arrived = live.nextRequest()
    answers.push(chat(hello).then(response => response.json()))
    open.push((await arrived)[1])
  }
  const request = {} as IncomingMessage
  for (const i of [2, 0, 1]) saying({ nth: i + 1 })(request, open[i] as never)
  expect(await Promise.all(answers)).toEqual([{ nth: 1 }, { nth: 2 }, { nth: 3 }])
  await stop()
  expect(files().map(file => file.replace(/[0-9a-f]{12}/, 'KEY'))).toEqual([
    'chat-completions/gpt-4o-mini-hello-KEY-2.yaml',
    'chat-completions/gpt-4o-mini-hello-KEY-3.yaml',
    'chat-completions/gpt-4o-mini-hello-KEY.yaml',
  ])
  const replay = await replaying()
  const played: unknown[] = []
  for (let i = 0; i < 3; i++) played.push(await (await replay.chat(hello)).json())
  expect(played).toEqual([{ nth: 1 }, { nth: 2 }, { nth: 3 }])
})

test('what is recorded again takes the place of what was there, with nothing left of the longer list of old', async () => {
  const live = await counting()
  const { recording, files, text } = tape(live.url)
  const first = await recording()
  for (let i = 0; i < 3; i++) await (await first.chat(hello)).text()
  await first.stop()
  expect(files()).toHaveLength(3)
  const second = await recording()
  await (await second.chat(hello)).text()
  await second.stop()
  expect(files()).toHaveLength(1)
  expect(text()).toContain('count: 4')
})

test('with onlyNew what is there stays, and what is new is added', async () => {
  const live = await counting()
  const { recording, files, text } = tape(live.url)
  const first = await recording()
  await (await first.chat(hello)).text()
  await first.stop()
  const [old = ''] = files()
  const before = text(old)
  const second = await recording({ recordings: { save: 'onlyNew' } })
  expect(await (await second.chat(hello)).json()).toEqual({ count: 2 })
  for (let i = 0; i < 2; i++) await (await second.chat({ ...hello, temperature: 0 })).text()
  await second.stop()
  expect(files()).toHaveLength(3)
  expect(text(old)).toBe(before)
})

test('a live platform that dies in mid-stream leaves a recording that is marked and not played', async () => {
  const live = await liveWith((_request, response) => {
    response.writeHead(200, sse).write('data: {"n":1}\n\n')
    response.once('drain', () => {})
    setImmediate(() => response.destroy())
  })
  const { recording, replaying, text } = tape(live.url)
  const { chat, stop } = await recording()
  await expect((await chat({ ...hello, stream: true })).text()).rejects.toThrow('terminated')
  await stop()
  expect(text()).toContain('complete: false')
  const response = await (await replaying()).chat({ ...hello, stream: true })
  expect(response.status).toBe(424)
  expect(await response.json()).toEqual({ error: expect.stringContaining('broke off') })
})

test('a recording that broke off breaks off again when it is asked for', async () => {
  const live = await liveWith((_request, response) => {
    response.writeHead(200, sse).write('data: {"n":1}\n\n')
    setImmediate(() => response.destroy())
  })
  const { recording, replaying } = tape(live.url)
  const { chat, stop } = await recording()
  await expect((await chat({ ...hello, stream: true })).text()).rejects.toThrow('terminated')
  await stop()
  const replay = await replaying({ recordings: { incomplete: true } })
  const response = await replay.chat({ ...hello, stream: true })
  expect(response.status).toBe(200)
  const heard: string[] = []
  const reading = (async () => {
    for await (const text of response.body as unknown as AsyncIterable<Uint8Array>)
      heard.push(Buffer.from(text).toString())
  })()
  await expect(reading).rejects.toThrow('terminated')
  expect(heard.join('')).toBe('data: {"n":1}\n\n')
})

test('so does a whole answer that broke off: it does not look complete', async () => {
  const live = await liveWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '100' }).write('{"whole":')
    setImmediate(() => response.destroy())
  })
  const { recording, replaying } = tape(live.url)
  const { chat, stop } = await recording()
  await expect((await chat(hello)).text()).rejects.toThrow('terminated')
  await stop()
  const response = await (await replaying({ recordings: { incomplete: true } })).chat(hello)
  expect(response.status).toBe(200)
  await expect(response.text()).rejects.toThrow('terminated')
})

test('what broke off never takes the place of what is complete', async () => {
  let breaks = false
  const live = await liveWith((request, response) => {
    if (!breaks) return saying({ whole: true })(request, response)
    response.writeHead(200, { 'content-length': '100' }).write('{"whole":')
    setImmediate(() => response.destroy())
  })
  const { recording, text } = tape(live.url)
  const first = await recording()
  await (await first.chat(hello)).text()
  await first.stop()
  breaks = true
  const second = await recording()
  await expect((await second.chat(hello)).text()).rejects.toThrow('terminated')
  await second.stop()
  expect(text()).toContain('whole: true')
  expect(text()).not.toContain('complete: false')
})

test('a client that hangs up once it has read [DONE] leaves a complete recording', async () => {
  const live = await liveWith((_request, response) => {
    // It says everything there is to say and does not end.
    response.writeHead(200, sse).write('data: {"n":1}\n\ndata: [DONE]\n\n')
  })
  const { recording, replaying } = tape(live.url)
  const { chat, stop } = await recording()
  const left = new AbortController()
  const asking = chat({ ...hello, stream: true }, { signal: left.signal })
  const [, response] = await live.nextRequest()
  const hungUp = once(response, 'close')
  const reader = ((await asking).body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  left.abort()
  await hungUp
  await stop()
  const replay = await replaying({ recordings: { speed: 0 } })
  expect(await (await replay.chat({ ...hello, stream: true })).text()).toBe('data: {"n":1}\n\ndata: [DONE]\n\n')
})

test('a client that leaves in mid-stream leaves a recording that is marked', async () => {
  const live = await liveWith((_request, response) => void response.writeHead(200, sse).write('data: {"n":1}\n\n'))
  const { recording, text } = tape(live.url)
  const { chat, stop } = await recording()
  const left = new AbortController()
  const asking = chat({ ...hello, stream: true }, { signal: left.signal })
  const [, response] = await live.nextRequest()
  const hungUp = once(response, 'close')
  await ((await asking).body as ReadableStream<Uint8Array>).getReader().read()
  left.abort()
  await hungUp
  await stop()
  expect(text()).toContain('complete: false')
})

test('the bytes come back as they were, wherever the network cut them and whatever they are', async () => {
  const bytes = Buffer.concat([
    Buffer.from('data: {"t":"Zürich 🌍"}\r\n\r\n: a comment\n\n'),
    Buffer.from([0xff, 0, 0xc3]),
  ])
  const live = await liveWith(async (_request, response) => {
    response.writeHead(200, sse)
    // Each byte by itself, so that no letter of more than one arrives whole.
    for (const byte of bytes) await new Promise<void>(sent => response.write(Buffer.of(byte), () => sent()))
    response.end('data: [DONE]\n\n')
  })
  const { recording, replaying } = tape(live.url)
  const ask = { ...hello, stream: true }
  const { chat, stop } = await recording()
  const heard = Buffer.from(await (await chat(ask)).arrayBuffer())
  await stop()
  expect(heard.subarray(0, bytes.length).equals(bytes)).toBe(true)
  for (const speed of [0, 1000]) {
    const replay = await replaying({ recordings: { speed } })
    expect(Buffer.from(await (await replay.chat(ask)).arrayBuffer()).equals(heard)).toBe(true)
  }
})

test('a body that is no text comes back byte for byte, with its length', async () => {
  const bytes = Buffer.from(Array.from({ length: 1000 }, (_, i) => (i * 7) % 256))
  const live = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(bytes),
  )
  const { recording, replaying } = tape(live.url)
  const { chat, stop } = await recording()
  await (await chat(hello)).arrayBuffer()
  await stop()
  const response = await (await replaying()).chat(hello)
  expect(response.headers.get('content-length')).toBe('1000')
  expect(Buffer.from(await response.arrayBuffer()).equals(bytes)).toBe(true)
})

test('the live platform is asked for plain text, and what comes compressed all the same is kept readable', async () => {
  const packed = gzipSync('{"object":"list","data":[{"id":"packed-model"}]}')
  const live = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' }).end(packed),
  )
  const { recording, replaying, text } = tape(live.url)
  const { ask, stop } = await recording()
  // fetch unpacks it.
  expect(await (await ask('/v1/models')).json()).toMatchObject({ data: [{ id: 'packed-model' }] })
  await stop()
  expect(live.seen[0]?.request.headers['accept-encoding']).toBe('identity')
  expect(text()).toContain('id: packed-model')
  const response = await (await replaying()).ask('/v1/models')
  expect(response.headers.get('content-encoding')).toBeNull()
  expect(await response.text()).toBe('{"object":"list","data":[{"id":"packed-model"}]}')
})

test('a compressed stream keeps its rhythm and becomes readable', async () => {
  const live = await liveWith(async (_request, response) => {
    response.writeHead(200, { ...sse, 'content-encoding': 'gzip' })
    const gzip = createGzip()
    gzip.pipe(response)
    for (const event of ['data: {"n":1}\n\n', 'data: {"n":2}\n\n', 'data: [DONE]\n\n']) {
      gzip.write(event)
      await new Promise<void>(flushed => gzip.flush(constants.Z_SYNC_FLUSH, () => flushed()))
      await new Promise(resolve => setTimeout(resolve, 20))
    }
    gzip.end()
  })
  const { recording, text } = tape(live.url)
  const { chat, stop } = await recording()
  await (await chat({ ...hello, stream: true })).text()
  await stop()
  const times = [...text().matchAll(/atMs: ([\d.]+)/g)].map(([, ms]) => Number(ms))
  expect(times.length).toBeGreaterThanOrEqual(3)
  expect((times.at(-1) ?? 0) - (times[0] ?? 0)).toBeGreaterThan(30)
  expect(text()).toContain('data: {"n":2}')
})

test('an encoding that cannot be read is not kept, since its secrets could not be found', async () => {
  const live = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'secret-sauce' }).end('whatever'),
  )
  const { recording, files } = tape(live.url)
  const { ask, stop, receipt } = await recording()
  expect((await ask('/v1/models')).status).toBe(200)
  await stop()
  expect(files()).toEqual([])
  expect(receipt()?.notRecorded).toEqual([expect.stringContaining('"secret-sauce" cannot be read')])
})

test('an answer beyond the limit reaches the client whole and the disk not at all', async () => {
  const live = await liveWith((_request, response) => response.writeHead(200, sse).end('x'.repeat(100_000)))
  const { recording, files } = tape(live.url)
  const { chat, stop, receipt } = await recording({ recordings: { maxBytes: 50_000 } })
  expect(await (await chat({ ...hello, stream: true })).text()).toHaveLength(100_000)
  await stop()
  expect(files()).toEqual([])
  expect(receipt()?.notRecorded).toEqual([expect.stringContaining('recordings.maxBytes (50000)')])
})

test('what is small only while it is compressed is not recorded, and the receipt says so', async () => {
  const bomb = gzipSync(Buffer.alloc(4_000_000))
  const live = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(bomb),
  )
  const { recording, files } = tape(live.url)
  const { chat, stop, receipt } = await recording({ recordings: { maxBytes: 50_000 } })
  await (await chat(hello)).arrayBuffer()
  await stop()
  expect(files()).toEqual([])
  expect(receipt()?.notRecorded).toEqual([expect.stringContaining('recordings.maxBytes (50000)')])
})

test('a stream that is longer than the memory for it comes back byte for byte', async () => {
  const event = (i: number) => `data: {"n":${i},"pad":"${'p'.repeat(1000)}"}\n\n`
  const whole = `${Array.from({ length: 4000 }, (_, i) => event(i)).join('')}data: [DONE]\n\n`
  const live = await liveWith((_request, response) => {
    response.writeHead(200, sse).end(whole)
  })
  const { recording, replaying } = tape(live.url)
  const { chat, stop } = await recording()
  await (await chat({ ...hello, stream: true })).text()
  await stop()
  const replay = await replaying({ recordings: { speed: 0 } })
  expect((await (await replay.chat({ ...hello, stream: true })).text()) === whole).toBe(true)
})

test('a disk that takes nothing costs the client nothing, and the receipt says what is missing', async () => {
  const live = await liveWith(saying({ ok: true }))
  const { recording, dir } = tape(live.url)
  // A file stands where the folder would be.
  writeFileSync(path.join(dir, 'chat-completions'), '')
  const { chat, stop, receipt } = await recording()
  expect(await (await chat(hello)).json()).toEqual({ ok: true })
  await stop()
  expect(receipt()).toMatchObject({ recorded: 0, notRecorded: [expect.stringContaining('chat-completions/')] })
  expect(readFileSync(path.join(dir, 'chat-completions'), 'utf8')).toBe('')
})

test('the same request in a loop does not fill the disk', async () => {
  const live = await counting()
  const { recording, files } = tape(live.url)
  const { ask, stop, receipt } = await recording()
  await Promise.all(Array.from({ length: 130 }, async () => (await ask('/v1/models')).text()))
  await stop()
  expect(files()).toHaveLength(100)
  expect(receipt()?.notRecorded).toEqual([expect.stringContaining('At most 100 recordings of one request')])
})

test('what the bearer rules refuse is neither carried over nor recorded', async () => {
  const live = await liveWith(saying({ ok: true }))
  const { recording, files } = tape(live.url)
  const { ask, chat, stop } = await recording()
  expect((await chat(hello, { bearer: null })).status).toBe(401)
  expect((await ask('/v1/models', { bearer: 'sk-local-unknown' })).status).toBe(401)
  await stop()
  expect(live.seen).toEqual([])
  expect(files()).toEqual([])
})

test('the headers that matter are kept, and those of the way are not', async () => {
  const live = await liveWith((_request, response) =>
    response
      .writeHead(200, [
        ...['Content-Type', 'application/json', 'X-Request-Id', 'req_1', 'X-RateLimit-Remaining-Requests', '9'],
        ...[
          'Server',
          'nginx',
          'Via',
          '1.1 proxy',
          'CF-Ray',
          'abc',
          'Alt-Svc',
          'h3',
          'Warning',
          'one',
          'Warning',
          'two',
        ],
      ])
      .end('{}'),
  )
  const { recording, replaying, text } = tape(live.url)
  const { ask, stop } = await recording()
  await (await ask('/v1/models')).text()
  await stop()
  for (const name of ['server', 'via', 'cf-ray', 'alt-svc', 'date', 'connection'])
    expect(text()).not.toContain(`${name}:`)
  const { headers } = await (await replaying()).ask('/v1/models')
  expect(headers.get('x-request-id')).toBe('req_1')
  expect(headers.get('x-ratelimit-remaining-requests')).toBe('9')
  expect(headers.get('warning')).toBe('one, two')
})

test('a question without a body and one by HEAD are recorded too', async () => {
  const live = await liveWith(saying({ status: 'ok', version: '1.2.3' }))
  const { recording, replaying } = tape(live.url)
  const { ask, stop } = await recording()
  await (await ask('/health')).text()
  await ask('/v1/models', { method: 'HEAD' })
  await stop()
  const replay = await replaying()
  expect(await (await replay.ask('/health')).json()).toEqual({ status: 'ok', version: '1.2.3' })
  // A GET answers a HEAD as well; the other way round there is no body.
  expect((await replay.ask('/health', { method: 'HEAD' })).status).toBe(200)
  expect((await replay.ask('/v1/models', { method: 'HEAD' })).status).toBe(200)
  expect((await replay.ask('/v1/models')).status).toBe(424)
})

test('the client has the whole answer before anything of it is written', async () => {
  const live = await liveWith(streaming('{"n":1}', '[DONE]'))
  const { recording, files } = tape(live.url)
  const { url, apiKey, stop } = await recording()
  const body = JSON.stringify({ ...hello, stream: true })
  const request = http.request(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    agent: false,
  })
  request.end(body)
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  expect(files()).toEqual([])
  await stop()
  expect(files()).toHaveLength(1)
})

test('what has just been recorded is played at once after a switch to replay', async () => {
  const live = await counting()
  const { recording } = tape(live.url)
  const { chat, switchMode, receipt } = await recording()
  expect(await (await chat(hello)).json()).toEqual({ count: 1 })
  switchMode('replay')
  expect(await (await chat(hello)).json()).toEqual({ count: 1 })
  expect(receipt()).toMatchObject({ recorded: 1, served: 1, missed: 0 })
})

test('requests wait while the recordings that are still to be written fill their share of the memory', async () => {
  const redaction = createRedact({ headers: [], query: [], emails: false, patterns: [], known: [] })
  const request = { method: 'POST', path: '/v1/chat/completions', query: '', body: { kind: 'none' } } as const
  const recorder = createRecorder({
    ...{ shelf: createShelf(openFolder(folderWith())), run: createRun(() => {}), redact: redaction },
    identify: () => ({ request, key: '0123456789ab', redaction: redaction([]) }),
    ...{ save: 'all', maxBytes: 1000, warn: () => {}, report: () => {} },
  })
  expect(recorder.room()).toBeUndefined()
  const observer = recorder.observerOf(exchangeWith({ body: Buffer.alloc(128 * 1_048_576) }))
  observer?.head(200, [])
  observer?.end(true)
  const room = recorder.room()
  expect(room).toBeInstanceOf(Promise)
  await recorder.flush()
  await room
  expect(recorder.room()).toBeUndefined()
})
