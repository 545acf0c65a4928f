import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { tape } from '../recordings/live.js'
import { hello } from '../scene.js'
import { liveOnSocket, liveWith, proxyTo, send } from './live.js'

type Encode = (text: string) => Buffer
const encodings: readonly (readonly [string, Encode])[] = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
]

/** A live platform that answers every request with the same error. */
const liveRefusing = (status: number, body: string | Buffer, headers: Record<string, string> = {}) =>
  liveWith((_request, response) =>
    response.writeHead(status, { 'content-type': 'application/json', 'x-id': '7', ...headers }).end(body),
  )

/** Asks for the models, and returns the answer exactly as it is on the wire. */
async function askThrough(
  live: { readonly url: string },
  method = 'GET',
  errors: 'documented' | 'untouched' = 'documented',
) {
  const { url, apiKey } = await proxyTo(live.url, { upstream: { errors } })
  const headers = { authorization: `Bearer ${apiKey}`, 'accept-encoding': 'gzip, deflate, br' }
  return send(`${url}/v1/models`, { method, headers })
}

const html = { 'content-type': 'text/html' }
const plain = { 'content-type': 'text/plain' }
const events = { 'content-type': 'text/event-stream' }
const none = { 'content-type': '' }
const nginx =
  '<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>\r\n<hr><center>nginx</center>\r\n</body>\r\n</html>\r\n'
const openai = JSON.stringify({
  error: { message: 'The model `gpt-9` does not exist.', type: 'invalid_request_error', code: 'model_not_found' },
})

const fitting: readonly (readonly [
  what: string,
  status: number,
  body: string | Buffer,
  type: object,
  error: string,
])[] = [
  ['the HTML page of a gateway', 502, nginx, html, '502 Bad Gateway'],
  ['an empty body', 503, '', none, 'Service Unavailable'],
  ["an error object in OpenAI's form", 400, openai, {}, 'The model `gpt-9` does not exist.'],
  ['a message', 429, '{"message":"API rate limit exceeded"}', {}, 'API rate limit exceeded'],
  [
    'a list of wrong fields, as from FastAPI',
    422,
    '{"detail":[{"loc":["body","model"],"msg":"Field required"},{"loc":["body"],"msg":"Not a list"}]}',
    {},
    'Field required; Not a list',
  ],
  ['problem details (RFC 9457)', 403, '{"type":"about:blank","title":"No credit.","status":403}', {}, 'No credit.'],
  [
    'plain text',
    503,
    'upstream connect error\n  or disconnect/reset\n',
    plain,
    'upstream connect error or disconnect/reset',
  ],
  [
    'text in a charset that its content type names',
    500,
    Buffer.from([0x8f, 0x49]),
    { 'content-type': 'text/plain; charset=shift_jis' },
    '終',
  ],
  ['binary data', 500, Buffer.from([0, 1, 2, 3, 255]), { 'content-type': 'image/png' }, 'Internal Server Error'],
  [
    'an event stream',
    500,
    'event: error\ndata: {"error":{"message":"Overloaded"}}\n\ndata: [DONE]\n\n',
    events,
    'Overloaded',
  ],
  [
    'a page with another title, as from Express',
    400,
    '<!DOCTYPE html><title>Error</title><style>p{}</style><pre>Cannot use &lt;this&gt; &amp; that</pre>',
    none,
    'Bad Request: Error',
  ],
  ['a page without a title', 403, '<h1>No</h1>', html, 'Forbidden'],
  [
    'XML',
    403,
    '<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>',
    { 'content-type': 'application/xml' },
    'Forbidden',
  ],
  ['a long text', 500, 'word '.repeat(50_000), plain, `${'word '.repeat(100).trim()}…`],
  [
    'a long text, which is cut between words: half a key would not be hidden',
    500,
    `${'word '.repeat(98)}${'x'.repeat(30)}`,
    plain,
    `${'word '.repeat(98).trim()}…`,
  ],
]

