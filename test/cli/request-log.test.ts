import { expect, test } from 'vitest'
import { createColors } from '../../src/cli/output.js'
import { requestEvent, requestRows } from '../../src/cli/request-log.js'
import { notFound } from '../../src/core/errors.js'
import type { Endpoint, Exchange, Outcome } from '../../src/core/exchange.js'
import type { UpstreamResponse } from '../../src/core/reply.js'
import { entryOf } from '../../src/journal/index.js'
import { unknownApiKey } from '../../src/keys/errors.js'
import { createRedact } from '../../src/redact/index.js'
import { exchangeWith } from '../exchanges.js'

const noColors = createColors(false)
const colors = createColors(true)
const redact = createRedact({ names: [], emails: false, patterns: [], known: [] })

const answered = { status: 200, answeredBy: undefined, error: undefined, complete: true }
const health: Endpoint = {
  ...{ method: 'GET', path: '/health', access: 'anyone', takesBody: false },
  reply: () => ({ kind: 'reply', status: 200, contentType: '', body: '' }),
}

const entryFrom = (exchange: Exchange) =>
  entryOf({ id: 1, exchange, atMs: Date.now(), durationMs: performance.now() - exchange.startedMs }, redact)

const logged = (parts: Partial<Exchange> = {}) =>
  entryFrom(
    exchangeWith({
      ...{ method: 'GET', path: '/health', endpoint: health, startedMs: performance.now(), outcome: answered },
      ...parts,
    }),
  )

/** The lines without their time of day and their duration, and without columns. */
const rowsOf = (parts: Partial<Exchange>) =>
  requestRows(logged(parts), noColors).map(row => row.replace(/^\d\d:\d\d:\d\d /, '').replace(/ +[\d.]+ms/, ' - ms'))
const lineOf = (parts: Partial<Exchange>) => rowsOf(parts)[0]?.replace(/ {2,}/g, ' ')

test.each<[string, Exchange['caller']]>([
  ['', { kind: 'anonymous' }],
  [' anon key', { kind: 'anon' }],
  [' service key', { kind: 'service' }],
  [' key ci', { kind: 'apiKey', id: 'key-1', name: 'ci' }],
  [' ada@a.test', { kind: 'user', id: 'u-1', email: 'ada@a.test' }],
  [' u-1', { kind: 'user', id: 'u-1' }],
])('the line names the caller:%s', (who, caller) => {
  expect(lineOf({ caller })).toBe(`GET /health 200 - ms${who}`)
})

test('the line shows the mode, and what answered or what was wrong', () => {
  const answeredBy = { kind: 'rule', title: 'rule "greeting"', place: 'rules[0]' } as const
  expect(lineOf({ mode: 'emulate', outcome: { ...answered, answeredBy } })).toMatch(/ms emulate · rule "greeting"$/)
  const error = 'The field model is missing.'
  expect(lineOf({ mode: 'replay', outcome: { ...answered, status: 400, answeredBy, error } })).toMatch(
    /400 - ms replay · The field model is missing\.$/,
  )
})

test('the line names the call to an MCP server, without secrets', () => {
  const uri = 'docs://sk-local-1234567890abcdef1234\x1b[2J'
  const body = Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } }))
  const line = logged({ method: 'POST', path: '/mcp', endpoint: undefined, body })
  expect(requestRows(line, noColors)[0]).toMatch(/POST \/mcp {2}resources\/read docs:\/\/\S+ +200 /)
  expect(requestEvent(line, false)).toMatchObject({ call: expect.stringMatching(/^resources\/read docs:/) })
  expect(JSON.stringify(line)).not.toContain('sk-local-1234567890abcdef1234')
})

test('what OpenAI would refuse is shown on a line of its own', () => {
  const openaiRefuses = 'Unrecognized request argument supplied: top_k\x1b[2J'
  expect(rowsOf({ openaiRefuses })).toEqual([
    expect.stringContaining('GET  /health'),
    expect.stringMatching(/^ +→ OpenAI refuses this with 400: Unrecognized request argument supplied: top_k/),
  ])
  expect(rowsOf({ openaiRefuses }).join()).not.toContain('\x1b')
  expect(requestEvent(logged({ openaiRefuses }), false)).toMatchObject({ openaiRefuses })
})

test('the line shows a live error, and that it was rewritten to the documented format', () => {
  const upstream: UpstreamResponse = { kind: 'upstream', headers: [], beginning: [], bytes: 0 }
  const outcome = {
    ...answered,
    status: 502,
    answeredBy: { kind: 'live' } as const,
    upstream,
    remark: () => '502 Bad Gateway',
  }
  expect(lineOf({ mode: 'proxy', outcome })).toMatch(
    /502 - ms proxy · live · error rewritten to the documented format: 502 Bad Gateway$/,
  )
  expect(requestEvent(logged({ mode: 'proxy', outcome }), false)).toMatchObject({ status: 502, fitted: true })
  expect(requestEvent(logged(), false)).not.toHaveProperty('fitted')
})

test('a request that is refused before its endpoint is known is marked as refused', () => {
  const refused = (error: string, status: number) =>
    lineOf({ endpoint: undefined, outcome: { ...answered, status, error } })
  expect(refused(unknownApiKey().message, 401)).toMatch(/401 - ms refused · .*API key.*\.$/)
  expect(refused('An HTTP/1.1 request needs exactly one Host header.', 400)).toContain('refused · An HTTP')
})

