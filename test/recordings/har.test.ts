import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { recordedBody } from '../../src/recordings/index.js'
import { AN_OBJECT, isMissing, mustBe } from '../sentences.js'
import { fromChrome, harWith, imported, LIVE } from './hars.js'

const prompt = '{"model":"gpt-4o","messages":[{"role":"user","content":"hello"}]}'

test("an exchange saved by Chrome becomes a recording without the caller's key and connection headers", () => {
  const { recordings, passedOver, remarks } = imported(harWith(fromChrome({ body: prompt })), LIVE)
  expect({ passedOver, remarks }).toEqual({ passedOver: {}, remarks: [] })
  expect(recordings).toEqual([
    {
      ...{ recordedAt: '2026-11-20T10:00:00.123Z', test: '', place: 1 },
      request: {
        ...{ method: 'POST', path: '/v1/chat/completions', query: '' },
        body: { kind: 'json', value: { messages: [{ content: 'hello', role: 'user' }], model: 'gpt-4o' } },
      },
      response: {
        status: 200,
        headers: [
          ['content-type', 'application/json'],
          ['x-request-id', 'req_1'],
        ],
        headMs: 640,
        chunks: [{ atMs: 208, bytes: Buffer.from('{"object":"chat.completion"}') }],
        endMs: 208,
        complete: true,
      },
    },
  ])
})

test("the caller's key is removed everywhere, even where the answer repeats it", () => {
  const text = '{"error":"Incorrect API key provided: sk-live-0123456789abcdefghijklmnopqrstuv"}'
  const { recordings } = imported(harWith(fromChrome({ body: prompt, status: 401, text })))
  expect(recordings).toHaveLength(1)
  expect(recordings[0] && recordedBody(recordings[0].response).toString()).not.toContain('sk-live-0123')
})

test('files of mitmproxy are read: times with a UTC offset, Base64 bodies, incomplete timings', () => {
  const entry = {
    startedDateTime: '2026-11-20T11:00:00.123456+01:00',
    time: 10,
    request: {
      method: 'POST',
      url: `${LIVE}/v1/chat/completions`,
      httpVersion: 'HTTP/2.0',
      cookies: [],
      headers: [{ name: 'Content-Type', value: 'application/json' }],
      queryString: [],
      headersSize: 20,
      bodySize: prompt.length,
      postData: { mimeType: 'application/json', text: prompt, params: [] },
    },
    response: {
      status: 200,
      headers: [{ name: 'Content-Type', value: 'application/octet-stream' }],
      content: { size: 4, compression: 0, mimeType: 'application/octet-stream', text: '/wD+gA==', encoding: 'base64' },
    },
    cache: {},
    timings: { connect: -1, ssl: -1, send: 1, receive: 4, wait: 5 },
  }
  const [recording] = imported(harWith(entry), LIVE).recordings
  expect(recording?.recordedAt).toBe('2026-11-20T10:00:00.123Z')
  expect(recording && recordedBody(recording.response)).toEqual(Buffer.from([0xff, 0x00, 0xfe, 0x80]))
})

test('files of Firefox and Charles are read: a byte order mark, nulls, no response headers, forms as parameters', () => {
  const entry = {
    pageref: 'page_1',
    startedDateTime: '2026-11-20T10:00:00.000+00:00',
    request: {
      method: 'POST',
      url: `${LIVE}/v1/files?b=2&a=1`,
      headers: null,
      bodySize: 11,
      postData: {
        mimeType: 'application/x-www-form-urlencoded',
        params: [{ name: 'name', value: 'a b' }],
        text: null,
      },
    },
    response: { status: 200, content: { mimeType: 'text/plain', size: 2, text: 'ok', comment: null }, headers: null },
    timings: { blocked: 0, wait: null, receive: -1 },
    comment: '',
  }
  const [recording] = imported(`\ufeff${JSON.stringify(harWith(entry))}`, LIVE).recordings
  expect(recording).toMatchObject({
    request: { path: '/v1/files', query: 'a=1&b=2', body: { kind: 'text', text: 'name=a%20b' } },
    response: { headMs: 0, endMs: 0, headers: [['content-type', 'text/plain']] },
  })
})

