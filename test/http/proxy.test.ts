import { once } from 'node:events'
import http, { type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import { gunzipSync, gzipSync } from 'node:zlib'
import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { hello, platformWith } from '../scene.js'
import { liveAnonKey, liveKey, liveWith, proxyTo, send } from './live.js'

const json = (response: ServerResponse, value: object) =>
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value))

const ok: RequestListener = (_request, response) => void json(response, { ok: true })

/** Reads a stream as it arrives. */
function readerOf({ body }: Response) {
  const reader = (body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  return async () => (await reader.read()).value
}

test('an app behind the proxy gets the answers of the live platform', async () => {
  const live = await platformWith({
    apiKeys: [{ name: 'live', key: liveKey }],
    models: [{ id: 'live-model', owned_by: 'them' }],
    rules: [{ when: { user: 'hello' }, reply: { text: 'Live and well.' } }],
  })
  const { url, apiKey } = await proxyTo(live.url, { upstream: { anonKey: live.anonKey } })
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 })

  const { data } = await openai.models.list()
  expect(data.map(({ id }) => id)).toEqual(['live-model'])
  const messages = [{ role: 'user' as const, content: 'hello' }]
  const whole = await openai.chat.completions.create({ model: 'live-model', messages })
  expect(whole.choices[0]?.message.content).toBe('Live and well.')
  let streamed = ''
  for await (const chunk of await openai.chat.completions.create({ model: 'live-model', messages, stream: true })) {
    streamed += chunk.choices[0]?.delta.content ?? ''
  }
  expect(streamed).toBe('Live and well.')
})

test('nothing reaches the live platform without a valid credential', async () => {
  const { url, seen } = await liveWith(ok)
  const { ask, chat, anonKey } = await proxyTo(url)
  const refused = await Promise.all([
    ask('/v1/models', { bearer: null }),
    ask('/v1/models', { bearer: 'sk-local-unknown' }),
    ask('/v1/models', { bearer: anonKey }),
    ask('/v1/models', { bearer: liveKey }),
    ask('/api/v1'),
    chat(hello, { bearer: null }),
    chat(hello, { headers: { authorization: 'Basic YTpi' }, bearer: null }),
  ])
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 401))
  for (const response of refused) expect(await response.json()).toEqual({ error: expect.any(String) })
  expect(seen).toEqual([])
})

test("the live platform gets the configured keys and none of the caller's credentials", async () => {
  const { url, seen } = await liveWith(ok)
  const { ask, chat, anonKey, apiKey } = await proxyTo(url)
  const headers = { apikey: anonKey, cookie: 'session=secret' }
  await chat(hello, { headers })
  await ask('/v1/models', { headers })
  await ask('/api/v1', { bearer: anonKey, headers })
  await ask('/health', { bearer: apiKey })
  expect(seen.map(({ request }) => [request.url, request.headers.authorization])).toEqual([
    ['/v1/chat/completions', `Bearer ${liveKey}`],
    ['/v1/models', `Bearer ${liveKey}`],
    ['/api/v1', `Bearer ${liveAnonKey}`],
    ['/health', undefined],
  ])
  for (const { request } of seen) {
    const all = request.rawHeaders.join('\n')
    for (const secret of [anonKey, apiKey, 'session=secret']) expect(all).not.toContain(secret)
  }
})

test("without a live key no credential is sent, not even the caller's", async () => {
  const { url, seen } = await liveWith(ok)
  const { ask } = await proxyTo(url, { upstream: { apiKey: '' } })
  expect((await ask('/v1/models')).status).toBe(200)
  expect(seen[0]?.request.headers).not.toHaveProperty('authorization')
})

test('the body of a request arrives byte for byte', async () => {
  const { url, seen } = await liveWith(ok)
  const { ask } = await proxyTo(url)
  const body = '{ "model":"m",\r\n "top_p": 1.0, "seed":12345678901234567890, "x": "\\u00e9é", "x": 1e2 }  \n'
  await ask('/v1/chat/completions', { method: 'POST', body, headers: { 'content-type': 'application/json' } })
  expect(seen[0]?.body.toString()).toBe(body)
  expect(seen[0]?.request.headers['content-length']).toBe(String(Buffer.byteLength(body)))
  expect(seen[0]?.request.headers['content-type']).toBe('application/json')
})