test('an error in any form is delivered as { error }, in proxy, record and replay', async () => {
  const live = await liveWith((request, response) => {
    const [, status, body, type] = fitting[Number(request.url?.split('=')[1])] ?? expect.unreachable()
    response.writeHead(status, {
      ...{ 'content-type': 'application/json', 'x-id': '7', 'retry-after': '7', etag: '"theirs"' },
      'www-authenticate': 'Bearer realm="live"',
      'x-ratelimit-remaining-requests': '0',
      ...type,
    })
    response.end(body)
  })
  const through = async ({ url, apiKey }: { readonly url: string; readonly apiKey: string }) => {
    for (const [i, [what, status, , , error]] of fitting.entries()) {
      const { body, ...answer } = await send(`${url}/v1/models?i=${i}`, {
        headers: { authorization: `Bearer ${apiKey}` },
      })
      expect([what, answer.status, JSON.parse(body.toString())]).toEqual([what, status, { error }])
      expect(answer.headers).toMatchObject({
        ...{
          'content-type': 'application/json',
          'content-length': String(body.length),
          'x-id': '7',
          'retry-after': '7',
        },
        'www-authenticate': 'Bearer realm="live"',
        'x-ratelimit-remaining-requests': '0',
      })
      expect(answer.headers).not.toHaveProperty('etag')
    }
  }
  await through(await proxyTo(live.url))
  const { recording, replaying } = tape(live.url)
  const recorder = await recording()
  await through(recorder)
  await recorder.stop()
  await through(await replaying())
})

describe('a 404', () => {
  test.each([
    [
      'has the message of the live platform, and the path',
      openai,
      { error: 'The model `gpt-9` does not exist.', path: '/v1/models' },
    ],
    [
      'keeps its fields when only the path is missing',
      '{"error":"No such model.","code":12345678901234567890}\n',
      undefined,
    ],
    ['has the reason phrase of its status when it is empty', '', { error: 'Not Found', path: '/v1/models' }],
  ])('%s', async (_what, body, expected) => {
    const answer = await askThrough(await liveRefusing(404, body))
    if (expected) expect(JSON.parse(answer.body.toString())).toEqual(expected)
    else expect(answer.body.toString()).toBe(`${body.trimEnd().slice(0, -1)},"path":"/v1/models"}`)
  })

  test('has the path of the request, not the one sent to the live platform', async () => {
    const { url } = await liveRefusing(404, 'gone', plain)
    const { ask } = await proxyTo(`${url}/prefix`)
    expect(await (await ask('/v1/files/%41?x=1')).json()).toEqual({ error: 'gone', path: '/v1/files/%41' })
  })
})

describe('an error in the documented form', () => {
  const theirs = '{ "path": "/v1/models",\n "error": "No such thing.", "more": 1 }'

  test.each([404, 400, 500, 599])('is passed on byte for byte (%i)', async status => {
    for (const headers of [{}, { 'content-length': String(theirs.length) }]) {
      const answer = await askThrough(await liveRefusing(status, theirs, headers))
      expect([answer.status, answer.body.toString()]).toEqual([status, theirs])
      expect(answer.headers['content-length']).toBe(headers['content-length'])
    }
  })

  test.each(encodings)('is passed on unchanged when it is compressed with %s', async (name, encode) => {
    const packed = encode(theirs)
    const { headers, body } = await askThrough(await liveRefusing(404, packed, { 'content-encoding': name }))
    expect(body.equals(packed)).toBe(true)
    expect(headers).toMatchObject({ 'content-encoding': name, 'x-id': '7' })
  })

  test('keeps its bytes when only its content type is wrong', async () => {
    const { headers, body } = await askThrough(await liveRefusing(400, theirs, html))
    expect([headers['content-type'], body.toString()]).toEqual(['application/json', theirs])
  })
})

test.each(encodings)('an error compressed with %s is decoded, and delivered uncompressed', async (name, encode) => {
  const expectations = [
    [encode('<title>Gone for good</title>'), 'Internal Server Error: Gone for good'],
    [encode('0'.repeat(2_000_000)), 'Internal Server Error'],
    [Buffer.from('not what it says'), 'Internal Server Error'],
  ] as const
  for (const [packed, error] of expectations) {
    const { headers, body } = await askThrough(await liveRefusing(500, packed, { 'content-encoding': name, ...html }))
    expect(JSON.parse(body.toString())).toEqual({ error })
    expect(headers).not.toHaveProperty('content-encoding')
  }
})