test('the events of a stream are spread evenly over the time it took to receive', () => {
  const events = ['data: {"choices":[]}\n\n', ': still here\n\n', 'data: [DONE]\n\n']
  const chrome = fromChrome({ body: prompt, type: 'text/event-stream; charset=utf-8', text: events.join('') })
  const [recording] = imported(harWith({ ...chrome, timings: { wait: 100, receive: 300 } }), LIVE).recordings
  expect(recording?.response).toMatchObject({
    ...{ headMs: 100, endMs: 300, complete: true },
    chunks: events.map((event, i) => ({ atMs: 100 * (i + 1), bytes: Buffer.from(event) })),
  })
})

test('a chat stream without [DONE] is whole if each of its choices has finished', () => {
  const text = 'data: {"choices":[{"index":0,"delta":{"content":"Hi"},"finish_reason":"stop"}]}\n\n'
  const { recordings, remarks } = imported(harWith(fromChrome({ body: prompt, type: 'text/event-stream', text })), LIVE)
  expect(recordings.map(({ response }) => response.complete)).toEqual([true])
  expect(remarks).toEqual([])
})

test('a chat stream without any end is incomplete, and so is an entry with an error or truncated content', () => {
  const withoutEnd = fromChrome({ body: prompt, type: 'text/event-stream', text: 'data: {"choices":[]}\n\n' })
  const failed = fromChrome({ body: prompt })
  const aborted = { ...failed, response: { ...failed.response, _error: 'net::ERR_INCOMPLETE_CHUNKED_ENCODING' } }
  const cut = { ...failed, response: { ...failed.response, content: { ...failed.response.content, size: 1000 } } }
  const { recordings, remarks } = imported(harWith(withoutEnd, aborted, cut), LIVE)
  expect(recordings.map(({ response }) => response.complete)).toEqual([false, false, false])
  expect(remarks).toEqual([0, 1, 2].map(i => `log.entries[${i}] broke off; it is kept as incomplete.`))
})

test.each<[string, object]>([
  ['to other servers', { request: { method: 'GET', url: 'https://elsewhere.example.com/v1/models' } }],
  ['to other servers', { request: { method: 'GET', url: 'https://live.example.com.evil.example/v1/models' } }],
  ['not over HTTP', { request: { method: 'GET', url: 'data:text/plain,hello' } }],
  ['to the auth backend', fromChrome({ path: '/auth/v1/token?grant_type=password' })],
  ["to Standin's own paths", fromChrome({ method: 'GET', path: '/__standin/journal' })],
  ['preflights', fromChrome({ method: 'OPTIONS' })],
  ['static files', fromChrome({ method: 'GET', path: '/app.js', type: 'text/javascript' })],
  ['static files', fromChrome({ method: 'GET', path: '/', type: 'text/html; charset=utf-8' })],
  ['without an answer', fromChrome({ status: 0 })],
  ["answered from the browser's cache", fromChrome({ method: 'GET', path: '/v1/models', status: 304 })],
])('entries are skipped and counted: %s', (reason, entry) => {
  const whole = { startedDateTime: '2026-11-20T10:00:00Z', response: { status: 200 }, ...entry }
  expect(imported(harWith(whole, fromChrome({ body: prompt })), LIVE)).toMatchObject({
    recordings: [{ request: { method: 'POST' } }],
    passedOver: { [reason]: 1 },
  })
})

test('an HTML error of a gateway is imported as an answer of the platform', () => {
  const entry = fromChrome({
    method: 'GET',
    path: '/v1/models',
    status: 502,
    type: 'text/html',
    text: '<h1>Bad Gateway</h1>',
  })
  expect(imported(harWith(entry), LIVE).recordings).toMatchObject([{ response: { status: 502 } }])
})

test('an entry saved without its body is reported with its position', () => {
  const { request, response, ...rest } = fromChrome({ body: prompt })
  const { text: _text, ...unsaved } = response.content
  const { postData: _postData, ...bodiless } = request
  const { recordings, remarks, passedOver } = imported(
    harWith(
      { ...rest, request, response: { ...response, content: unsaved } },
      { ...rest, request: bodiless, response },
    ),
  )
  expect(recordings).toEqual([])
  expect(passedOver).toEqual({ 'without the body of the answer': 1, 'without the body of the request': 1 })
  expect(remarks).toEqual([
    'log.entries[0] is without the body of the answer.',
    'log.entries[1] is without the body of the request.',
  ])
})

