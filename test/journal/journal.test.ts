import { expect, onTestFinished, test } from 'vitest'
import type { Exchange } from '../../src/core/exchange.js'
import { unpaced } from '../../src/core/pace.js'
import type { PacedBody, Reply } from '../../src/core/reply.js'
import type { PlatformOptions } from '../../src/index.js'
import { contentOf } from '../../src/journal/facts.js'
import { createJournal } from '../../src/journal/index.js'
import { openPlatform } from '../../src/platform.js'
import { createRedact } from '../../src/redact/index.js'
import { exchangeWith } from '../exchanges.js'
import { liveWith } from '../recordings/live.js'
import { hello, platformWith } from '../scene.js'
import { KEY_UNKNOWN } from '../sentences.js'

const redact = createRedact({ names: [], emails: false, patterns: [], known: [] })

const journalOf = ({ maxEntries = 10, maxBytes = 1_000_000 } = {}) =>
  createJournal({ maxEntries, maxBytes, redact: () => redact })

/** A platform with its internals that has received these bodies one after the other. */
async function asked(bodies: readonly object[], { rules = [], ...options }: PlatformOptions = {}, headers = {}) {
  const flags = Object.entries({ port: 0, state: 'memory', ...options }).map(([name, value]) => ({
    path: name.split('.'),
    value,
    origin: 'the test',
  }))
  const platform = await openPlatform({ cwd: import.meta.dirname, file: false, flags, rules })
  onTestFinished(() => platform.stop())
  const { url, apiKey, journal } = platform
  for (const body of bodies) {
    const journaled = new Promise(resolve => journal.follow(resolve))
    const response = await fetch(`${url}/v1/chat/completions?a=1&api_key=secret-of-mine`, {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', ...headers },
    })
    await response.text().catch(() => {})
    await journaled
  }
  return platform
}

test('an entry has the request, the caller, the response and its source', async () => {
  const rules = [{ name: 'greet', when: { user: 'hello' }, reply: { text: 'Hi there.' } }]
  const { journal } = await asked([hello], { rules }, { 'x-standin-scope': 'one', 'x-trace': 't-1' })
  expect(journal.entries()).toEqual([
    {
      id: '1',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      scope: 'one',
      caller: expect.objectContaining({ kind: 'apiKey', name: 'development' }),
      ...{ run: '1', message: null },
      request: {
        method: 'POST',
        path: '/v1/chat/completions',
        query: 'a=1&api_key=[api-key]',
        headers: expect.objectContaining({ 'x-trace': 't-1', authorization: '[authorization]' }),
        body: hello,
        bytes: JSON.stringify(hello).length,
        truncated: false,
      },
      endpoint: 'POST /v1/chat/completions',
      call: null,
      mode: 'emulate',
      name: 'chat',
      source: 'rule "greet"',
      answeredBy: { kind: 'rule', title: 'rule "greet"', place: 'rules[0]' },
      fault: null,
      repeatable: true,
      code: null,
      ...{ remark: null, status: 200, error: null, hint: null, advice: null },
      ...{ openaiRefuses: null, complete: true, violations: [] },
      response: {
        headers: expect.objectContaining({ 'content-type': 'application/json' }),
        body: expect.objectContaining({ object: 'chat.completion' }),
        bytes: expect.any(Number),
        truncated: false,
        piecesAtMs: [],
      },
      tokens: { prompt: expect.any(Number), completion: expect.any(Number) },
      firstByteMs: expect.any(Number),
      firstTokenMs: null,
      durationMs: expect.any(Number),
    },
  ])
})

test('the nearest rule is named when no rule matches', async () => {
  const rules = [{ name: 'greet', when: { user: 'good morning' }, reply: { text: 'Hi.' } }]
  const { journal } = await asked([hello], { rules })
  expect(journal.entries()[0]).toMatchObject({ remark: expect.stringContaining('rule "greet"') })
})

