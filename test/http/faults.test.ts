import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { createClient } from '@supabase/supabase-js'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import ws from 'ws'
import { hello, platformWith } from '../scene.js'
import { wireTo } from '../wire.js'
import { all, CHUNKS, eventsIn, requestChat, streams, type Way, wholes, words } from './answers.js'

const isJson = (text: string) => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const json = (event = '') => event.replace(/^data: /, '')

/** A platform that answers in this way, and its answer with a fault. */
async function failing(way: Way) {
  const platform = await platformWith(await way.options())
  return (fault?: string) => requestChat(platform, { ...way, ...(fault !== undefined && { fault }) })
}

/** How long it takes. Node's timers count whole milliseconds and may be early by a part of one. */
async function msOf<T>(work: Promise<T>): Promise<readonly [T, ms: number]> {
  const startMs = performance.now()
  const result = await work
  return [result, performance.now() - startMs + 1]
}

test.each(all)('an answer can be replaced, delayed, mislabelled, cut or reset: %s', async (_name, way) => {
  const ask = await failing(way)
  const whole = await ask()
  expect(whole.isWhole).toBe(true)
  if (way.isStream) expect(eventsIn(whole.text)).toHaveLength(CHUNKS + 1)
  else expect(isJson(whole.text)).toBe(true)

  const replaced = await ask('status=429; message="Slow down; please."; retryAfter=7')
  expect(replaced).toMatchObject({ status: 429, isWhole: true, text: '{"error":"Slow down; please."}' })
  expect(replaced.headers).toMatchObject({ 'retry-after': '7', 'content-type': 'application/json' })

  const [delayed, ms] = await msOf(ask('delayMs=150'))
  expect(ms).toBeGreaterThanOrEqual(150)
  const mislabelled = await ask('contentType="text/html; charset=utf-8"')
  expect(mislabelled.headers['content-type']).toBe('text/html; charset=utf-8')
  for (const { isWhole, text } of [delayed, mislabelled])
    expect([isWhole, text.includes('three')]).toEqual([true, true])

  for (const bytes of [0, 99]) {
    const { status, text, isWhole } = await ask(`cutBytes=${bytes}`)
    expect({ status, isWhole, bytes: text.length }).toEqual({ status: 200, isWhole: false, bytes })
  }
  const reset = await ask('reset=mid-body')
  expect(reset).toMatchObject({ status: 200, isWhole: false, wasReset: true })
  if (way.isStream) expect(eventsIn(reset.text)).toHaveLength(2)
  else expect(reset.text.length).toBeGreaterThan(100)
  expect([reset.text.includes('DONE'), isJson(reset.text)]).toEqual([false, false])
  await expect(ask('reset=before')).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test.each(streams)('a stream is cut after the given number of chunks, and not reset: %s', async (_name, way) => {
  const ask = await failing(way)
  for (const chunks of [0, 1, CHUNKS]) {
    const { status, text, isWhole, wasReset } = await ask(`cut=${chunks}`)
    expect({ status, isWhole, wasReset }).toEqual({ status: 200, isWhole: false, wasReset: false })
    expect(eventsIn(text)).toHaveLength(chunks)
    expect(eventsIn(text).every(event => isJson(json(event)))).toBe(true)
  }
  for (const fault of [`cut=${CHUNKS + 1}`, 'cutBytes=1000000', 'malformed=99', 'fail=99']) {
    const { text, isWhole } = await ask(fault)
    expect([isWhole, eventsIn(text).length]).toEqual([true, CHUNKS + 1])
  }
})

test.each(streams)(
  'a chunk of a stream is malformed or truncated, and [DONE] missing or doubled: %s',
  async (_name, way) => {
    const ask = await failing(way)
    const eventsWith = async (fault: string) => {
      const { text, isWhole } = await ask(fault)
      expect(isWhole).toBe(true)
      return eventsIn(text).map(json)
    }
    const malformed = await eventsWith('malformed=3')
    expect(malformed.map(isJson)).toEqual([true, true, false, true, true, true, true, false])
    expect([malformed[2]?.slice(0, 6), malformed.at(-1)]).toEqual(['{"id":', '[DONE]'])
    const truncated = await eventsWith('truncate')
    expect(truncated.map(isJson)).toEqual([...Array(CHUNKS - 1).fill(true), false, false])
    expect(truncated.at(-1)).toBe('[DONE]')
    const missing = await eventsWith('done=missing')
    expect([missing.length, missing.includes('[DONE]')]).toEqual([CHUNKS, false])
    const double = await eventsWith('done=double')
    expect([double.length, ...double.slice(-2)]).toEqual([CHUNKS + 2, '[DONE]', '[DONE]'])
  },
)

test.each(streams)(
  'a stream ends normally before its finish_reason, with and without [DONE]: %s',
  async (_name, way) => {
    const ask = await failing(way)
    for (const [fault, chunks, isDone] of [
      ['end=0', 0, true],
      ['end=3', 3, true],
      ['end=3; done=missing', 3, false],
      ['end=99', CHUNKS - 1, true],
    ] as const) {
      const { isWhole, text } = await ask(fault)
      const events = eventsIn(text).map(json)
      expect([fault, isWhole, events.length]).toEqual([fault, true, chunks + Number(isDone)])
      expect(events.at(-1) === '[DONE]').toBe(isDone)
      expect(events.slice(0, chunks).map(event => JSON.parse(event).choices[0].finish_reason)).toEqual(
        Array(chunks).fill(null),
      )
    }
  },
)

test.each(streams)('an error event ends a stream, and a stall interrupts it: %s', async (_name, way) => {
  const ask = await failing(way)
  const custom = await ask('fail=2; message=The model "fell" over')
  expect([custom.isWhole, eventsIn(custom.text).length]).toEqual([true, 3])
  expect(JSON.parse(json(eventsIn(custom.text)[2]))).toEqual({
    error: { message: 'The model "fell" over', type: 'server_error', param: null, code: null },
  })
  const standard = await ask('fail=0')
  expect(standard.text).toContain('Something went wrong')

  const [stalled, ms] = await msOf(ask('stall=2; stallMs=150'))
  expect(ms).toBeGreaterThanOrEqual(150)
  expect([stalled.isWhole, eventsIn(stalled.text).length]).toEqual([true, CHUNKS + 1])
  const cut = await ask('stall=1; stallMs=50; cut=1')
  expect([cut.isWhole, eventsIn(cut.text).length]).toEqual([false, 1])
})

test.each(all)('an answer stops in the middle with finish_reason length: %s', async (_name, way) => {
  const ask = await failing(way)
  const { isWhole, text } = await ask('finish=length')
  expect(isWhole).toBe(true)
  const answers = way.isStream ? eventsIn(text).slice(0, -1).map(json) : [text]
  const choices = answers.map(answer => JSON.parse(answer).choices[0])
  expect(choices.map(({ delta, message }) => (delta ?? message).content ?? '').join('')).toMatch(/^one two( thre)?$/)
  expect(choices.at(-1).finish_reason).toBe('length')
  if (way.isStream) expect(eventsIn(text).at(-1)).toBe('data: [DONE]')
})

test.each([true, false])('the arguments of tool calls are not JSON, stream: %s', async stream => {
  const { chat } = await platformWith({
    rules: [{ reply: { toolCalls: [{ name: 'look', arguments: { at: { x: 1 } } }] } }],
  })
  const tools = [{ type: 'function', function: { name: 'look' } }]
  const text = await (
    await chat({ ...hello, tools, stream }, { headers: { 'x-standin-fault': 'malformedArguments' } })
  ).text()
  const answers = stream ? eventsIn(text).slice(0, -1).map(json) : [text]
  const calls = answers.flatMap(answer => {
    const { delta, message } = JSON.parse(answer).choices[0]
    return (delta ?? message).tool_calls ?? []
  })
  const written = calls.map(call => call.function.arguments).join('')
  expect([written.slice(0, 6), isJson(written)]).toEqual(['{{"at"', false])
})

test.each(wholes)('an answer without a stream can be truncated, and has no chunks to fail: %s', async (_name, way) => {
  const ask = await failing(way)
  const full = await ask()
  const { headers, text, isWhole } = await ask('truncate')
  // Complete as far as HTTP can tell.
  expect([isWhole, headers['content-length']]).toEqual([true, String(text.length)])
  expect(text).toMatch(/^\{"id":/)
  expect([text.length, isJson(text)]).toEqual([Math.floor(full.text.length / 2), false])
  for (const fault of ['cut=0', 'stall=0', 'malformed=1', 'done=missing', 'fail=0']) {
    const unaffected = await ask(fault)
    expect(unaffected.isWhole && isJson(unaffected.text)).toBe(true)
  }
})

test('an HTTP/1.0 client, for which the body ends with the connection, sees a cut as a reset', async () => {
  const { url, apiKey } = await platformWith()
  const wire = await wireTo(url)
  const body = JSON.stringify({ ...hello, stream: true })
  const head = `Authorization: Bearer ${apiKey}\r\nContent-Length: ${body.length}\r\nx-standin-fault: cut=2`
  await wire.say(`POST /v1/chat/completions HTTP/1.0\r\n${head}\r\n\r\n${body}`)
  await expect(wire.rest()).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test('a fault of the body does not affect HEAD', async () => {
  const { ask } = await platformWith()
  for (const fault of ['truncate', 'cutBytes=0', 'reset=mid-body']) {
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
  const cut = await requestChat(platform, { isStream: true, fault: 'cut=2' })
  expect(cut.text).toBe(text.slice(0, text.indexOf('data: {"text":"c"}')))
  const done = await requestChat(platform, { isStream: true, fault: 'done=missing' })
  expect(done.text).toBe(text.slice(0, text.indexOf('data: [DONE]')))
  const malformed = await requestChat(platform, { isStream: true, fault: 'malformed=1' })
  expect(malformed.text).toBe(text.replace('{"t":"😀é"}', '{"t":"'))
})

test("the live platform is asked for an uncompressed answer when a fault has to read it, and never gets Standin's headers", async () => {
  const { platform, requests } = await liveThatWrites({ 'content-type': 'application/json' }, [Buffer.from('{}')])
  const headers = { 'accept-encoding': 'gzip', 'x-standin-fault': 'delayMs=1', 'X-Standin-Pace': 'firstTokenMs=1' }
  await platform.chat(hello, { headers })
  await platform.chat(hello, { headers: { 'accept-encoding': 'gzip' } })
  expect(requests.map(sent => sent['accept-encoding'])).toEqual(['identity', 'gzip'])
  for (const sent of requests) expect(Object.keys(sent).filter(name => name.startsWith('x-standin'))).toEqual([])
})

/** What the client gets from an answer with this fault: the text, and the error that it throws. */
async function clientResult(fault: string, { options, isStream }: Way, settings: { timeout?: number } = {}) {
  const { url, apiKey } = await platformWith(await options())
  const defaultHeaders = { 'x-standin-fault': fault }
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0, defaultHeaders, ...settings })
  const request = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'hello' }] }
  let text = ''
  try {
    if (!isStream) {
      const { choices } = await openai.chat.completions.create(request)
      text = choices[0]?.message.content ?? ''
    } else {
      for await (const chunk of await openai.chat.completions.create({ ...request, stream: true })) {
        text += chunk.choices[0]?.delta?.content ?? ''
      }
    }
    return { text, error: undefined }
  } catch (error) {
    return { text, error: error as InstanceType<typeof OpenAI.APIError> }
  }
}

test.each(all)("statuses, resets and hangs become the client's own errors: %s", async (_name, way) => {
  const limited = await clientResult('status=429; message=Slow down.', way)
  expect(limited.error).toBeInstanceOf(OpenAI.RateLimitError)
  expect(limited.error).toMatchObject({ status: 429, error: 'Slow down.' })
  expect((await clientResult('status=503', way)).error).toBeInstanceOf(OpenAI.InternalServerError)
  expect((await clientResult('reset=before', way)).error).toBeInstanceOf(OpenAI.APIConnectionError)
  const late = await clientResult('hang', way, { timeout: 100 })
  expect(late.error).toBeInstanceOf(OpenAI.APIConnectionTimeoutError)
})

test.each(streams)('a stream that fails throws after the text before it: %s', async (_name, way) => {
  const failures = [
    ['fail=3; message=Out of memory.', OpenAI.APIError, 'Out of memory.'],
    ['cut=3', Error, 'terminated'],
    ['stall=3; stallMs=20; cut=3', Error, 'terminated'],
    ['malformed=4', SyntaxError, expect.any(String)],
  ] as const
  for (const [fault, type, message] of failures) {
    const { text, error } = await clientResult(fault, way)
    expect([fault, text, error?.message]).toEqual([fault, 'one two', message])
    expect(error).toBeInstanceOf(type)
  }
  expect(await clientResult('done=missing', way)).toEqual({ text: words, error: undefined })
  expect(await clientResult('done=double', way)).toEqual({ text: words, error: undefined })
})

test('the client retries, and waits for as long as Retry-After says', async () => {
  const { url, apiKey, failNext } = await platformWith({ rules: [{ reply: { text: 'At last.' } }] })
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 2 })
  await failNext({ status: 429, retryAfter: 1 })
  const startMs = performance.now()
  const messages = [{ role: 'user' as const, content: 'hello' }]
  const { choices } = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages })
  expect(choices[0]?.message.content).toBe('At last.')
  expect(performance.now() - startMs).toBeGreaterThan(999)
})
