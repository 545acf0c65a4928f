import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@supabase/supabase-js'
import { expect, onTestFinished, test } from 'vitest'
import ws from 'ws'
import { hello, platformWith } from '../scene.js'
import { wireTo } from '../wire.js'
import { all, CHUNKS, eventsIn, requestChat, streams, wholes } from './answers.js'

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const json = (event = '') => event.replace(/^data: /, '')

test.each(all)('an answer without a fault is complete: %s', async (_name, { options, isStream }) => {
  const platform = await platformWith(await options())
  const { text, isWhole } = await requestChat(platform, { isStream })
  expect(isWhole).toBe(true)
  if (isStream) expect(eventsIn(text)).toHaveLength(CHUNKS + 1)
  else expect(isJson(text)).toBe(true)
})

test.each(all)('a status replaces the answer, with its message and Retry-After: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const fault = 'status=429; message="Slow down; please."; retryAfter=7'
  const { status, headers, text, isWhole } = await requestChat(platform, { ...way, fault })
  expect({ status, isWhole, text }).toEqual({ status: 429, isWhole: true, text: '{"error":"Slow down; please."}' })
  expect(headers).toMatchObject({ 'retry-after': '7', 'content-type': 'application/json' })
})

test.each(all)('a reset before the answer sends none of it: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  await expect(requestChat(platform, { ...way, fault: 'reset=before' })).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test.each(all)('a reset in mid-body sends the beginning: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const { status, text, isWhole, wasReset } = await requestChat(platform, { ...way, fault: 'reset=mid-body' })
  expect({ status, isWhole, wasReset }).toEqual({ status: 200, isWhole: false, wasReset: true })
  if (way.isStream) expect(eventsIn(text)).toHaveLength(2)
  else expect(text.length).toBeGreaterThan(100)
  expect(text).not.toContain('DONE')
  expect(isJson(text)).toBe(false)
})

test.each(all)('a delay comes before the headers: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const startMs = performance.now()
  const { text, isWhole } = await requestChat(platform, { ...way, fault: 'delayMs=150' })
  // Node's timers count whole milliseconds and may be early by a part of one.
  expect(performance.now() - startMs).toBeGreaterThan(149)
  expect(isWhole).toBe(true)
  expect(text).toContain('three')
})

test.each(all)('the connection is closed after the given number of bytes: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  for (const bytes of [0, 1, 99]) {
    const { status, text, isWhole } = await requestChat(platform, { ...way, fault: `cutAfterBytes=${bytes}` })
    expect({ status, isWhole, bytes: text.length }).toEqual({ status: 200, isWhole: false, bytes })
  }
})

test.each(all)('the content type can be wrong while the body is right: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const fault = 'contentType="text/html; charset=utf-8"'
  const { headers, text, isWhole } = await requestChat(platform, { ...way, fault })
  expect(headers['content-type']).toBe('text/html; charset=utf-8')
  expect(isWhole).toBe(true)
  expect(text).toContain('three')
})

test.each(streams)('the connection is closed after the given number of chunks: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  for (const chunks of [0, 1, 3, CHUNKS]) {
    const { status, text, isWhole, wasReset } = await requestChat(platform, {
      ...way,
      fault: `cutAfterChunks=${chunks}`,
    })
    expect({ status, isWhole, wasReset }).toEqual({ status: 200, isWhole: false, wasReset: false })
    expect(eventsIn(text)).toHaveLength(chunks)
    expect(eventsIn(text).every(event => isJson(json(event)))).toBe(true)
  }
})

test.each(streams)('a stream that ends before its fault arrives complete: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  for (const fault of [
    `cutAfterChunks=${CHUNKS + 1}`,
    'cutAfterBytes=1000000',
    'malformedChunk=99',
    'errorAfterChunks=99',
  ]) {
    const { text, isWhole } = await requestChat(platform, { ...way, fault })
    expect(isWhole).toBe(true)
    expect(eventsIn(text)).toHaveLength(CHUNKS + 1)
  }
})

test.each(wholes)('a fault of streams does not affect an answer without a stream: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  for (const fault of [
    'cutAfterChunks=0',
    'stallAfterChunks=0',
    'malformedChunk=1',
    'done=missing',
    'errorAfterChunks=0',
  ]) {
    const { text, isWhole } = await requestChat(platform, { ...way, fault })
    expect(isWhole && isJson(text)).toBe(true)
  }
})