test('the entry of a stream has the times of its pieces and its text as sent', async () => {
  const rules = [{ reply: { text: 'one two three' }, pace: { tokensPerSecond: 50 } }]
  const { journal } = await asked([{ ...hello, stream: true }], { rules })
  const { response } = journal.entries()[0] ?? {}
  // On a busy machine, late pieces are sent together.
  expect(response?.piecesAtMs.length).toBeGreaterThanOrEqual(2)
  expect(response?.body).toMatch(/^data: \{.*data: \[DONE\]\n\n$/s)
})

test('a stream sent in one piece is journaled with its own id, although its bytes were reused', async () => {
  const { journal } = await asked([
    { ...hello, stream: true },
    { ...hello, stream: true },
  ])
  const [one, two] = journal.entries().map(({ response }) => /"id":"([^"]+)"/.exec(String(response.body))?.[1])
  expect(one).toBeDefined()
  expect(one).not.toBe(two)
})

test.each([
  ['that the client aborted', { reply: { text: 'one two three four five' }, pace: { tokensPerSecond: 5 } }, undefined],
  ['that was cut', { reply: { text: 'one two three four five' } }, { cut: 3 } as const],
  ['that was cut and is not a stream', { reply: { text: 'one two three' } }, { cutBytes: 40 } as const],
])('only the sent part of an answer %s is journaled', async (_name, rule, fault) => {
  const { ask, chat, failNext, journal } = await platformWith({ rules: [rule] })
  if (fault) await failNext(fault)
  const leaving = new AbortController()
  const stream = !(fault && 'cutBytes' in fault)
  const { body } = await chat({ ...hello, stream }, { signal: leaving.signal })
  let got = ''
  const read = async () => {
    for await (const piece of body as ReadableStream<Uint8Array>) {
      got += Buffer.from(piece)
      if (!fault) leaving.abort()
    }
  }
  await read().catch(() => {})
  const { id, complete, response } = await journal.waitFor('/v1/*')
  expect({ complete, ...response }).toMatchObject({ complete: false, body: got, bytes: got.length })
  const brief = await ask('/__standin/journal?brief=true', { bearer: null })
  expect(await brief.json()).toMatchObject({ data: [{ id, responseBytes: got.length }] })
})

test.each([{ cut: 3 }, { fail: 3 }] as const)(
  'an answer that %j cut has no count of tokens, since that is of the whole answer',
  async fault => {
    const { ask, chat, failNext, journal } = await platformWith({
      rules: [{ reply: { text: 'one two three four five' } }],
    })
    await failNext(fault)
    await (await chat({ ...hello, stream: true })).text().catch(() => {})
    expect(await journal.waitFor('/v1/*')).toMatchObject({ tokens: null })
    const brief = await ask('/__standin/journal?brief=true', { bearer: null })
    expect(await brief.json()).toMatchObject({ data: [{ tokens: null }] })
  },
)

test('an answer of the live platform is journaled as well, a long one truncated', async () => {
  const live = await liveWith((_request, response) =>
    response.writeHead(200, { 'content-type': 'text/plain', 'set-cookie': 'a=secret' }).end('x'.repeat(100_000)),
  )
  const { journal } = await asked([hello], { mode: 'proxy', ...({ 'upstream.baseUrl': live.url } as object) })
  expect(journal.entries()[0]).toMatchObject({
    ...{ mode: 'proxy', source: 'live', status: 200, complete: true },
    response: {
      headers: { 'set-cookie': '[set-cookie]' },
      body: 'x'.repeat(65_536),
      bytes: 100_000,
      truncated: true,
    },
  })
})

test('a secret at the border of what is shown is hidden as a whole or left out', async () => {
  const secret = 'sk-proj-0123456789abcdefABCDEF0123456789'
  const live = await liveWith((_request, response) =>
    response
      .writeHead(200, { 'content-type': 'text/plain' })
      .end(`${'x '.repeat(32_760)}${secret} ${'y'.repeat(50_000)}`),
  )
  const { journal } = await asked([hello], { mode: 'proxy', ...({ 'upstream.baseUrl': live.url } as object) })
  expect(String(journal.entries()[0]?.response.body).slice(-30)).not.toMatch(/sk-|proj|0123/)
})

test('a refused request is journaled with its error, without the credential', async () => {
  const headers = { authorization: 'Bearer sk-local-unknown-0123456789abcdef', 'x-standin-scope': 'one' }
  const { journal } = await asked([hello], {}, headers)
  const [entry] = journal.entries()
  expect(entry).toMatchObject({
    status: 401,
    scope: 'one',
    error: KEY_UNKNOWN,
    caller: { kind: 'refused', tried: { kind: 'apiKey', reason: 'mistyped' } },
  })
  expect(JSON.stringify(entry)).not.toContain('0123456789abcdef')
})

