import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { Violations } from '../../src/contract/violations.js'
import { createRedact } from '../../src/redact/index.js'
import { folderWith } from '../command.js'
import { exchangeWith } from '../exchanges.js'
import { liveWith, proxyTo } from '../http/live.js'
import { noRules } from '../redact/secrets.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { mustBe } from '../sentences.js'

type Body = string | Buffer | object

interface Live {
  readonly status?: number
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body: Body
}

/** A live platform that gives this answer to every request, and Standin in front of it. */
async function inFrontOf({ status = 200, type = 'application/json', headers, body }: Live, options = {}) {
  const live = await liveWith((_request, response) => {
    const text = typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)
    response.writeHead(status, { 'content-type': type, ...headers }).end(text)
  })
  return proxyTo(live.url, options)
}

/** The violations, once this many answers are in the journal and judged. */
async function found(platform: Scene, answered = 1) {
  await expect.poll(async () => (await journalOf(platform)).length, { timeout: 20_000 }).toBe(answered)
  return (await platform.violations()).flatMap(({ violations }) => violations)
}

async function journalOf({ url }: Scene) {
  const response = await fetch(`${url}/__standin/journal`)
  return ((await response.json()) as { data: readonly Record<string, unknown>[] }).data
}

const message = { role: 'assistant', content: 'Hi!' }
const choice = { index: 0, message, finish_reason: 'stop' }
const completion = { id: 'chatcmpl-1', object: 'chat.completion', created: 1, model: 'gpt-4o-mini', choices: [choice] }
const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini' },
  ...{ choices: [{ index: 0, delta, finish_reason }], ...more },
})
const events = (...data: readonly (object | string)[]) =>
  data.map(one => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join('')
const [first, last] = [chunk({ role: 'assistant', content: 'Hi!' }), chunk({}, 'stop')]
const sse = 'text/event-stream; charset=utf-8'

const health = (platform: Scene) => platform.ask('/health', { bearer: null })
const index = (platform: Scene) => platform.ask('/api/v1', { bearer: platform.anonKey })
const models = (platform: Scene) => platform.ask('/v1/models')
const chat = (platform: Scene) => platform.chat(hello)
const stream = (platform: Scene) => platform.chat({ ...hello, stream: true })
const usage = (platform: Scene) => platform.chat({ ...hello, stream: true, stream_options: { include_usage: true } })
const elsewhere = (platform: Scene) => platform.ask('/v1/embeddings')

const spaced = (platform: Scene) => platform.ask('/v1/my%20models')

type Ask = (platform: Scene) => Promise<Response>

const good: readonly (readonly [string, Ask, Live])[] = [
  ['a health', health, { body: { status: 'ok', version: '1.2.3', uptime: 3 } }],
  ['an index', index, { body: { status: 'ok', endpoints: ['/health', { path: 3 }] } }],
  ['a list of models', models, { body: { object: 'list', data: [] } }],
  ['a completion', chat, { body: completion }],
  [
    'a compressed completion',
    chat,
    { body: gzipSync(JSON.stringify(completion)), headers: { 'content-encoding': 'gzip' } },
  ],
  ['a stream', stream, { type: sse, body: `: hello\n\n${events(first, last, '[DONE]')}` }],
  ['a stream that ends in an error', stream, { type: sse, body: events(first, { error: 'overloaded' }) }],
  [
    'a stream with usage',
    usage,
    {
      type: sse,
      body: events(
        first,
        last,
        chunk({}, null, { choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } }),
        '[DONE]',
      ),
    },
  ],
  [
    'the event about the prompt that Azure sends before the first chunk',
    stream,
    {
      type: sse,
      body: events(
        { ...{ choices: [], created: 0, id: '', model: '', object: '' }, prompt_filter_results: [{ prompt_index: 0 }] },
        ...[first, last, '[DONE]'],
      ),
    },
  ],
  [
    'comments and additional fields, as OpenRouter and Groq send them',
    stream,
    {
      type: sse,
      body: `: OPENROUTER PROCESSING\n\n${events({ ...first, provider: 'x', x_groq: { id: 'req_1' }, error: null }, last, '[DONE]')}`,
    },
  ],
  [
    'a completion of a model that reasons and calls a tool',
    chat,
    {
      body: {
        ...completion,
        choices: [
          {
            ...{ index: 0, finish_reason: 'tool_calls', native_finish_reason: 'tool_use', logprobs: null },
            message: {
              ...{ role: 'assistant', content: null, refusal: null, annotations: [], reasoning_content: 'Hm.' },
              tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }],
            },
          },
        ],
        usage: {
          ...{ prompt_tokens: 1, completion_tokens: 2, total_tokens: 3, prompt_cache_hit_tokens: 0, queue_time: 0.01 },
          completion_tokens_details: { reasoning_tokens: 2 },
        },
        service_tier: 'default',
      },
    },
  ],
  ['a 404 with its path decoded', spaced, { status: 404, body: { error: 'Not found', path: '/v1/my models' } }],
  ['a 404', models, { status: 404, body: { error: 'Not found', path: '/v1/models' } }],
  ['a 500', chat, { status: 500, body: { error: 'oops' } }],
  ['an undocumented path', elsewhere, { type: 'text/plain', body: 'anything' }],
]

