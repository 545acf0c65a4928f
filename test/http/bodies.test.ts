import { request } from 'node:http'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import type { Exchange } from '../../src/core/exchange.js'
import { openPlatform } from '../../src/platform.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { onTheWire, wireTo } from '../wire.js'

const json = JSON.stringify(hello)

/** Posts these bytes as a chat completion, with these headers and no others. */
function post({ ask }: Scene, body: string | Uint8Array, headers: Record<string, string> = {}) {
  // As bytes, or fetch would add a content type of its own.
  return ask('/v1/chat/completions', { method: 'POST', body: Buffer.from(body), headers })
}

test.each([
  'application/json',
  'application/json; charset=utf-8',
  'Application/JSON',
  'text/json',
  'application/vnd.acme.chat+json',
])('a body with the content type %s is accepted', async type => {
  expect((await post(await platformWith(), json, { 'content-type': type })).status).toBe(200)
})

test('a body without a content type is read as JSON', async () => {
  expect((await post(await platformWith(), json)).status).toBe(200)
})

test.each(['text/plain', 'application/x-www-form-urlencoded', 'application/jsonp'])(
  'a body with the content type %s is refused',
  async type => {
    const response = await post(await platformWith(), json, { 'content-type': type })
    expect(response.status).toBe(415)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toEqual({
      error: `The Content-Type is "${type}". Send the header "Content-Type: application/json".`,
    })
  },
)

test('a body with a content encoding is refused, and the answer names the accepted encoding', async () => {
  const response = await post(await platformWith(), gzipSync(json), { 'content-encoding': 'gzip' })
  expect([response.status, response.headers.get('accept-encoding')]).toEqual([415, 'identity'])
  expect(await response.json()).toEqual({
    error: 'The request body must not be encoded; its Content-Encoding is "gzip".',
  })
})

test('a byte order mark before the JSON is ignored', async () => {
  expect((await post(await platformWith(), `\ufeff${json}`)).status).toBe(200)
})