test('an entry whose sizes or headers speak of a body that it does not have is skipped, a HEAD or a redirect is not', () => {
  const { request, response, ...rest } = fromChrome({ body: prompt })
  const length = (value: number) => [{ name: 'content-length', value: `${value}` }]
  const { postData: _postData, ...bodiless } = request
  const empty = { size: -1, mimeType: 'application/json' }
  const answers = [
    { ...response, headers: [], content: empty },
    { ...response, headers: length(312), content: { ...empty, size: 0 } },
    { ...response, headers: [], bodySize: 312, content: { ...empty, size: 0, text: '' } },
  ].map(response => ({ ...rest, request, response }))
  const requests = [
    { ...bodiless, bodySize: -1, headers: length(70) },
    { ...request, bodySize: 70, postData: { mimeType: 'application/json', text: '' } },
  ].map(request => ({ ...rest, request, response }))
  const whole = [
    {
      ...rest,
      request: { ...bodiless, method: 'HEAD', bodySize: 0 },
      response: { ...response, headers: length(44), content: { ...empty, size: 44 } },
    },
    { ...rest, request, response: { ...response, status: 302, headers: [], content: empty } },
    { ...rest, request, response: { ...response, headers: length(0), content: empty } },
  ]
  const { recordings, passedOver } = imported(harWith(...answers, ...requests, ...whole))
  expect(passedOver).toEqual({ 'without the body of the answer': 3, 'without the body of the request': 2 })
  expect(recordings).toHaveLength(3)
  expect(recordings.map(({ response }) => response.complete)).toEqual([true, true, true])
})

test.each<[what: string, content: { type: string; size?: number; encoding?: string }, text: string, body: string]>([
  ['called Base64', { type: 'application/json', encoding: 'base64' }, '{"a":1}', '{"a":1}'],
  ['called Base64, by its size', { type: 'text/plain', encoding: 'base64', size: 4 }, 'true', 'true'],
  ['of Latin-1', { type: 'text/csv; charset=iso-8859-1', size: 4 }, 'café', 'café'],
  ['of UTF-16', { type: 'text/plain; charset="utf-16le"', size: 400 }, 'abcd', 'abcd'],
])('a text %s is mended, counted and labelled as it is kept', (_, { type, ...content }, text, body) => {
  const made = fromChrome({ body: prompt, type, text })
  const entry = { ...made, response: { ...made.response, content: { ...made.response.content, ...content } } }
  const har = imported(harWith(entry))
  expect(bodyIn(har)).toBe(body)
  expect(har).toMatchObject({ mended: 1, remarks: { length: 1 }, recordings: [{ response: { complete: true } }] })
  const [[, label = ''] = []] = har.recordings[0]?.response.headers.filter(([name]) => name === 'content-type') ?? []
  expect(label).not.toMatch(/8859|16le/)
})

test('a multipart form saved only as parameters is skipped, since no request would match it', () => {
  const { request, ...rest } = fromChrome()
  const postData = { mimeType: 'multipart/form-data; boundary=x', params: [{ name: 'purpose', value: 'assistants' }] }
  const { recordings, remarks } = imported(harWith({ ...rest, request: { ...request, postData } }))
  expect(recordings).toEqual([])
  expect(remarks).toEqual(['log.entries[0] is without the body of the request.'])
})

test('a compressed request body is imported decompressed, or not at all', () => {
  const { request, ...rest } = fromChrome()
  const headers = [...request.headers, { name: 'Content-Encoding', value: 'gzip' }]
  const saved = (body: Buffer) => {
    const postData = { mimeType: 'application/json', encoding: 'base64', text: body.toString('base64') }
    return { ...rest, request: { ...request, headers, postData } }
  }
  const { recordings, passedOver } = imported(harWith(saved(gzipSync(prompt)), saved(Buffer.from([0x1f, 0x8b]))))
  expect(recordings).toMatchObject([{ request: { body: { kind: 'json', value: JSON.parse(prompt) } } }])
  expect(passedOver).toEqual({ 'with a compressed body that cannot be decompressed': 1 })
})