test.each(good)('a correct answer has no violations: %s', async (_what, ask, live) => {
  const platform = await inFrontOf(live)
  const response = await ask(platform)
  await response.text()
  expect(await found(platform)).toEqual([])
  expect(response.headers.get('x-standin-violations')).toBe(null)
})

const bad: readonly (readonly [string, Ask, Live, string, string])[] = [
  ['a health that is not ok', health, { body: { status: 'up', version: '1.2.3' } }, 'status', 'documented'],
  ['a version that is not three numbers', health, { body: { status: 'ok', version: 'v1' } }, 'version', 'documented'],
  ['a health in plain text', health, { type: 'text/plain', body: 'ok' }, '', 'documented'],
  ['an index without endpoints', index, { body: { status: 'ok' } }, 'endpoints', 'documented'],
  ['models that are not a list', models, { body: { object: 'list', data: {} } }, 'data', 'decided'],
  ['an HTML page instead of a completion', chat, { type: 'text/html', body: '<h1>hello</h1>' }, '', 'documented'],
  ['a completion without choices', chat, { body: { ...completion, choices: [] } }, 'choices', 'decided'],
  ['a stream that was not requested', chat, { type: sse, body: events(first, last, '[DONE]') }, '', 'documented'],
  ['no stream although one was requested', stream, { body: completion }, '', 'decided'],
  ['a stream without [DONE]', stream, { type: sse, body: events(first, last) }, '', 'decided'],
  ['a stream without a finish reason', stream, { type: sse, body: events(first, '[DONE]') }, '', 'decided'],
  ['a broken event', stream, { type: sse, body: events('{"id":', last, '[DONE]') }, 'events[0]', 'decided'],
  [
    'an event with a wrong field',
    stream,
    { type: sse, body: events({ ...first, choices: 3 }, last, '[DONE]') },
    'events[0].choices',
    'decided',
  ],
  [
    'an error in a stream without a message',
    stream,
    { type: sse, body: events(first, { error: { code: 500 } }) },
    'events[1].error.message',
    'decided',
  ],
  [
    'a stream without the usage that was requested',
    usage,
    { type: sse, body: events(first, last, '[DONE]') },
    '',
    'decided',
  ],
  [
    'an error in the format of OpenAI',
    models,
    { status: 401, body: { error: { message: 'no' } } },
    'error',
    'documented',
  ],
  ['an error without a body', chat, { status: 429, body: '' }, '', 'documented'],
  [
    'a 404 with another path',
    elsewhere,
    { status: 404, body: { error: 'no', path: '/elsewhere' } },
    'path',
    'documented',
  ],
  [
    'a 404 that is corrected for the client',
    elsewhere,
    { status: 404, body: { detail: 'No.' } },
    'error',
    'documented',
  ],
  [
    'a redirect',
    p => p.ask('/v1/models', { redirect: 'manual' }),
    { status: 302, headers: { location: '/login' }, body: '' },
    '',
    'decided',
  ],
  ['another success status', models, { status: 202, body: {} }, '', 'documented'],
]

test.each(bad)(
  'a violation of the contract by the live platform is found: %s',
  async (_what, ask, live, path, source) => {
    const platform = await inFrontOf(live)
    await (await ask(platform)).text().catch(() => {})
    const violations = await found(platform)
    expect(violations.map(one => [one.path, one.source])).toContainEqual([path, source])
    for (const one of violations) {
      expect(one.severity).toBe(one.source === 'documented' ? 'critical' : one.path === 'id' ? 'info' : 'warning')
      expect(one.sentence).toMatch(/^[A-Z\w].*\.$/)
    }
  },
)