test.each(streams)('only the given chunk is malformed: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const { text, isWhole } = await requestChat(platform, { ...way, fault: 'malformedChunk=3' })
  const events = eventsIn(text).map(json)
  expect(isWhole).toBe(true)
  expect(events.map(isJson)).toEqual([true, true, false, true, true, true, true, false])
  expect(events[2]).toMatch(/^\{"id":/)
  expect(events.at(-1)).toBe('[DONE]')
})

test.each(streams)('[DONE] can be missing, or be sent twice: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const missing = await requestChat(platform, { ...way, fault: 'done=missing' })
  expect(missing.isWhole).toBe(true)
  expect(missing.text).not.toContain('[DONE]')
  expect(eventsIn(missing.text)).toHaveLength(CHUNKS)
  const double = await requestChat(platform, { ...way, fault: 'done=double' })
  expect(double.isWhole).toBe(true)
  expect(eventsIn(double.text).slice(-2)).toEqual(['data: [DONE]', 'data: [DONE]'])
  expect(eventsIn(double.text)).toHaveLength(CHUNKS + 2)
})

test.each(streams)('an error event ends the stream: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const custom = await requestChat(platform, { ...way, fault: 'errorAfterChunks=2; message=The model "fell" over' })
  expect(custom.isWhole).toBe(true)
  expect(eventsIn(custom.text)).toHaveLength(3)
  expect(JSON.parse(json(eventsIn(custom.text)[2]))).toEqual({
    error: { message: 'The model "fell" over', type: 'server_error', param: null, code: null },
  })
  const standard = await requestChat(platform, { ...way, fault: 'errorAfterChunks=0' })
  expect(JSON.parse(json(standard.text))).toMatchObject({
    error: { message: expect.stringContaining('Something went wrong') },
  })
})

test.each(streams)('a stall interrupts the stream, and nothing is lost: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const startMs = performance.now()
  const { text, isWhole } = await requestChat(platform, { ...way, fault: 'stallAfterChunks=2; stallMs=150' })
  expect(performance.now() - startMs).toBeGreaterThan(149)
  expect(isWhole).toBe(true)
  expect(eventsIn(text)).toHaveLength(CHUNKS + 1)
})

test.each(streams)('the connection can be closed after a stall: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const fault = 'stallAfterChunks=1; stallMs=50; cutAfterChunks=1'
  const { text, isWhole } = await requestChat(platform, { ...way, fault })
  expect(isWhole).toBe(false)
  expect(eventsIn(text)).toHaveLength(1)
})

test.each(wholes)('truncated JSON is a complete answer as far as HTTP can tell: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const { headers, text, isWhole } = await requestChat(platform, { ...way, fault: 'truncate' })
  expect(isWhole).toBe(true)
  expect(headers['content-length']).toBe(String(text.length))
  expect(text).toMatch(/^\{"id":/)
  expect(isJson(text)).toBe(false)
  const { text: full } = await requestChat(platform, way)
  expect(text.length).toBe(Math.floor(full.length / 2))
})

test.each(streams)('the last chunk of a stream is truncated: %s', async (_name, way) => {
  const platform = await platformWith(await way.options())
  const { text, isWhole } = await requestChat(platform, { ...way, fault: 'truncate' })
  const events = eventsIn(text).map(json)
  expect(isWhole).toBe(true)
  expect(events).toHaveLength(CHUNKS + 1)
  expect(events.map(isJson)).toEqual([...Array(CHUNKS - 1).fill(true), false, false])
  expect(events.at(-1)).toBe('[DONE]')
})

test('one answer can have several faults', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'one two three' } }] })
  const fault = 'delayMs=20; contentType=text/plain; malformedChunk=2; done=double'
  const { headers, text } = await requestChat(platform, { isStream: true, fault })
  expect(headers['content-type']).toBe('text/plain')
  expect(eventsIn(text).map(event => isJson(json(event)))).toEqual([true, false, true, true, true, false, false])
})

test('an error can have the content type of an HTML page, and can be cut', async () => {
  const { chat } = await platformWith()
  const html = await chat(hello, { headers: { 'x-standin-fault': 'status=502; contentType=text/html' } })
  expect([html.status, html.headers.get('content-type')]).toEqual([502, 'text/html'])
  const cut = await chat(hello, { headers: { 'x-standin-fault': 'status=500; cutAfterBytes=5' } })
  expect(cut.status).toBe(500)
  await expect(cut.text()).rejects.toThrow('terminated')
})