test('the line shows that an answer broke off or never came', () => {
  const broken = (more: Partial<Outcome>) =>
    lineOf({
      mode: 'emulate',
      outcome: {
        ...answered,
        answeredBy: { kind: 'rule', title: 'rule "story"', place: 'rules[0]' },
        complete: false,
        ...more,
      },
    })
  expect(broken({})).toMatch(/200 - ms emulate · rule "story" \(broken off\)$/)
  expect(broken({ piecesAtMs: [1, 2, 3] })).toMatch(/rule "story" \(broken off after 3 chunks\)$/)
  expect(
    broken({
      status: 0,
      answeredBy: undefined,
      fault: { fault: { reset: 'before' }, by: undefined, happened: true, isSpoilt: false },
    }),
  ).toMatch(/--- - ms emulate · fault reset=before \(no answer\)$/)
  expect(lineOf({ outcome: undefined })).toBe('GET /health --- - ms the client left before there was an answer')
})

test('the line of a stream also shows the time of its first token, not of its head', () => {
  const startedMs = performance.now() - 900
  const outcome = { ...answered, beganMs: startedMs + 20, piecesAtMs: [100, 700] }
  const [line] = requestRows(logged({ startedMs, outcome }), noColors)
  expect(line).toMatch(/ 200 +9\d\dms, first token 120ms/)
})

test('a line below says what to do about a path that is almost right', () => {
  const lost = (path: string) =>
    rowsOf({
      path,
      endpoint: undefined,
      outcome: { ...answered, status: 404, error: notFound(path).message, code: 'not_found' },
    })
  expect(lost('/chat/completions')).toEqual([
    expect.stringContaining('refused · Not found.'),
    '         → Did you mean /v1/chat/completions? The base URL of an OpenAI client ends in /v1, once: use OPENAI_BASE_URL.',
  ])
  expect(lost('/favicon.ico')).toHaveLength(1)
  expect(lost('/')[1]).toBe('         → The dashboard is at /dashboard.')
})

test('secrets in an address are redacted, and the rest is shown', () => {
  const path = '/files/sk-0123456789abcdefghijklmnopqrstuvwxyz0123456789ab'
  const query = 'apikey=hush1&type=signup&token_hash=hush2&code=hush3&access_token=hush4&limit=3'
  const line = lineOf({ path, query, endpoint: undefined })
  expect(line).toContain('type=signup&token_hash=[token-hash]')
  expect(line).toContain('limit=3')
  expect(line).not.toMatch(/hush\d|sk-0123/)
  expect(JSON.stringify(requestEvent(logged({ path, query, endpoint: undefined }), false))).not.toMatch(
    /hush\d|sk-0123/,
  )
})

test('a credential is also redacted where the path repeats it', () => {
  const headers = { authorization: 'Bearer my-very-own-credential' }
  const parts = {
    headers,
    authorization: headers.authorization,
    path: '/x/my-very-own-credential',
    endpoint: undefined,
  }
  expect(lineOf(parts)).not.toContain('my-very-own')
})

const steering = 'a\u001b[2Jb\u0007c\rd\ne\u009b31mf\u007fg\u202eh'

test.each<[string, Partial<Exchange>]>([
  ['method', { method: steering }],
  ['path', { path: `/${steering}` }],
  ['query', { query: steering }],
  [
    'name of a rule',
    { outcome: { ...answered, answeredBy: { kind: 'rule', title: `rule "${steering}"`, place: '' } } },
  ],
  ['error', { outcome: { ...answered, status: 400, error: steering } }],
  ['hint', { outcome: { ...answered, status: 400, error: 'x', hint: steering } }],
  ['email of a user', { caller: { kind: 'user', id: 'u-1', email: steering } }],
])('the %s cannot steer the terminal', (_, parts) => {
  const line = lineOf(parts)
  expect(line).not.toMatch(/[\p{Cc}\u202e]/u)
  expect(line).toContain('a\\x1b[2Jb\\x07c\\x0dd\\x0ae\\x9b31mf\\x7fg\\u202eh')
})

test.each([
  [200, colors.green('200')],
  [304, colors.yellow('304')],
  [404, colors.yellow('404')],
  [500, colors.red('500')],
])('on a terminal the status %d has its colour', (status, painted) => {
  expect(requestRows(logged({ outcome: { ...answered, status } }), colors)[0]).toContain(` ${painted} `)
})

test('the event of a request contains nothing of its body', () => {
  const event = requestEvent(logged({ body: Buffer.from('hush'), outcome: undefined }), false)
  expect(event).toEqual({
    event: 'request',
    method: 'GET',
    path: '/health',
    status: null,
    durationMs: expect.any(Number),
    caller: { kind: 'anonymous' },
    complete: false,
  })
})

test('a longer method does not push the status out of its column', () => {
  const columnOf = (method: string) => lineOfWidth(method).indexOf(' 405 ')
  const lineOfWidth = (method: string) => rowsOf({ method, outcome: { ...answered, status: 405 } })[0] ?? ''
  expect(columnOf('DELETE')).toBe(columnOf('GET'))
})