test('violations are in the journal, in a list, in its counts, and in a header of later answers', async () => {
  const platform = await inFrontOf({ body: { status: 'sk-secret-sk-secret-sk-secret', version: '1.2.3' } })
  const before = await health(platform)
  expect(before.headers.get('x-standin-violations')).toBe(null)
  await found(platform)
  const [entry] = await journalOf(platform)
  expect(entry?.violations).toEqual([
    {
      path: 'status',
      sentence: mustBe('status', '"ok"'),
      severity: 'critical',
      source: 'documented',
      section: 'Health response (JSON)',
    },
  ])
  const listed = await (await fetch(`${platform.url}/__standin/receipt`)).json()
  expect(listed).toMatchObject({
    recordings: null,
    violations: [{ id: entry?.id, method: 'GET', endpoint: 'GET /health', status: 200, mode: 'proxy' }],
  })
  expect(JSON.stringify(listed)).not.toContain('sk-secret')
  expect((await health(platform)).headers.get('x-standin-violations')).toBe('1')
})

test('a secret that a reload adds while answers wait to be checked is not shown', async () => {
  let redact = createRedact(noRules)
  const violations = new Violations(
    error => expect.unreachable(String(error)),
    () => redact,
  )
  const endpoint = { method: 'GET', path: '/v1/hunter22', access: 'anyone', takesBody: false } as const
  const answer = { kind: 'upstream', headers: [], beginning: [], bytes: 0 } as const
  const outcome = {
    status: 302,
    error: undefined,
    answeredBy: undefined,
    answer: { ...answer, beginning: [] },
    complete: true,
  }
  const exchange = exchangeWith({
    mode: 'proxy',
    method: 'GET',
    endpoint: { ...endpoint, reply: () => expect.unreachable() },
    outcome,
  })
  violations.onViolating(() => {
    redact = createRedact({ ...noRules, known: [{ name: 'live-key', value: 'hunter22' }] })
  })
  violations.take(exchange, 1)
  violations.take({ ...exchange }, 2)
  await violations.settle()
  expect(violations.list().map(({ endpoint }) => endpoint)).toEqual(['GET /v1/[live-key]', 'GET /v1/hunter22'])
})

test('a reset clears the violations', async () => {
  const platform = await inFrontOf({ body: {} })
  await (await health(platform)).text()
  expect(await found(platform)).not.toEqual([])
  await fetch(`${platform.url}/__standin/reset`, { method: 'POST' })
  expect(await platform.violations()).toEqual([])
})

test('nothing is judged if Standin emulates the answer', async () => {
  const emulating = await platformWith()
  await (await emulating.chat({})).text()
  expect(await found(emulating)).toEqual([])
})

test('paths that the user configures are not judged: MCP servers have their own formats, and rules any status', async () => {
  const refusal = { jsonrpc: '2.0', id: 1, error: { code: -32001, message: 'Session not found' } }
  const dir = folderWith({ 'rules.yaml': '- on: POST /builder/deploy\n  reply: { status: 202, json: { ok: true } }\n' })
  const options = { mcp: { '/mcp': {} }, replies: path.join(dir, 'rules.yaml') }
  const platform = await inFrontOf({ status: 404, body: refusal }, options)
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' })
  for (const path of ['/mcp', '/builder/deploy'])
    expect((await platform.ask(path, { method: 'POST', body })).status).toBe(404)
  expect(await found(platform, 2)).toEqual([])
})

test('our own refusals and failures, and injected faults, are not violations of the live platform', async () => {
  const platform = await inFrontOf({ body: {} })
  await (await platform.ask('/v1/models', { bearer: null })).text()
  await (await platform.ask('/v1/models', { headers: { 'x-standin-fault': 'status=503' } })).text()
  await (await platform.ask('/v1/models', { headers: { 'x-standin-fault': 'truncate' } })).text()
  expect(await found(platform, 3)).toEqual([])
})

test('answers are judged as soon as they come from the live platform', async () => {
  const live = await liveWith((_request, response) => void response.writeHead(200).end('{}'))
  const platform = await platformWith({ upstream: { baseUrl: live.url } })
  await (await health(platform)).text()
  await platform.switchMode('proxy')
  await (await health(platform)).text()
  expect((await found(platform, 2)).length).toBeGreaterThan(0)
})