test('one connection to the live platform is reused for every request', async () => {
  const { url, seen } = await liveWith(ok)
  const { ask, chat } = await proxyTo(url)
  for (let i = 0; i < 5; i++) {
    await (await ask('/v1/models')).text()
    await (await chat(hello)).text()
  }
  expect(new Set(seen.map(({ request }) => request.socket.remotePort)).size).toBe(1)
})

test('hop-by-hop headers are not forwarded in either direction', async () => {
  const { url, seen } = await liveWith((_request, response) =>
    response
      .writeHead(200, [
        ...['Connection', 'keep-alive, X-Their-Hop', 'Keep-Alive', 'timeout=7', 'X-Their-Hop', '1'],
        ...['Proxy-Authenticate', 'Basic', 'Proxy-Connection', 'keep-alive', 'X-Kept', 'yes'],
        ...['Transfer-Encoding', 'chunked', 'Trailer', 'X-Sum'],
      ])
      .end('{}'),
  )
  const { url: platformUrl, apiKey } = await proxyTo(url)
  const { status, headers } = await send(`${platformUrl}/v1/models`, {
    headers: {
      authorization: `Bearer ${apiKey}`,
      connection: 'close, X-Our-Hop',
      'x-our-hop': '1',
      te: 'trailers',
      'keep-alive': 'timeout=9',
      'proxy-authorization': 'Basic c2VjcmV0',
      'proxy-connection': 'keep-alive',
      'x-kept': 'yes',
    },
  })
  expect(status).toBe(200)
  expect(headers['x-kept']).toBe('yes')
  for (const name of ['x-their-hop', 'proxy-authenticate', 'trailer', 'proxy-connection']) {
    expect(headers).not.toHaveProperty(name)
  }
  expect(headers['keep-alive']).not.toBe('timeout=7')
  const arrived = seen[0]?.request.headers
  expect(arrived).toMatchObject({ 'x-kept': 'yes', host: new URL(url).host })
  for (const name of ['x-our-hop', 'te', 'keep-alive', 'proxy-authorization', 'proxy-connection']) {
    expect(arrived).not.toHaveProperty(name)
  }
})