const ended = (more: Partial<Exchange> = {}, status = 200): Exchange =>
  exchangeWith({
    outcome: {
      status,
      answeredBy: { kind: 'rule', title: 'rule "x"', place: 'rules[0]' },
      error: undefined,
      complete: true,
    },
    ...more,
  })

test.each([
  [{ path: '/v1/*' }, ['1', '2', '4']],
  [{ method: 'get' }, ['3']],
  [{ status: '4xx' }, ['2']],
  [{ status: 429 }, ['2']],
  [{ scope: 'b' }, ['4']],
  [{ text: 'needle' }, ['4']],
  [{ caller: 'service' }, ['3']],
  [{ complete: false }, []],
  [{ after: '2' }, ['3', '4']],
  [{ source: 'rule', path: '/v1/*', after: '1' }, ['2', '4']],
] as const)('the filter %j finds the entries %j', async (filter, ids) => {
  const journal = journalOf()
  journal.add(ended())
  journal.add(ended({}, 429))
  journal.add(ended({ method: 'GET', path: '/health', caller: { kind: 'service' } }))
  journal.add(ended({ scope: 'b', body: Buffer.from('{"a":"needle"}') }))
  expect(journal.entries(filter).map(({ id }) => id)).toEqual(ids)
  expect(journal.count(filter)).toBe(ids.length)
})

test('the journal keeps the last maxEntries entries', async () => {
  const journal = journalOf({ maxEntries: 3 })
  for (let i = 0; i < 3; i++) journal.add(ended())
  expect(journal.entries().map(({ id }) => id)).toEqual(['1', '2', '3'])
  expect(journal.entries({}, 2).map(({ id }) => id)).toEqual(['2', '3'])
})

test('entries beyond maxBytes are removed, the oldest first', async () => {
  const journal = journalOf({ maxBytes: 2500 })
  for (let i = 0; i < 4; i++) journal.add(ended({ body: Buffer.alloc(1000, 'x') }))
  expect(journal.entries().map(({ id }) => id)).toEqual(['3', '4'])
  // An entry that is larger than maxBytes stays until the next one comes.
  journal.add(ended({ body: Buffer.alloc(5000, 'x') }))
  expect(journal.entries().map(({ id }) => id)).toEqual(['5'])
})

test('a kept exchange drops its parsed chat request, which is read again from its body', () => {
  const journal = journalOf()
  const chat = { model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }] }
  const exchange = ended({ chat, body: Buffer.from(JSON.stringify(chat)) })
  journal.add(exchange)
  expect(exchange.chat).toBeUndefined()
  expect(journal.briefs()).toMatchObject([{ model: 'gpt-4o', prompt: 'hello' }])
})

test('after 3,000 requests as fast as they can be sent, the last 2,000 are in the journal', async () => {
  const { journal, url } = await asked([])
  const followed: number[] = []
  journal.follow((_exchange, id) => void followed.push(id))
  for (let sent = 0; sent < 3000; sent += 100)
    await Promise.all(Array.from({ length: 100 }, () => fetch(`${url}/health`)))
  expect(followed).toHaveLength(3000)
  expect(journal.briefs().map(({ id }) => Number(id))).toEqual(followed.slice(-2000))
})

test('what a stream said is kept once, however many requests it has answered', async () => {
  const rules = [{ reply: { text: 'one two three' } }]
  const { journal } = await asked(Array(2).fill({ ...hello, stream: true }), { rules })
  const [one, two] = journal
    .exchanges()
    .map(({ exchange: { outcome } }) => (outcome?.answer as Reply | undefined)?.body)
  expect(one).toMatchObject({ pieces: ['"one"', '" two"', '" three"'] })
  expect((one as PacedBody).pieces).toBe((two as PacedBody).pieces)
})

test('clear removes the entries of a scope, or all', async () => {
  const journal = journalOf()
  journal.add(ended({ scope: 'a' }))
  journal.add(ended({ scope: 'b' }))
  journal.clear('a')
  expect(journal.entries().map(({ scope }) => scope)).toEqual(['b'])
  expect(journal.get('1')).toBeUndefined()
  expect(journal.get('2')).toMatchObject({ scope: 'b' })
  journal.clear()
  expect(journal.count()).toBe(0)
})