test('with errors untouched an error is passed on unchanged, live and from a recording', async () => {
  const live = await liveRefusing(404, 'gone', plain)
  const { body, headers } = await askThrough(live, 'GET', 'untouched')
  expect([body.toString(), headers['content-type']]).toEqual(['gone', 'text/plain'])
  const { recording, replaying } = tape(live.url)
  const recorder = await recording()
  await recorder.ask('/v1/models')
  await recorder.stop()
  const { ask } = await replaying({ upstream: { errors: 'untouched' } })
  expect(await (await ask('/v1/models')).text()).toBe('gone')
})

test('an error that breaks off before its end is a 502', async () => {
  const head = 'HTTP/1.1 404 Not Found\r\nContent-Length: 100\r\n\r\n{"error":'
  const { chat } = await proxyTo(await liveOnSocket(socket => socket.end(head)))
  const response = await chat(hello)
  expect([response.status, await response.json()]).toEqual([502, { error: expect.stringContaining('(ECONNRESET)') }])
})

test('an error that never ends is cut off, and its beginning is delivered', async () => {
  const { url } = await liveWith((_request, response) => {
    response.writeHead(503)
    const timer = setInterval(() => response.write('Too busy. '.repeat(1000)), 1)
    response.on('close', () => clearInterval(timer))
  })
  const { ask } = await proxyTo(url)
  const response = await ask('/v1/models')
  expect([response.status, await response.json()]).toEqual([503, { error: expect.stringMatching(/^(Too busy\. )+/) }])
})

describe('the original error is kept', () => {
  test('in the recording, byte for byte, and in the journal next to what was delivered', async () => {
    const { recording, replaying, text } = tape((await liveRefusing(404, openai)).url)
    const delivered = { error: 'The model `gpt-9` does not exist.', path: '/v1/models' }
    for (const platform of [await recording(), await replaying()]) {
      await platform.ask('/v1/models')
      const { data } = (await (await fetch(`${platform.url}/__standin/journal`)).json()) as { data: readonly object[] }
      expect(data).toMatchObject([
        {
          status: 404,
          remark: delivered.error,
          response: { body: delivered, headers: { 'content-type': 'application/json' } },
          upstream: { body: JSON.parse(openai), headers: { 'x-id': '7' }, truncated: false },
        },
      ])
      await platform.stop()
    }
    expect(text()).toContain('code: model_not_found')
    expect(text()).not.toContain('path: /v1/models\n          ')
  })

  test('and checked against the contract, unlike the error that the client gets', async () => {
    const { ask, violations } = await proxyTo((await liveRefusing(500, '<h1>no</h1>', html)).url)
    await (await ask('/v1/models')).text()
    expect(await violations()).toMatchObject([
      {
        status: 500,
        violations: [
          { sentence: 'An error must be JSON, but its content type is not.' },
          { sentence: 'An error must be a JSON object with the field error.' },
        ],
      },
    ])
  })
})

test("the errors of a live auth backend stay in GoTrue's own form", async () => {
  const body = '{"code":400,"error_code":"invalid_credentials","msg":"Invalid login credentials"}'
  const live = await liveRefusing(400, body)
  const { url } = await proxyTo(live.url, { auth: { mode: 'proxy' }, upstream: { authUrl: live.url } })
  const response = await fetch(`${url}/auth/v1/token?grant_type=password`, { method: 'POST', body: '{}' })
  expect([response.status, await response.text()]).toEqual([400, body])
})

test('the answer to HEAD has the content type of a JSON error, and no wrong Content-Length', async () => {
  const page = await askThrough(await liveRefusing(404, '', { ...html, 'content-length': '5000' }), 'HEAD')
  expect(page).toMatchObject({ status: 404, headers: { 'content-type': 'application/json', 'x-id': '7' } })
  expect(page.headers).not.toHaveProperty('content-length')
  const json = await askThrough(await liveRefusing(404, '', { 'content-length': '99' }), 'HEAD')
  expect(json.headers['content-length']).toBe('99')
})