test('unusual and repeated headers arrive unchanged', async () => {
  const { url, seen } = await liveWith((_request, response) =>
    response
      .writeHead(200, 'Fine', [
        ...['Set-Cookie', 'a=1; Path=/', 'Set-Cookie', 'b=2; HttpOnly', 'X-RateLimit-Limit', '1', 'X-Many', 'one'],
        ...['X-Many', 'two', 'x-empty', '', 'OpenAI-Version', '2020-10-01', 'X-Request-ID', 'req_1'],
      ])
      .end('{}'),
  )
  const { url: platformUrl, apiKey } = await proxyTo(url)
  const { rawHeaders, headers } = await send(`${platformUrl}/v1/models?limit=1&after=a%20b`, {
    headers: {
      authorization: `Bearer ${apiKey}`,
      'X-Stainless-Lang': 'js',
      'OpenAI-Organization': 'org',
      'x-many': ['one', 'two'],
    },
  })
  expect(headers['set-cookie']).toEqual(['a=1; Path=/', 'b=2; HttpOnly'])
  const pairs = rawHeaders.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${rawHeaders[i + 1]}`] : []))
  expect(pairs).toEqual(
    expect.arrayContaining([
      ...['X-RateLimit-Limit: 1', 'X-Many: one', 'X-Many: two', 'x-empty: ', 'X-Request-ID: req_1'],
    ]),
  )
  expect(seen[0]?.request.url).toBe('/v1/models?limit=1&after=a%20b')
  expect(seen[0]?.request.headers).toMatchObject({
    'x-stainless-lang': 'js',
    'openai-organization': 'org',
    'x-many': 'one, two',
  })
})

test('a redirect to the live platform leads to the stand-in, whatever form the address has', async () => {
  const live = await liveWith((request, response) => {
    const location = new URL(request.url ?? '', 'http://x').searchParams.get('to') ?? ''
    const headers = {
      location,
      'content-location': location,
      link: `<${location}>; rel="next", <https://else.example>`,
    }
    response.writeHead(302, 'Over There', headers).end()
  })
  const { host, port } = new URL(live.url)
  const { ask, url } = await proxyTo(`${live.url}/api`, { auth: { mode: 'proxy' }, upstream: { authUrl: live.url } })
  const at = async (path: string, to: string) => {
    const answer = await ask(`${path}?to=${encodeURIComponent(to)}`, { redirect: 'manual' })
    const [location, other, link] = ['location', 'content-location', 'link'].map(name => answer.headers.get(name))
    expect([answer.status, answer.statusText, other]).toEqual([302, 'Over There', location])
    expect(link).toBe(`<${location}>; rel="next", <https://else.example>`)
    return location
  }
  expect(await at('/old', `${live.url}/api/new?a=%2f#b`)).toBe('/new?a=%2f#b')
  expect(await at('/v1/models', `//${host}/api?a`)).toBe('/?a')
  expect(await at('/old', `HTTPS://${host}/api/new`)).toBe('/new')
  expect(await at('/old', '/api/new')).toBe('/new')
  expect(await at('/old', 'new')).toBe('new')
  expect(await at('/old', '/elsewhere')).toBe(`${live.url}/elsewhere`)
  expect(await at('/auth/v1/verify', `${live.url}/auth/v1/new`)).toBe('/auth/v1/new')
  expect(await at('/auth/v1/verify', '/auth/v1/new')).toBe('/auth/v1/new')
  expect(new URL((await at('/old', `${live.url}/api//else.example/x`)) ?? '', url).origin).toBe(url)
  const foreign = [
    'https://else.example/api/new',
    `http://127.0.0.1:${Number(port) + 1}/api/new`,
    'app://callback',
    '//[',
  ]
  for (const to of foreign) expect(await at('/old', to)).toBe(to)
})

test("the live platform's own CORS headers are kept", async () => {
  const { url } = await liveWith((_request, response) => {
    response.setHeader('access-control-allow-origin', 'http://app.test')
    json(response, {})
  })
  const { ask } = await proxyTo(url, { cors: { origins: ['http://app.test'] } })
  const response = await ask('/v1/models', { headers: { origin: 'http://app.test' } })
  expect(response.headers.get('access-control-allow-origin')).toBe('http://app.test')
})

test('a compressed body is passed on unchanged', async () => {
  const packed = gzipSync('{"object":"list","data":[]}')
  const { url } = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip', 'content-length': packed.length }).end(packed),
  )
  const { url: platformUrl, apiKey } = await proxyTo(url)
  const headers = { authorization: `Bearer ${apiKey}`, 'accept-encoding': 'gzip' }
  const answer = await send(`${platformUrl}/v1/models`, { headers })
  expect(answer.headers).toMatchObject({ 'content-encoding': 'gzip', 'content-length': String(packed.length) })
  expect(answer.body.equals(packed)).toBe(true)
  expect(gunzipSync(answer.body).toString()).toBe('{"object":"list","data":[]}')
})

test('the headers of a stream arrive before its first event, and each event as it is sent', async () => {
  const { url, nextRequest } = await liveWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'x-request-id': 'req_1' }).flushHeaders()
  })
  const { chat } = await proxyTo(url)
  const pending = chat({ ...hello, stream: true })
  const [, live] = await nextRequest()
  // So far the live platform has sent nothing but the headers.
  const response = await pending
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('x-request-id')).toBe('req_1')
  const next = readerOf(response)
  for (const event of [': a comment\n\n', 'data: {"n":1}\n\n', 'data: {"n":', '2}\n\n', 'data: [DONE]\n\n']) {
    live.write(event)
    expect(await next()).toBe(event)
  }
  live.end()
  expect(await next()).toBeUndefined()
})