test('a body that is nested too deeply is journaled as text', async () => {
  const journal = journalOf()
  const deep = `${'{"a":['.repeat(5000)}"sk-proj-${'a1B2c3D4'.repeat(5)}"${']}'.repeat(5000)}`
  journal.add(exchangeWith({ body: Buffer.from(deep) }))
  journal.add(exchangeWith({ body: Buffer.from('['.repeat(400) + ']'.repeat(400)) }))
  const [first, second] = journal.entries()
  expect(JSON.stringify(first)).not.toContain('a1B2c3D4')
  expect(first?.request.body).toMatch(/^\{"a":\[.*\[key-1\].*\]\}$/)
  expect(second?.request.body).toBeInstanceOf(Array)
})

test('headers may have any name, such as constructor', async () => {
  const journal = journalOf()
  const headers = JSON.parse('{"constructor":"a","__proto__":"b","tostring":"c"}')
  journal.add(exchangeWith({ headers }))
  expect(Object.entries(journal.entries()[0]?.request.headers ?? {})).toEqual(Object.entries(headers))
})

test('long queries and the times of pieces count towards maxBytes', async () => {
  const journal = journalOf({ maxEntries: 100, maxBytes: 20_000 })
  for (let i = 0; i < 50; i++) journal.add(exchangeWith({ query: 'q'.repeat(5000) }))
  expect(journal.count()).toBe(3)
  const outcome = { status: 200, answeredBy: undefined, error: undefined, complete: true }
  const piecesAtMs = Array.from({ length: 1000 }, (_, i) => i)
  for (let i = 0; i < 50; i++) journal.add(exchangeWith({ outcome: { ...outcome, piecesAtMs } }))
  expect(journal.count()).toBe(2)
})

test('streams count with their pieces, and pieces of the live platform are joined in memory', async () => {
  const journal = journalOf({ maxEntries: 100, maxBytes: 20_000 })
  const outcome = { status: 200, answeredBy: undefined, error: undefined, complete: true }
  const frame = { head: '', before: '', after: '', tail: '', pace: unpaced }
  for (let i = 0; i < 50; i++) {
    const body = { ...frame, pieces: Array.from({ length: 100 }, () => 'x'.repeat(50)) }
    const said = { kind: 'reply', status: 200, contentType: 'text/event-stream', body } as const
    journal.add(exchangeWith({ outcome: { ...outcome, answer: said } }))
  }
  expect(journal.count()).toBe(2)
  const beginning = ['data: 1\n\n', 'data: 2\n\n'].map(text => Buffer.from(text))
  journal.add(
    exchangeWith({ outcome: { ...outcome, answer: { kind: 'upstream', headers: [], beginning, bytes: 18 } } }),
  )
  expect(beginning.map(String)).toEqual(['data: 1\n\ndata: 2\n\n'])
})

test('text in bodies is found in any script', async () => {
  const journal = journalOf()
  for (const text of ['Grüße', 'Gruesse', '😀']) journal.add(exchangeWith({ body: Buffer.from(text) }))
  expect(['üß', 'ues', '😀', 'G', ''].map(text => journal.count({ text }))).toEqual([1, 1, 1, 2, 3])
})

test("tokens come from the answer's usage; for a stream without usage they are counted", async () => {
  const live = await liveWith((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":11,"total_tokens":18}}')
  })
  const { journal } = await asked([hello], { mode: 'proxy', upstream: { baseUrl: live.url, apiKey: 'sk-live' } })
  const fromUsage = { tokens: { prompt: 7, completion: 11 }, answeredBy: { kind: 'live', baseUrl: live.url } }
  expect(journal.entries()).toMatchObject([fromUsage])
  const rules = [{ when: { user: 'hello' }, reply: { text: 'Hi there, and welcome.' } }]
  const streamed = await asked([{ ...hello, stream: true }], { rules, pace: { firstTokenMs: 20 } })
  const [entry] = streamed.journal.entries()
  expect(entry?.tokens?.completion).toBeGreaterThan(3)
  expect((entry?.firstTokenMs ?? 0) - (entry?.firstByteMs ?? 0)).toBeGreaterThan(10)
})