test.each([
  ['https://live.example.com/', '/platform/v1/models'],
  ['https://LIVE.example.com:443/platform', '/v1/models'],
  ['https://live.example.com/platform/', '/v1/models'],
  ['https://live.example.com/plat', undefined],
  [undefined, '/platform/v1/models'],
])('with base URL %s the path is %s', (base, path) => {
  const entry = fromChrome({ method: 'GET', path: '/platform/v1/models' })
  expect(imported(harWith(entry), base).recordings.map(({ request }) => request.path)).toEqual(path ? [path] : [])
})

test('a request sent twice becomes two recordings, in the order sent', () => {
  const later = fromChrome({ body: prompt, text: '{"n":2}', at: '2026-11-20T10:00:05.000Z' })
  const { byKey } = imported(harWith(later, fromChrome({ body: prompt, text: '{"n":1}' })), LIVE)
  const answers = [...byKey.values()].map(same => same.map(({ response }) => recordedBody(response).toString()))
  expect(answers).toEqual([['{"n":1}', '{"n":2}']])
})

test('a redirect of the live platform to itself leads to a path of the stand-in', () => {
  const made = fromChrome({ body: prompt, status: 302 })
  const headers = [{ name: 'location', value: `${LIVE}/base/new?a=1` }]
  const har = harWith({
    ...made,
    request: { ...made.request, url: `${LIVE}/base/old` },
    response: { ...made.response, headers },
  })
  const locations = [undefined, `${LIVE}/base`].map(base => imported(har, base).recordings[0]?.response.headers[0]?.[1])
  expect(locations).toEqual(['/base/new?a=1', '/new?a=1'])
})

test('headers that are invalid in HTTP are left out, and a header with several lines becomes several headers', () => {
  const chrome = fromChrome({ body: prompt })
  const headers = [
    { name: ':status', value: '200' },
    { name: 'x-many', value: 'one\ntwo' },
    { name: 'x evil', value: 'yes' },
    { name: 'x-bell', value: 'a\u0007' },
    { name: 'x-empty' },
  ]
  const [recording] = imported(harWith({ ...chrome, response: { ...chrome.response, headers } }), LIVE).recordings
  expect(recording?.response.headers).toEqual([
    ['x-many', 'one'],
    ['x-many', 'two'],
    ['x-empty', ''],
    ['content-type', 'application/json'],
  ])
})

const entry = fromChrome({ body: prompt })
const inLines = (har: object) => JSON.stringify(har, null, 2)

test.each<[string, unknown, string]>([
  ['a missing comma', '{"log": {\n  "entries": [1 2]\n}}', 'app.har:2:17: This is not valid JSON.'],
  ['an unknown literal', '{"log": {\n  "entries": [undefined]}}', 'app.har:2:15: This is not valid JSON.'],
  ['two commas', '{"log":\n{"a": [1,\n ,2]}}', 'app.har:3:2: This is not valid JSON.'],
  ['more than one document', '{"log": {}}\n{}', 'app.har:2:1: This is not valid JSON.'],
  ['single quotes', "{\n 'log': 1}", 'app.har:2:2: This is not valid JSON.'],
  ['a line break in a string', '{"log":\n"a\nb"}', 'app.har:2:1: This is not valid JSON.'],
  ['a missing end', '{"log": {\n"entries": [', 'app.har:2:13: This is not valid JSON.'],
  ['an error after a byte order mark', '\ufeff{"log": [1 2]}', 'app.har:1:12: This is not valid JSON.'],
  ['nesting too deep to locate the error', '['.repeat(100_000), 'app.har: This is not valid JSON.'],
  ['a list instead of an object', [], mustBe('app.har:1:1: The file', AN_OBJECT, [])],
  ['no entries', { log: {} }, isMissing('app.har:1:8: log.entries', 'a list')],
  [
    'a status in words',
    inLines(harWith({ ...entry, response: { ...entry.response, status: 'OK' } })),
    mustBe('app.har:49:21: log.entries[0].response.status', 'a number', 'OK'),
  ],
  [
    'a relative address',
    inLines(harWith({ ...entry, request: { ...entry.request, url: '/v1/models' } })),
    mustBe('app.har:23:18: log.entries[0].request.url', 'a URL', '/v1/models'),
  ],
  [
    'an invalid time',
    inLines(harWith({ ...entry, startedDateTime: 'now' })),
    mustBe('app.har:84:28: log.entries[0].startedDateTime', 'a time such as 2030-01-31T12:00:00.000Z', 'now'),
  ],
])('a file with %s is refused, naming the place', (_what, har, sentence) => {
  expect(() => imported(har)).toThrow(sentence)
})