test('an unreachable live platform is a 502', async () => {
  const { ask, chat } = await proxyTo('http://127.0.0.1:9')
  for (const response of [await ask('/v1/models'), await chat(hello)]) {
    expect(response.status).toBe(502)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual({ error: 'The live platform could not be reached (ECONNREFUSED).' })
  }
})

test('a live platform that does not answer in time is a 504, and its request is aborted', async () => {
  const { url, nextRequest } = await liveWith(() => {})
  const { chat } = await proxyTo(url, { upstream: { timeoutMs: 300 } })
  const pending = chat(hello)
  const [, live] = await nextRequest()
  const hungUp = once(live, 'close')
  const response = await pending
  expect(response.status).toBe(504)
  expect(await response.json()).toEqual({ error: 'The live platform did not answer within 300 ms.' })
  await hungUp
})

test('a stream that keeps sending is not cut, however long it takes', async () => {
  const { url, nextRequest } = await liveWith((_request, response) => response.writeHead(200).write('begun'))
  const { chat } = await proxyTo(url, { upstream: { timeoutMs: 1000 } })
  const pending = chat({ ...hello, stream: true })
  const [, live] = await nextRequest()
  const next = readerOf(await pending)
  expect(await next()).toBe('begun')
  for (const event of ['one', 'two', 'three']) {
    // A real pause, since the clock of the client cannot be set.
    await new Promise(resolve => setTimeout(resolve, 500))
    live.write(event)
    expect(await next()).toBe(event)
  }
  await expect(next()).rejects.toThrow('terminated')
})

test('a slow client is not mistaken for a silent live platform', async () => {
  const size = 32 * 1024 * 1024
  const { url } = await liveWith((_request, response) => response.writeHead(200).end(Buffer.alloc(size)))
  const { url: platformUrl, apiKey } = await proxyTo(url, { upstream: { timeoutMs: 500 } })
  const request = http.get(`${platformUrl}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` }, agent: false })
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  // A real pause, since no event signals that nothing happens: the client does not read for longer than the idle timeout.
  await new Promise(resolve => setTimeout(resolve, 1000))
  let read = 0
  for await (const chunk of response) read += (chunk as Buffer).length
  expect(read).toBe(size)
})

test('when a client disconnects before the answer, the request to the live platform ends', async () => {
  const { url, nextRequest } = await liveWith(() => {})
  const { chat } = await proxyTo(url)
  const left = new AbortController()
  const pending = chat(hello, { signal: left.signal })
  const [, live] = await nextRequest()
  const hungUp = once(live, 'close')
  left.abort()
  await expect(pending).rejects.toThrow('aborted')
  await hungUp
  expect(live.writableFinished).toBe(false)
})

test('when a client disconnects in mid-stream, the request to the live platform ends', async () => {
  const { url, nextRequest } = await liveWith((_request, response) => response.writeHead(200).write('begun'))
  const { chat } = await proxyTo(url)
  const left = new AbortController()
  const pending = chat({ ...hello, stream: true }, { signal: left.signal })
  const [, live] = await nextRequest()
  const hungUp = once(live, 'close')
  expect(await readerOf(await pending)()).toBe('begun')
  left.abort()
  await hungUp
  expect(live.writableFinished).toBe(false)
})

test('a platform that stops cuts the streams that it forwards', async () => {
  const { url, nextRequest } = await liveWith((_request, response) => response.writeHead(200).write('begun'))
  const { chat, stop } = await proxyTo(url)
  const pending = chat({ ...hello, stream: true })
  const [, live] = await nextRequest()
  const hungUp = once(live, 'close')
  const next = readerOf(await pending)
  expect(await next()).toBe('begun')
  await stop()
  await expect(next()).rejects.toThrow('terminated')
  await hungUp
})