test('an entry has the beginning of the last user message, redacted, also for a refused request', async () => {
  const content = [
    { type: 'text', text: 'Is sk-live-0123456789abcdefghijklmnop' },
    { type: 'text', text: 'mine?' },
  ]
  const messages = [
    { role: 'user', content: 'before' },
    { role: 'assistant', content: 'Yes?' },
    { role: 'user', content },
  ]
  const { journal } = await asked(
    [{ model: 'gpt-4o', messages, stream: true }],
    {},
    { authorization: 'Bearer nothing' },
  )
  expect(journal.briefs()).toMatchObject([
    { status: 401, model: 'gpt-4o', stream: true, prompt: expect.stringMatching(/^Is \[.*\] mine\?$/), tokens: null },
  ])
})

test.each([
  ['Japanese', '日本語'.repeat(667), /^(?:日本語){10}/],
  ['Thai', 'สวัสดี'.repeat(400), /^(?:สวัสดี){10}/],
  ['emoji', `日${'😀'.repeat(1200)}`, /^日(?:😀){10}/],
  ['JSON', JSON.stringify(Array(400).fill({ id: 'x' })), /^\[\{"id":"x"\},/],
  ['English', 'word '.repeat(500), /^word word /],
])('an entry has the beginning of a long prompt, with or without spaces: %s', async (_, content, beginning) => {
  const { journal } = await asked([{ model: 'gpt-4o', messages: [{ role: 'user', content }] }])
  expect(journal.briefs()[0]?.prompt).toMatch(beginning)
})

test.each(['sk-live-0123456789abcdefghijklmnop', 'https://ada.example/?token=0123456789abcdefghijklmnop'])(
  'a secret cut off at the end of a prompt without spaces is left out: %s',
  cut => {
    const chat = { messages: [{ role: 'user', content: '語'.repeat(1980) + cut }] }
    expect(contentOf({ chat } as unknown as Exchange).prompt).toBe('語'.repeat(1980))
  },
)

test("the dashboard's own requests are not journaled", async () => {
  const platform = await platformWith()
  const askAs = (headers: Record<string, string>) => platform.ask('/v1/models', { headers })
  await askAs({ 'x-standin-dashboard': 'yes', origin: platform.url })
  await askAs({ 'x-standin-dashboard': 'yes' })
  // A page on another origin cannot hide its requests with this header.
  await askAs({ 'x-standin-dashboard': 'yes', origin: 'https://elsewhere.example' })
  expect(await platform.journal.count()).toBe(1)
})

test('an unknown exchange gets another error than one that is no longer kept', async () => {
  const platform = await platformWith()
  await platform.ask('/health')
  const forgotten = async (id: string) =>
    ((await (await platform.ask(`/__standin/journal/${id}`)).json()) as { error: string }).error
  await platform.ask('/__standin/journal', { method: 'DELETE' })
  expect(await forgotten('1')).toMatch(/^Exchange 1 is no longer kept\./)
  expect(await forgotten('2')).toMatch(/^There is no exchange "2" in the journal\./)
})

test('a request can be sent again with its own credential, unless it is not kept in full', async () => {
  const rules = [{ name: 'greet', when: { user: 'hello' }, reply: { text: 'Hi there.' } }]
  const platform = await platformWith({ rules })
  await (await platform.chat(hello, { headers: { 'x-standin-scope': 'one' } })).text()
  const again = async (id: string) => {
    const response = await platform.ask(`/__standin/journal/${id}/again`, { method: 'POST' })
    return { status: response.status, json: (await response.json()) as { id?: string; error?: string } }
  }
  const { json } = await again('1')
  expect(json).toEqual({ id: '2' })
  const [first, second] = await platform.journal.find()
  const alike = { caller: first?.caller, scope: 'one', status: 200, source: 'rule "greet"' }
  expect(second).toMatchObject({ ...alike, request: { path: first?.request.path, body: hello } })
  // The connection was reset, but the exchange is journaled anyway.
  await platform.chat(hello, { headers: { 'x-standin-fault': 'reset=before' } }).catch(() => {})
  expect((await again('3')).json).toEqual({ id: '4' })
  await platform
    .ask('/v1/chat/completions', { method: 'POST', bearer: null, body: 'x'.repeat(3_000_000) })
    .catch(() => {})
  expect(await again('5')).toMatchObject({
    status: 409,
    json: { error: expect.stringMatching(/^This request cannot/) },
  })
  expect((await again('99')).status).toBe(404)
})