test('an invalid entry is left out, and the others keep their positions', () => {
  const cut = { ...entry, response: { ...entry.response, content: { size: 9 } } }
  const { recordings, problems, remarks } = imported(harWith([], entry, { ...entry, request: 7 }, cut))
  expect(recordings).toHaveLength(1)
  expect(remarks).toEqual(['log.entries[3] is without the body of the answer.'])
  expect(problems.map(({ sentence }) => sentence)).toEqual([
    mustBe('log.entries[0]', AN_OBJECT, []),
    mustBe('log.entries[2].request', AN_OBJECT, 7),
  ])
})

test('a file with many errors reports the first ones and the number of the rest', () => {
  const wrong = Array.from({ length: 30 }, () => ({ ...entry, request: 'GET /' }))
  expect(() => imported(harWith(...wrong))).toThrow(/log\.entries\[19\][^\n]*\napp\.har: 10 more values are invalid\.$/)
})

const said = 'data: {"choices":[{"index":0,"delta":{"content":"Grüße – 日本 “€” 😀"}}]}\n\ndata: [DONE]\n\n'
const stream = (text: string, size?: number) => {
  const made = fromChrome({ body: prompt, type: 'text/event-stream', text })
  return { ...made, response: { ...made.response, content: { ...made.response.content, size } } }
}
const bodyIn = ({ recordings: [recording] }: ReturnType<typeof imported>) =>
  Buffer.concat(recording?.response.chunks.map(({ bytes }) => bytes) ?? []).toString()

test('an event stream that Chromium saved as Latin-1 is repaired, with a remark', () => {
  const har = imported(harWith(stream(Buffer.from(said).toString('latin1'), Buffer.byteLength(said))))
  expect(bodyIn(har)).toBe(said)
  expect(har.remarks).toEqual([
    'log.entries[0] was saved with its UTF-8 read as Latin-1, as Chromium does; its characters have been restored.',
  ])
})

test('an event stream that Playwright saved as windows-1252 is repaired, although its size is that of its text', () => {
  const german = 'data: Grüße 😀\n\ndata: [DONE]\n\n'
  const read = Buffer.from(german).toString('latin1').replace('\x9f', 'Ÿ').replace('\x98\x80', '˜€')
  const har = imported(harWith(stream(read, Buffer.byteLength(read))))
  expect(bodyIn(har)).toBe(german)
  expect(har).toMatchObject({ mended: 1, recordings: [{ response: { complete: true } }] })
})

test('an event stream garbled beyond repair is reported and left unchanged', () => {
  const text = 'data: GrÃ¼ÃŸe \ufffd\n\ndata: [DONE]\n\n'
  const har = imported(harWith(stream(text, 0)))
  expect(bodyIn(har)).toBe(text)
  expect(har.remarks.join()).toMatch(/^log\.entries\[0\] looks garbled/)
})

test('a correctly saved stream is left alone, even if its content looks garbled', () => {
  for (const text of [said, said.replace('Grüße', 'GrÃ¼ÃŸe')]) {
    const har = imported(harWith(stream(text, Buffer.byteLength(text))))
    expect(bodyIn(har)).toBe(text)
    expect(har.remarks).toEqual([])
  }
})

test('a JSON answer opened in a tab is not taken for a static file, whatever its path', () => {
  const opened = { ...fromChrome({ method: 'GET', path: '/v1/files/logo.png' }), _resourceType: 'document' }
  expect(imported(harWith(opened))).toMatchObject({ recordings: [{ request: { path: '/v1/files/logo.png' } }] })
})