test.each([
  ['only objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 400],
  ['arrays in a field that is not read', json.replace('{', `{"x":${'['.repeat(1101)}${']'.repeat(1101)},`), 400],
  [
    'a thousand arrays in a field that is not read',
    json.replace('{', `{"x":${'['.repeat(1000)}${']'.repeat(1000)},`),
    200,
  ],
  ['brackets in a string', json.replace('hello', '[{'.repeat(10_000)), 200],
])('nested brackets are accepted up to a limit: %s', async (_what, body, status) => {
  const response = await post(await platformWith(), body)
  expect(response.status).toBe(status)
  const tooDeep = { error: 'The request body has more than 1100 levels of objects and arrays.' }
  if (status === 400) expect(await response.json()).toEqual(tooDeep)
})

const tooLarge = { error: `The request body is larger than ${json.length} bytes.` }
const justEnough = { limits: { bodyBytes: json.length } }

test('a body of exactly the limit is accepted, and one byte more is refused', async () => {
  const scene = await platformWith(justEnough)
  expect((await post(scene, json)).status).toBe(200)
  const response = await post(scene, `${json} `)
  expect(response.status).toBe(413)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toEqual(tooLarge)
})

test('a body whose Content-Length is over the limit is refused before any of it arrives', async () => {
  const { url, apiKey } = await platformWith(justEnough)
  const wire = await wireTo(url)
  const headers = [`Authorization: Bearer ${apiKey}`, `Content-Length: ${json.length + 1}`]
  await wire.say(onTheWire('POST /v1/chat/completions', headers))
  const { status, body } = await wire.answer()
  expect(status).toBe(413)
  expect(JSON.parse(body)).toEqual(tooLarge)
})

test('a client that does not keep its connection can read a refusal while it still sends the body', async () => {
  const { url, apiKey } = await platformWith({ host: '0.0.0.0', limits: { bodyBytes: 1_000_000 } })
  const refusals: readonly (readonly [string, string, string, number])[] = [
    ['/v1/chat/completions', apiKey, 'application/json', 413],
    ['/v1/chat/completions', apiKey, 'text/plain', 415],
    ['/v1/chat/completions', 'sk-unknown', 'application/json', 401],
    ['/v1/nowhere', apiKey, 'application/json', 404],
    ['/auth/v1/signup', '', 'application/json', 401],
    ['/dashboard/nowhere', '', 'application/json', 404],
    ['/__standin/replies', '', 'application/json', 401],
  ]
  const length = 8_000_000
  const sendTo = (path: string, key: string, type: string, isChunked: boolean) =>
    new Promise(resolve => {
      const size = isChunked ? {} : { 'content-length': length }
      const headers = { authorization: `Bearer ${key}`, 'content-type': type, ...size }
      const outgoing = request(url + path, { method: 'POST', agent: false, headers }, ({ statusCode }) =>
        resolve(statusCode),
      )
      outgoing.on('error', resolve)
      outgoing.end(Buffer.alloc(length, 'x'))
    })
  for (const [path, key, type, status] of refusals) {
    const asked = [false, true, false, true].map(isChunked => sendTo(path, key, type, isChunked))
    expect([path, ...(await Promise.all(asked))]).toEqual([path, status, status, status, status])
  }
})

test('a client that sends Expect: 100-continue is told to continue', async () => {
  const { url, apiKey } = await platformWith()
  const status = await new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${apiKey}`, expect: '100-continue', 'content-length': json.length }
    const outgoing = request(`${url}/v1/chat/completions`, { method: 'POST', headers })
    outgoing.on('continue', () => outgoing.end(json))
    outgoing.on('response', response => resolve(response.resume().statusCode))
    outgoing.on('error', reject)
    outgoing.flushHeaders()
  })
  expect(status).toBe(200)
})

test.each([
  ['a content length', 'Content-Length: 1000', '{"model":'],
  ['chunked encoding', 'Transfer-Encoding: chunked', '9\r\n{"model":\r\n'],
])(
  'a client that disconnects in the middle of an upload with %s is journaled without an answer',
  async (_how, header, part) => {
    const reported: unknown[] = []
    const flags = Object.entries({ port: 0, state: 'memory' }).map(([name, value]) => ({
      ...{ path: [name], value, origin: 'test' },
    }))
    const platform = await openPlatform({ cwd: '.', file: false, flags, report: error => reported.push(error) })
    onTestFinished(() => platform.stop())
    const journaled = new Promise<Exchange>(resolve => platform.journal.follow(resolve))

    const wire = await wireTo(platform.url)
    await wire.say(onTheWire('POST /v1/chat/completions', [`Authorization: Bearer ${platform.apiKey}`, header]))
    await wire.say(part)
    wire.leave()

    expect(await journaled).toMatchObject({
      path: '/v1/chat/completions',
      caller: { kind: 'apiKey', name: 'development' },
      body: undefined,
      outcome: undefined,
    })
    expect((await fetch(`${platform.url}/health`)).status).toBe(200)
    expect(reported).toEqual([])
  },
)

test('an answer that would be too large is refused before it is generated', async () => {
  const { chat } = await platformWith()
  const long = { ...hello, messages: [{ role: 'user', content: 'standin:long' }], logprobs: true, stream: true }
  const refused = await chat({ ...long, n: 128 })
  expect(refused.status).toBe(400)
  expect(((await refused.json()) as { error: string }).error).toMatch(
    /^The answer would be about \d+ MB, and the limit is 32 MB\. Ask for fewer choices/,
  )
  expect((await chat({ ...long, n: 128, max_tokens: 10 })).status).toBe(200)
})

test('the tokens of a long prompt are counted and limited as usual', async () => {
  const platform = await platformWith({
    tokenizer: 'o200k_base',
    models: [{ id: hello.model, maxPromptTokens: 20_000 }],
  })
  const requestWith = (words: number) => ({ ...hello, messages: [{ role: 'user', content: ' word'.repeat(words) }] })
  const short = await platform.chat(requestWith(10_000))
  expect(await short.json()).toMatchObject({ usage: { prompt_tokens: 10_007 } })
  const long = await platform.chat(requestWith(20_000))
  expect(long.status).toBe(400)
  expect(((await long.json()) as { error: string }).error).toContain('20007')
})
