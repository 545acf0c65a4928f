import { once } from 'node:events'
import { mkdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import path from 'node:path'
import { constants, createGzip, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { MOST_BODY_BYTES } from '../../src/recordings/index.js'
import { hello } from '../scene.js'
import { liveWith, saying, tape } from './live.js'

const sse = { 'content-type': 'text/event-stream' }

/** A live platform that gives a different answer each time. */
const counting = () => {
  let count = 0
  return liveWith((request, response) => saying({ count: ++count })(request, response))
}

test('every exchange with the live platform becomes a file, and the client gets the live answer', async () => {
  const live = await liveWith(saying({ object: 'list', data: [{ id: 'live-model' }] }))
  const { recording, files, text } = tape(live.url)
  const { ask, stop, receipt } = await recording()
  const response = await ask('/v1/models')
  expect(await response.json()).toEqual({ object: 'list', data: [{ id: 'live-model' }] })
  await stop()
  expect(files()).toEqual([expect.stringMatching(/^models\/get-[0-9a-f]{8}\.yaml$/)])
  expect(text()).toContain('        - id: live-model\n')
  expect(await receipt()).toMatchObject({ recorded: 1, passed: 1, served: 0, missed: 0 })
})

test('an error of the live platform is recorded and replayed like any other answer', async () => {
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

test('an unreachable live platform leaves nothing on disk', async () => {
  const live = await liveWith((request: IncomingMessage) => void request.socket.destroy())
  const { recording, files } = tape(live.url)
  const { chat, stop } = await recording()
  expect((await chat(hello)).status).toBe(502)
  await stop()
  expect(files()).toEqual([])
})

test('repeated requests are recorded in the order they were sent, whichever answer comes first', async () => {
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
  expect(files().map(file => file.replace(/[0-9a-f]{8}/, 'HASH'))).toEqual([
    'chat-completions/hello-HASH-2.yaml',
    'chat-completions/hello-HASH-3.yaml',
    'chat-completions/hello-HASH.yaml',
  ])
  const replay = await replaying()
  const played: unknown[] = []
  for (let i = 0; i < 3; i++) played.push(await (await replay.chat(hello)).json())
  expect(played).toEqual([{ nth: 1 }, { nth: 2 }, { nth: 3 }])
})

test('recording again replaces what it asks for, and nothing else', async () => {
  const live = await counting()
  const { recording, replaying, files } = tape(live.url)
  const first = await recording()
  for (let i = 0; i < 3; i++) await (await first.chat(hello)).text()
  await first.stop()
  const second = await recording()
  await (await second.chat(hello)).text()
  await second.stop()
  expect(files()).toHaveLength(3)
  const { chat } = await replaying()
  const counts: unknown[] = []
  for (let i = 0; i < 3; i++) counts.push(await (await chat(hello)).json())
  expect(counts).toEqual([{ count: 4 }, { count: 2 }, { count: 3 }])
})

test('a live platform that dies mid-stream leaves an incomplete recording, which is not replayed', async () => {
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

test('an incomplete recording never replaces a complete one', async () => {
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

test('a client that disconnects after [DONE] leaves a complete recording', async () => {
  const live = await liveWith((_request, response) => {
    // Sends everything, but never ends the response.
    response.writeHead(200, sse).write('data: {"n":1}\n\ndata: [DONE]\n\n')
  })
  const { recording, replaying } = tape(live.url)
  const { chat, stop } = await recording()
  const left = new AbortController()
  const asking = chat({ ...hello, stream: true }, { signal: left.signal })
  const [, response] = await live.nextRequest()
  const reader = ((await asking).body as ReadableStream<Uint8Array>).getReader()
  await reader.read()
  left.abort()
  // The rest is awaited after the client has left; it never comes.
  response.destroy()
  await stop()
  const replay = await replaying({ recordings: { speed: 0 } })
  expect(await (await replay.chat({ ...hello, stream: true })).text()).toBe('data: {"n":1}\n\ndata: [DONE]\n\n')
})

test('a client that disconnects mid-stream leaves a recording marked as incomplete', async () => {
  const live = await liveWith((_request, response) => void response.writeHead(200, sse).write('data: {"n":1}\n\n'))
  const { recording, text } = tape(live.url)
  const { chat, stop } = await recording()
  const left = new AbortController()
  const asking = chat({ ...hello, stream: true }, { signal: left.signal })
  const [, response] = await live.nextRequest()
  await ((await asking).body as ReadableStream<Uint8Array>).getReader().read()
  left.abort()
  // The rest is awaited after the client has left; it never comes.
  response.destroy()
  await stop()
  expect(text()).toContain('complete: false')
})

test('any bytes are replayed unchanged, wherever the network cut them', async () => {
  const bytes = Buffer.concat([
    Buffer.from('data: {"t":"Zürich 🌍"}\r\n\r\n: a comment\n\n'),
    Buffer.from([0xff, 0, 0xc3]),
  ])
  const live = await liveWith(async (_request, response) => {
    response.writeHead(200, sse)
    // Byte by byte, so that multi-byte characters arrive in pieces.
    for (const byte of bytes) await new Promise<void>(sent => response.write(Buffer.of(byte), () => sent()))
    response.end('data: [DONE]\n\n')
  })
  const { recording, replaying } = tape(live.url)
  const ask = { ...hello, stream: true }
  const { chat, stop } = await recording()
  const received = Buffer.from(await (await chat(ask)).arrayBuffer())
  await stop()
  expect(received.subarray(0, bytes.length).equals(bytes)).toBe(true)
  for (const speed of [0, 1000]) {
    const replay = await replaying({ recordings: { speed } })
    expect(Buffer.from(await (await replay.chat(ask)).arrayBuffer()).equals(received)).toBe(true)
  }
})

test('a binary body is replayed byte for byte, with its length', async () => {
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

test('the live platform is asked for uncompressed answers, and compressed ones are stored readable', async () => {
  const packed = gzipSync('{"object":"list","data":[{"id":"packed-model"}]}')
  const live = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-type': 'application/json' }).end(packed),
  )
  const { recording, replaying, text } = tape(live.url)
  const { ask, stop } = await recording()
  // fetch decompresses it.
  expect(await (await ask('/v1/models')).json()).toMatchObject({ data: [{ id: 'packed-model' }] })
  await stop()
  expect(live.seen[0]?.request.headers['accept-encoding']).toBe('identity')
  expect(text()).toContain('id: packed-model')
  const response = await (await replaying()).ask('/v1/models')
  expect(response.headers.get('content-encoding')).toBeNull()
  expect(await response.text()).toBe('{"object":"list","data":[{"id":"packed-model"}]}')
})

test('a compressed stream keeps its timing and is stored readable', async () => {
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

test('an answer in an unknown encoding is not recorded, because its secrets could not be found', async () => {
  const live = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'secret-sauce' }).end('whatever'),
  )
  const { recording, files } = tape(live.url)
  const { ask, stop, receipt } = await recording()
  expect((await ask('/v1/models')).status).toBe(200)
  await stop()
  expect(files()).toEqual([])
  expect((await receipt())?.notRecorded).toEqual([expect.stringContaining('"secret-sauce" cannot be read')])
})

test.each([
  ['as it comes', {}, Buffer.alloc(MOST_BODY_BYTES + 1, 'x')],
  ['when decompressed', { 'content-encoding': 'gzip' }, gzipSync(Buffer.alloc(MOST_BODY_BYTES + 1, 'x'))],
])('an answer that is over the limit %s reaches the client in full and is not recorded', async (_, headers, body) => {
  const live = await liveWith((_request, response) => response.writeHead(200, { ...sse, ...headers }).end(body))
  const { recording, files } = tape(live.url)
  const { chat, stop, receipt } = await recording()
  expect(await (await chat({ ...hello, stream: true })).text()).toHaveLength(MOST_BODY_BYTES + 1)
  await stop()
  expect(files()).toEqual([])
  expect((await receipt())?.notRecorded).toEqual([expect.stringMatching(/larger than 16777216 bytes/i)])
})

test('a failed write does not affect the client, and the receipt says what is missing', async () => {
  const live = await liveWith(saying({ ok: true }))
  const { recording, dir } = tape(live.url)
  // A file is in the place of the folder.
  writeFileSync(path.join(dir, 'chat-completions'), '')
  const { chat, stop, receipt } = await recording()
  expect(await (await chat(hello)).json()).toEqual({ ok: true })
  await stop()
  expect(await receipt()).toMatchObject({ recorded: 0, notRecorded: [expect.stringContaining('chat-completions/')] })
  expect(readFileSync(path.join(dir, 'chat-completions'), 'utf8')).toBe('')
})

test('what is in the place of a recording stays, and the recording gets another name', async () => {
  const live = await liveWith(saying({ ok: true }))
  const { recording, dir, files } = tape(live.url)
  const { chat, stop } = await recording()
  await (await chat(hello)).text()
  await stop()
  const [file = ''] = files()
  rmSync(path.join(dir, file))
  mkdirSync(path.join(dir, file))
  const again = await recording()
  await (await again.chat(hello)).text()
  await again.stop()
  expect(files()).toEqual([file.replace('.yaml', '-2.yaml')])
})

test('the same request in a loop does not fill the disk', async () => {
  const live = await counting()
  const { recording, files } = tape(live.url)
  const { ask, stop, receipt } = await recording()
  await Promise.all(Array.from({ length: 130 }, async () => (await ask('/v1/models')).text()))
  await stop()
  expect(files()).toHaveLength(100)
  expect((await receipt())?.notRecorded).toEqual([expect.stringContaining('At most 100 recordings of one request')])
})

test('a request that the bearer rules refuse is neither forwarded nor recorded', async () => {
  const live = await liveWith(saying({ ok: true }))
  const { recording, files } = tape(live.url)
  const { ask, chat, stop } = await recording()
  expect((await chat(hello, { bearer: null })).status).toBe(401)
  expect((await ask('/v1/models', { bearer: 'sk-local-unknown' })).status).toBe(401)
  await stop()
  expect(live.seen).toEqual([])
  expect(files()).toEqual([])
})

test('headers meant for the client are recorded, headers of servers and proxies are not', async () => {
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

test('requests without a body and HEAD requests are recorded too', async () => {
  const live = await liveWith(saying({ status: 'ok', version: '1.2.3' }))
  const { recording, replaying } = tape(live.url)
  const { ask, stop } = await recording()
  await (await ask('/health')).text()
  await ask('/v1/models', { method: 'HEAD' })
  await stop()
  const replay = await replaying()
  expect(await (await replay.ask('/health')).json()).toEqual({ status: 'ok', version: '1.2.3' })
  // A recorded GET also answers HEAD; the other way round there is no body.
  expect((await replay.ask('/health', { method: 'HEAD' })).status).toBe(200)
  expect((await replay.ask('/v1/models', { method: 'HEAD' })).status).toBe(200)
  expect((await replay.ask('/v1/models')).status).toBe(424)
})

test('nothing is written to disk while the client still waits for the rest of its answer', async () => {
  let finish = () => {}
  const live = await liveWith((_request, response) => {
    response.writeHead(200, sse).write('data: {"n":1}\n\n')
    finish = () => void response.end('data: [DONE]\n\n')
  })
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
  await once(response, 'data')
  expect(files()).toEqual([])
  finish()
  await once(response, 'end')
  await stop()
  expect(files()).toHaveLength(1)
})

test('a new recording is replayed immediately after a switch to replay', async () => {
  const live = await counting()
  const { recording } = tape(live.url)
  const { chat, switchMode, receipt } = await recording()
  expect(await (await chat(hello)).json()).toEqual({ count: 1 })
  await switchMode('replay')
  expect(await (await chat(hello)).json()).toEqual({ count: 1 })
  expect(await receipt()).toMatchObject({ recorded: 1, served: 1, missed: 0 })
})

test('a recording is on disk soon after its answer, without another request and without a shutdown', async () => {
  const live = await counting()
  const { recording, dir, text } = tape(live.url)
  const folder = path.join(dir, 'chat-completions')
  mkdirSync(folder)
  const appeared = new Promise<void>(resolve => {
    const watcher = watch(folder, (_event, name) => {
      if (!name?.endsWith('.yaml')) return
      watcher.close()
      resolve()
    })
  })
  const { chat } = await recording()
  await (await chat(hello)).text()
  await appeared
  expect(text()).toContain('count: 1')
})