test('a reset and a close differ on the socket', async () => {
  const { url, apiKey } = await platformWith()
  const requestWith = (fault: string) =>
    `GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nx-standin-fault: ${fault}\r\n\r\n`
  const closed = await wireTo(url)
  await closed.say(requestWith('cutAfterBytes=20'))
  expect(await closed.rest()).toMatch(/\r\n\r\n.{20}$/s)
  const reset = await wireTo(url)
  await reset.say(requestWith('reset=before'))
  await expect(reset.rest()).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test('an HTTP/1.0 client, for which the body ends with the connection, sees a cut as a reset', async () => {
  const { url, apiKey } = await platformWith()
  const wire = await wireTo(url)
  const body = JSON.stringify({ ...hello, stream: true })
  const head = `Authorization: Bearer ${apiKey}\r\nContent-Length: ${body.length}\r\nx-standin-fault: cutAfterChunks=2`
  await wire.say(`POST /v1/chat/completions HTTP/1.0\r\n${head}\r\n\r\n${body}`)
  await expect(wire.rest()).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test.each([
  ['GET', '/health'],
  ['HEAD', '/health'],
  ['GET', '/v1/models'],
  ['HEAD', '/v1/models'],
  ['GET', '/api/v1'],
])("%s %s can fail, with an error in the platform's form", async (method, path) => {
  const { ask, apiKey, anonKey } = await platformWith()
  const bearer = path === '/api/v1' ? anonKey : apiKey
  const response = await ask(path, { method, bearer, headers: { 'x-standin-fault': 'status=503; retryAfter=3' } })
  expect([response.status, response.headers.get('retry-after')]).toEqual([503, '3'])
  const text = await response.text()
  if (method === 'HEAD') expect(text).toBe('')
  else expect(JSON.parse(text)).toEqual({ error: 'The service is not available at the moment. Try again later.' })
})

test('a fault of the body does not affect HEAD', async () => {
  const { ask } = await platformWith()
  for (const fault of ['truncate', 'cutAfterBytes=0', 'reset=mid-body']) {
    const response = await ask('/v1/models', { method: 'HEAD', headers: { 'x-standin-fault': fault } })
    expect(response.status).toBe(200)
    expect(Number(response.headers.get('content-length'))).toBeGreaterThan(100)
  }
})

test('a 404 from a fault has its path and a 401 its challenge, like real ones', async () => {
  const { ask } = await platformWith()
  const lost = await ask('/v1/models', { headers: { 'x-standin-fault': 'status=404' } })
  expect(await lost.json()).toEqual({ error: 'Not found.', path: '/v1/models' })
  const refused = await ask('/v1/models', { headers: { 'x-standin-fault': 'status=401; message=No.' } })
  expect(refused.headers.get('www-authenticate')).toBe('Bearer')
  expect(await refused.json()).toEqual({ error: 'No.' })
})

test("the auth backend fails with Supabase's error codes, and changes nothing", async () => {
  const { authUrl, anonKey } = await platformWith()
  let fault = 'status=429'
  const { auth } = createClient(authUrl, anonKey, {
    realtime: { transport: ws as never },
    global: {
      fetch: (url, init) =>
        fetch(url, {
          ...init,
          headers: { ...Object.fromEntries(new Headers(init?.headers)), 'x-standin-fault': fault },
        }),
    },
  })
  const ada = { email: 'ada@example.com', password: 'correct horse' }
  const limited = await auth.signUp(ada)
  expect(limited.error).toMatchObject({ name: 'AuthApiError', status: 429, code: 'over_request_rate_limit' })
  fault = 'status=503'
  const gone = await auth.signUp(ada)
  expect(gone.error).toMatchObject({ name: 'AuthRetryableFetchError', status: 503 })
  fault = 'delayMs=1'
  expect((await auth.signUp(ada)).data.user?.email).toBe(ada.email)
})

test('a page of another origin may read an answer with a fault', async () => {
  const platform = await platformWith({ cors: { origins: ['http://app.test'] } })
  const origin = 'http://app.test'
  for (const fault of ['status=503', 'truncate', 'contentType=text/plain', 'delayMs=1']) {
    const { headers } = await requestChat(platform, { isStream: false, fault, origin })
    expect(headers['access-control-allow-origin']).toBe(origin)
  }
  const { headers } = await requestChat(platform, { isStream: false, fault: 'status=999', origin })
  expect(headers['access-control-allow-origin']).toBe(origin)
})

test('a connection stays open after a fault that completes its answer', async () => {
  const { url, apiKey } = await platformWith()
  const wire = await wireTo(url)
  for (const fault of ['truncate', 'status=500', 'contentType=text/plain']) {
    await wire.say(
      `GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${apiKey}\r\nx-standin-fault: ${fault}\r\n\r\n`,
    )
    expect((await wire.answer()).body.length).toBeGreaterThan(0)
  }
})

/** A live platform that sends each of these buffers in a write of its own. */
async function liveThatWrites(head: http.OutgoingHttpHeaders, writes: readonly Buffer[]) {
  const requests: http.IncomingHttpHeaders[] = []
  const server = http.createServer(async (request, response) => {
    requests.push(request.headers)
    response.writeHead(200, head)
    for (const bytes of writes) {
      await new Promise<void>(sent => void response.write(bytes, () => sent()))
      await new Promise(resolve => setImmediate(resolve))
    }
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  const upstream = { baseUrl: `http://127.0.0.1:${port}`, apiKey: 'sk-live' }
  return { requests, platform: await platformWith({ mode: 'proxy', upstream }) }
}

const sse = { 'content-type': 'text/event-stream; charset=utf-8' }

test.each([
  ['with CRLF', '\r\n'],
  ['with LF', '\n'],
])('the chunks of a live stream are counted however the network splits them, %s', async (_name, end) => {
  const events = [
    ': hello',
    'event: chunk\ndata: {"t":"😀é"}',
    'id: 7\ndata: {"text":"b"}',
    'data: {"text":"c"}',
    'data: [DONE]',
  ]
  const text = events.map(event => event.replaceAll('\n', end) + end + end).join('')
  const everyByte = [...Buffer.from(text)].map(byte => Buffer.from([byte]))
  const { platform } = await liveThatWrites(sse, everyByte)
  const cut = await requestChat(platform, { isStream: true, fault: 'cutAfterChunks=2' })
  expect(cut.text).toBe(text.slice(0, text.indexOf('data: {"text":"c"}')))
  const done = await requestChat(platform, { isStream: true, fault: 'done=missing' })
  expect(done.text).toBe(text.slice(0, text.indexOf('data: [DONE]')))
  const malformed = await requestChat(platform, { isStream: true, fault: 'malformedChunk=1' })
  expect(malformed.text).toBe(text.replace('{"t":"😀é"}', '{"t":"'))
})

test('a live stream loses its Content-Length when a fault makes it longer', async () => {
  const text = 'data: {"a":1}\n\ndata: [DONE]\n\n'
  const { platform } = await liveThatWrites({ ...sse, 'content-length': text.length }, [Buffer.from(text)])
  const received = await requestChat(platform, { isStream: true, fault: 'done=double' })
  expect(received).toMatchObject({ isWhole: true, text: `${text}data: [DONE]\n\n` })
})

test('a live body without a Content-Length is cut in the middle as well', async () => {
  const body = Buffer.from(JSON.stringify({ text: 'x'.repeat(1000) }))
  const { platform } = await liveThatWrites({ 'content-type': 'application/json' }, [
    body.subarray(0, 10),
    body.subarray(10),
  ])
  const truncated = await requestChat(platform, { isStream: false, fault: 'truncate' })
  expect(truncated).toMatchObject({ isWhole: true, text: body.toString().slice(0, Math.floor(body.length / 2)) })
  const reset = await requestChat(platform, { isStream: false, fault: 'reset=mid-body' })
  expect(reset).toMatchObject({ isWhole: false, text: body.toString().slice(0, 5) })
})

test("the live platform is asked for an uncompressed answer when a fault has to read it, and never gets Standin's headers", async () => {
  const { platform, requests } = await liveThatWrites({ 'content-type': 'application/json' }, [Buffer.from('{}')])
  const headers = { 'accept-encoding': 'gzip', 'x-standin-fault': 'delayMs=1', 'X-Standin-Pace': 'firstTokenMs=1' }
  await platform.chat(hello, { headers })
  await platform.chat(hello, { headers: { 'accept-encoding': 'gzip' } })
  expect(requests.map(sent => sent['accept-encoding'])).toEqual(['identity', 'gzip'])
  for (const sent of requests) expect(Object.keys(sent).filter(name => name.startsWith('x-standin'))).toEqual([])
})

test('a status from a fault is answered without a request to the live platform', async () => {
  const { platform, requests } = await liveThatWrites({}, [Buffer.from('{}')])
  const response = await platform.chat(hello, { headers: { 'x-standin-fault': 'status=503' } })
  expect(response.status).toBe(503)
  expect(requests).toEqual([])
})
