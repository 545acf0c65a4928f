import { readFileSync, utimesSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { writeInto } from '../command.js'
import { eventsOf, hello, textOfChunks } from '../scene.js'
import { mustBe, oneOf } from '../sentences.js'
import { liveWith, saying, tape } from './live.js'

const streamed = { ...hello, stream: true }

/** A tape with live answers to these requests, numbered from 1. */
async function taped(bodies: readonly object[] = [hello], options: PlatformOptions = {}) {
  let count = 0
  const live = await liveWith((request, response) => saying({ count: ++count })(request, response))
  const scene = tape(live.url)
  const { chat, stop } = await scene.recording(options)
  for (const body of bodies) await (await chat(body)).text()
  await stop()
  await live.close()
  return { ...scene, file: path.join(scene.dir, scene.files()[0] ?? '') }
}

const event = (delta: object, more: object = {}) =>
  `data: ${JSON.stringify({
    ...{ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'live-model' },
    choices: [{ index: 0, delta, finish_reason: null }],
    ...more,
  })}\n\n`

/** A tape with one stream whose events arrived with pauses. */
async function tapedStream({ pauseMs = 0, body = streamed as object } = {}) {
  const events = [
    event({ role: 'assistant', content: 'One' }),
    event({ content: ' two' }),
    event({ content: ' three' }),
  ]
  const live = await liveWith(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const event of events) {
      response.write(event)
      if (pauseMs > 0) await new Promise(resolve => setTimeout(resolve, pauseMs))
    }
    response.end('data: [DONE]\n\n')
  })
  const scene = tape(live.url)
  const { chat, stop } = await scene.recording()
  const bytes = await (await chat(body)).text()
  await stop()
  await live.close()
  return { ...scene, bytes, file: path.join(scene.dir, scene.files()[0] ?? '') }
}

/** When each piece of a body arrives, after the head. */
async function arrivals(response: Response) {
  const startMs = performance.now()
  const times: number[] = []
  let text = ''
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    times.push(performance.now() - startMs)
    text += Buffer.from(bytes).toString()
  }
  return { times, text }
}

const statusesOf = async (answers: readonly Promise<Response>[]) =>
  (await Promise.all(answers)).map(({ status }) => status)

/** A request that is the same in each run, except for one field. */
const poll = (run: number) => ({ ...hello, metadata: { run, app: 'a' } })

/** The numbers of the answers to these requests, one after the other. */
async function countsOf(chat: (body: object) => Promise<Response>, bodies: readonly object[]) {
  const counts: unknown[] = []
  for (const body of bodies) counts.push(((await (await chat(body)).json()) as { count: number }).count)
  return counts
}

test('a stream is replayed with the same bytes and timing', async () => {
  // Long pauses, so that a busy machine neither merges pieces nor hides the timing.
  const { replaying, bytes } = await tapedStream({ pauseMs: 400 })
  const { chat } = await replaying({ recordings: { speed: 1 } })
  const { times, text } = await arrivals(await chat(streamed))
  expect(text).toBe(bytes)
  expect(times.length).toBeGreaterThanOrEqual(3)
  expect(times.at(-1)).toBeGreaterThan(400)
})

test('a faster replay sends the same bytes sooner, and without a speed tests get everything at once', async () => {
  const { replaying, bytes } = await tapedStream({ pauseMs: 100 })
  const fast = await replaying({ recordings: { speed: 10 } })
  const slow = await replaying({ recordings: { speed: 1 } })
  const [ten, one] = await Promise.all([fast.chat(streamed).then(arrivals), slow.chat(streamed).then(arrivals)])
  expect(ten.text).toBe(bytes)
  expect(ten.times.at(-1)).toBeLessThan(one.times.at(-1) ?? 0)
  const atOnce = await arrivals(await (await replaying()).chat(streamed))
  expect(atOnce).toMatchObject({ text: bytes, times: [expect.any(Number)] })
})

test('an answer of any type that came in pieces is replayed in them, with its reason phrase', async () => {
  const live = await liveWith(async (_request, response) => {
    response.writeHead(209, 'Halfway There', { 'content-type': 'text/plain' })
    for (const word of ['one ', 'two ', 'three']) {
      response.write(word)
      await new Promise(resolve => setTimeout(resolve, 300))
    }
    response.end()
  })
  const { recording, replaying, text } = tape(live.url)
  const { ask, stop } = await recording()
  await (await ask('/v1/text')).text()
  await stop()
  expect(text()).toContain('statusText: Halfway There')
  const response = await (await replaying({ recordings: { speed: 1 } })).ask('/v1/text')
  expect(response.statusText).toBe('Halfway There')
  const arrived = await arrivals(response)
  expect(arrived).toMatchObject({ text: 'one two three', times: { length: 3 } })
})

test('credentials are still checked, and any valid one gets the recording', async () => {
  const { replaying } = await taped()
  const apiKeys = [
    { name: 'one', key: 'sk-local-another-one' },
    { name: 'two', key: 'sk-local-revoked', revoked: true },
  ]
  const { chat, url } = await replaying({ apiKeys })
  expect(await (await chat(hello, { bearer: 'sk-local-another-one' })).json()).toEqual({ count: 1 })
  expect(await statusesOf([null, 'sk-local-revoked', 'nonsense'].map(bearer => chat(hello, { bearer })))).toEqual([
    401, 401, 401,
  ])
  expect(await (await fetch(`${url}/v1/chat/completions`, { method: 'POST' })).json()).toEqual({
    error: expect.any(String),
  })
})

test('a request without stream is answered from the recording of a stream', async () => {
  const { replaying } = await tapedStream()
  const { chat } = await replaying()
  const response = await chat(hello)
  expect(response.headers.get('content-type')).toBe('application/json')
  expect(await response.json()).toMatchObject({
    ...{ id: 'chatcmpl-1', object: 'chat.completion', model: 'live-model' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'One two three' } }],
  })
})

test('a request with stream is answered from the recording of a whole answer', async () => {
  const whole = {
    ...{ id: 'chatcmpl-2', object: 'chat.completion', created: 1, model: 'live-model' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Four five six.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 4, total_tokens: 5 },
  }
  const live = await liveWith(saying(whole))
  const { recording, replaying } = tape(live.url)
  const { chat, stop } = await recording()
  await (await chat(hello)).text()
  await stop()
  const replay = await replaying()
  const response = await replay.chat({ ...streamed, stream_options: { include_usage: true } })
  expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/)
  const { chunks, done } = eventsOf(await response.text())
  expect(textOfChunks(chunks)).toBe('Four five six.')
  expect(chunks.at(-1)?.usage).toMatchObject({ total_tokens: 5 })
  expect(done).toBe(true)
})

test('after the last of several recordings of a request, the last one is repeated', async () => {
  const { replaying } = await taped([hello, hello])
  const { chat } = await replaying()
  expect(await countsOf(chat, [hello, hello, hello, hello])).toEqual([1, 2, 2, 2])
})

test('parallel tests on one server each go through the recordings on their own', async () => {
  const { replaying } = await taped([hello, hello])
  const { chat } = await replaying()
  const next = async (scope: string) =>
    ((await (await chat(hello, { headers: { 'x-standin-scope': scope } })).json()) as { count: number }).count
  expect([await next('a'), await next('b'), await next('a'), await next('b')]).toEqual([1, 1, 2, 2])
})

test('a request without stream gets the reason why a stream that broke off cannot answer it', async () => {
  const { replaying, file } = await tapedStream()
  const { chat } = await replaying()
  writeFileSync(file, readFileSync(file, 'utf8').replace('recordedAt:', 'complete: false\nrecordedAt:'))
  expect(await (await chat(hello)).json()).toEqual({ error: expect.stringContaining(' broke off. Record it again') })
})

test('a request without stream gets an error if the recorded stream has no [DONE]', async () => {
  const { replaying, file } = await tapedStream()
  const { chat } = await replaying()
  writeFileSync(file, readFileSync(file, 'utf8').replace('data: [DONE]', ': no more'))
  expect(await (await chat(hello)).json()).toEqual({
    error: expect.stringContaining('cannot be converted to the requested format.'),
  })
})

test('a stream of a server that sends no [DONE], but each finish_reason, also answers a request without stream', async () => {
  const piece = (index: number, content: string, finish_reason: string | null = null) =>
    event({}, { choices: [{ index, delta: content === '' ? {} : { content }, finish_reason }] })
  const events = [piece(0, 'Hi'), piece(1, 'Ho'), piece(1, '', 'length'), piece(0, '', 'stop')]
  const live = await liveWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''))
  })
  const { recording, replaying } = tape(live.url)
  const { chat, stop } = await recording()
  await (await chat(streamed)).text()
  await stop()
  const replay = await replaying()
  expect(await (await replay.chat(streamed)).text()).toBe(events.join(''))
  expect(await (await replay.chat(hello)).json()).toMatchObject({
    choices: [
      { message: { content: 'Hi' }, finish_reason: 'stop' },
      { message: { content: 'Ho' }, finish_reason: 'length' },
    ],
  })
})

test('a miss belongs to the scope of its test and is removed when that scope is reset', async () => {
  const { replaying } = await taped([hello])
  const { url, chat, misses } = await replaying()
  const unknown = { ...hello, messages: [{ role: 'user', content: 'this was never recorded' }] }
  for (const scope of ['a', 'b', '']) {
    const headers = scope === '' ? {} : { 'x-standin-scope': scope }
    expect((await chat(unknown, { headers })).status).toBe(424)
  }
  const missesFor = async (query: string) => (await fetch(`${url}/__standin/receipt${query}`)).json()
  expect(await missesFor('?scope=a')).toMatchObject({ misses: [{ scope: 'a' }] })
  expect(await missesFor('?scope=')).toMatchObject({ misses: [{ scope: '' }] })
  const ofA = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"scope":"a"}' }
  await fetch(`${url}/__standin/reset`, ofA)
  expect((await misses()).map(({ scope }) => scope)).toEqual(['', 'b'])
})

test('a miss names the nearest recording and the field that differs, in one line for the client', async () => {
  const { replaying, files } = await taped([
    hello,
    { ...hello, messages: [{ role: 'user', content: 'What is the capital of France?' }] },
  ])
  const { chat, misses } = await replaying()
  const response = await chat({ ...hello, messages: [{ role: 'user', content: 'What is the capital of Spain?' }] })
  expect(response.status).toBe(424)
  const nearest = files().find(file => file.includes('france'))
  const { error } = (await response.json()) as { error: string }
  expect(error).toBe(
    `No recording matches POST /v1/chat/completions. The nearest is ${nearest}; there messages[0].content is "What is the capital of France?", here it is "What is the capital of Spain?".`,
  )
  expect(await misses()).toMatchObject([
    {
      ...{ method: 'POST', path: '/v1/chat/completions' },
      nearest: {
        file: nearest,
        differences: [
          {
            field: 'messages[0].content',
            recorded: '"What is the capital of France?"',
            asked: '"What is the capital of Spain?"',
          },
        ],
      },
    },
  ])
})

test('the journal shows the difference of each of several simultaneous misses', async () => {
  const { replaying } = await taped([hello])
  const { chat, journal } = await replaying()
  const asked = ['hullo', 'halloo', 'hey']
  await Promise.all(asked.map(content => chat({ ...hello, messages: [{ role: 'user', content }] })))
  const shown = (await journal.find()).map(({ request, nearest }) => [
    JSON.stringify((request.body as typeof hello).messages[0]?.content),
    nearest?.differences[0]?.asked,
  ])
  expect(shown).toHaveLength(asked.length)
  for (const [sent, differs] of shown) expect(differs).toBe(sent)
})

test('for long texts a miss shows the place where they start to differ', async () => {
  const long = 'All work and no play makes Jack a dull boy. '.repeat(50)
  const ask = (end: string) => ({ ...hello, messages: [{ role: 'user', content: `${long}The ${end}.` }] })
  const { replaying } = await taped([ask('end')])
  const { chat } = await replaying()
  const { error } = (await (await chat(ask('beginning'))).json()) as { error: string }
  expect(error).toContain('dull boy. The end."')
  expect(error).toContain('dull boy. The beginning."')
  expect(error.length).toBeLessThan(400)
})

test('a miss among long prompts shows where they differ', async () => {
  const long = (i: number) => ({
    ...hello,
    messages: [{ role: 'user', content: 'a line of text\n'.repeat(20_000) + i }],
  })
  const { replaying } = await taped(Array.from({ length: 5 }, (_, i) => long(i)))
  const { chat } = await replaying()
  expect(await (await chat(long(30))).json()).toEqual({
    error: expect.stringContaining('there messages[0].content is'),
  })
})

test('a miss does not report differences that do not affect matching', async () => {
  const { replaying } = await taped([{ ...hello, temperature: 1, user: 'ada' }])
  const { chat } = await replaying()
  const { error } = (await (await chat({ ...hello, user: 'bob', stream: true, n: 1 })).json()) as { error: string }
  expect(error).toMatch(/there user is "ada", here it is "bob"\.$/)
})

test('a miss names a parameter that differs, even if it is sent several times', async () => {
  const live = await liveWith(saying({ ok: true }))
  const { recording, replaying } = tape(live.url)
  const { ask, stop } = await recording()
  await (await ask('/v1/models?tag=a&tag=c')).text()
  await stop()
  const replay = await replaying()
  const { error } = (await (await replay.ask('/v1/models?tag=b&tag=c')).json()) as { error: string }
  expect(error).toContain('there query.tag is ["a","c"], here it is ["b","c"]')
})

test('a miss says when nothing is recorded for an endpoint', async () => {
  const { replaying } = await taped()
  const { ask } = await replaying()
  const response = await ask('/v1/models')
  expect(response.status).toBe(424)
  expect(await response.json()).toEqual({ error: 'No recording matches GET /v1/models. Nothing is recorded for it.' })
})

test('the control API has the receipt, with misses', async () => {
  const { replaying } = await taped()
  const { ask, chat, url } = await replaying()
  await chat(hello)
  await ask('/v1/models')
  expect(await (await fetch(`${url}/__standin/receipt`)).json()).toEqual({
    recordings: expect.objectContaining({ served: 1, missed: 1, unused: [] }),
    misses: [
      { at: expect.any(String), scope: '', method: 'GET', path: '/v1/models', reason: 'Nothing is recorded for it.' },
    ],
    violations: expect.any(Array),
  })
})

test('the receipt says what was served, missed, left unused and passed on', async () => {
  const { replaying, files } = await taped([hello, { ...hello, temperature: 0 }])
  const { ask, chat, receipt } = await replaying()
  const violations = { documented: 0, decided: 0, unjudged: 0 }
  expect(await receipt()).toEqual({
    ...{ version: 1, violations, passed: 0, own: 0, tests: {} },
    ...{ served: 0, others: 0, changedPrompts: 0, changedMessages: 0, missed: 0 },
    ...{ used: [], unused: files() },
    ...{ recorded: 0, unchanged: 0, errors: {}, notAsked: [], notRecorded: [], unreadable: [], remarks: [] },
  })
  await chat(hello)
  await chat(hello)
  await ask('/health')
  expect(await receipt()).toMatchObject({ served: 2, missed: 1, passed: 0, unused: [expect.any(String)] })
})

test('a request without a recording may be emulated', async () => {
  const { replaying } = await taped()
  const { chat, receipt } = await replaying({ recordings: { onMiss: 'emulate' } })
  const response = await chat({ ...hello, messages: [{ role: 'user', content: 'ping' }] })
  expect(await response.json()).toMatchObject({ choices: [{ message: { content: expect.any(String) } }] })
  expect(await (await chat(hello)).json()).toEqual({ count: 1 })
  expect(await receipt()).toMatchObject({ served: 1, missed: 1 })
})

test('a request without a recording may be recorded, and is replayed from then on', async () => {
  let count = 0
  const live = await liveWith((request, response) => saying({ fresh: ++count })(request, response))
  const { replaying, files } = tape(live.url)
  const first = await replaying({ recordings: { onMiss: 'record' } })
  expect(await (await first.chat(hello)).json()).toEqual({ fresh: 1 })
  await first.stop()
  expect(files()).toHaveLength(1)
  const second = await replaying({ recordings: { onMiss: 'record' } })
  expect(await (await second.chat(hello)).json()).toEqual({ fresh: 1 })
  expect(await second.receipt()).toMatchObject({ served: 1, passed: 0 })
})

test('with onMiss record, only requests without a complete recording are sent to the live platform', async () => {
  let breaks = true
  const asked: string[] = []
  const live = await liveWith((request, response) => {
    asked.push(request.url ?? '')
    if (!breaks || request.url === '/v1/models') return saying({ count: asked.length })(request, response)
    response.writeHead(200, { 'content-length': '100' }).write('{"whole":')
    setImmediate(() => response.destroy())
  })
  const { recording, replaying, files } = tape(live.url)
  const first = await recording()
  await (await first.ask('/v1/models')).text()
  await expect((await first.chat(hello)).text()).rejects.toThrow('terminated')
  await first.stop()
  breaks = false
  const second = await replaying({ recordings: { onMiss: 'record' } })
  expect(await (await second.ask('/v1/models')).json()).toEqual({ count: 1 })
  expect(await countsOf(second.chat, [hello, hello])).toEqual([3, 3])
  await second.stop()
  expect(asked).toEqual(['/v1/models', '/v1/chat/completions', '/v1/chat/completions'])
  expect(files()).toHaveLength(2)
  expect(await countsOf((await replaying()).chat, [hello])).toEqual([3])
})

test('after a switch from replay to record, earlier recordings of a request are replaced', async () => {
  const live = await liveWith(saying({ fresh: true }))
  const { replaying, files, text } = await taped([hello, hello])
  const { chat, switchMode, stop } = await replaying({ upstream: { baseUrl: live.url } })
  await (await chat(hello)).text()
  await switchMode('record')
  await (await chat(hello)).text()
  await stop()
  expect(files().map(file => /fresh|count: \d/.exec(text(file))?.[0])).toEqual(['count: 2', 'fresh'])
})

test('a recording that is added at run time is found', async () => {
  const { replaying, dir, text } = await taped()
  const { chat } = await replaying()
  expect((await chat({ ...hello, temperature: 0 })).status).toBe(424)
  writeInto(dir, {
    'chat-completions/by-hand-0123456789ab.yaml': text().replace('      model:', '      temperature: 0\n      model:'),
  })
  expect(await (await chat({ ...hello, temperature: 0 })).json()).toEqual({ count: 1 })
})

test('an answer that is edited by hand is replayed as edited', async () => {
  const { replaying, file } = await taped()
  const edited = readFileSync(file, 'utf8').replace('count: 1', 'count: one')
  writeFileSync(file, edited)
  const { chat } = await replaying()
  expect(await (await chat(hello)).json()).toEqual({ count: 'one' })
  writeFileSync(file, edited.replace('count: one', 'count: another'))
  // Some file systems store times in seconds.
  utimesSync(file, new Date(0), new Date(1000))
  await expect.poll(async () => (await chat(hello)).json()).toEqual({ count: 'another' })
})

test('a request that is edited by hand is found under its old file name', async () => {
  const { replaying, file } = await taped()
  writeFileSync(file, readFileSync(file, 'utf8').replace('content: hello', 'content: good morning'))
  const { chat } = await replaying()
  expect(await (await chat({ ...hello, messages: [{ role: 'user', content: 'good morning' }] })).json()).toEqual({
    count: 1,
  })
})

test('an invalid file is named with its line, and the others are replayed', async () => {
  const { replaying, file, dir } = await taped([hello, { ...hello, temperature: 0 }])
  const broken = file
  writeFileSync(broken, 'request: {\n')
  const { chat } = await replaying()
  const answers = await Promise.all([chat(hello), chat({ ...hello, temperature: 0 })])
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 424])
  const missed = answers.find(({ status }) => status === 424)
  const { error } = (await (missed as Response).json()) as { error: string }
  expect(error).toContain(`${path.relative(dir, broken)}:`)
})

test('an invalid file does not get in the way of a miss', async () => {
  const { replaying, dir } = await taped()
  writeFileSync(path.join(dir, 'chat-completions', 'empty-0123456789ab.yaml'), '')
  writeFileSync(path.join(dir, 'chat-completions', 'broken-0123456789ac.yaml'), 'request: {')
  const { chat } = await replaying()
  const missed = await chat({ ...hello, temperature: 2 })
  expect(missed.status).toBe(424)
  expect(await missed.text()).toContain('here it is 2')
})

test('ignored content is configured by path, query and pattern', async () => {
  const ignore = ['metadata.run', { query: 'nonce' }, '/\\d{4}-\\d\\d-\\d\\d/']
  const on = (day: string, run: number) => ({
    ...hello,
    messages: [{ role: 'user', content: `What happened on ${day}?` }],
    metadata: { run, app: 'a' },
  })
  const { replaying } = await taped([on('2026-01-01', 1)], { recordings: { ignore } })
  const { chat } = await replaying({ recordings: { ignore } })
  expect((await chat(on('2026-02-02', 2))).status).toBe(200)
  expect((await chat({ ...on('2026-02-02', 2), metadata: { run: 1, app: 'b' } })).status).toBe(424)
})

test('a long integer is recorded as a number and found again', async () => {
  const live = await liveWith(saying({ fresh: true }))
  const { recording, replaying, text } = tape(live.url)
  const withSeed = (seed: string) => ({ body: `${JSON.stringify(hello).slice(0, -1)},"seed":${seed}}` })
  const first = await recording()
  await (await first.chat({}, withSeed('12345678901234567890'))).text()
  await first.stop()
  expect(text()).toContain('seed: 12345678901234567890\n')
  const { chat } = await replaying()
  expect((await chat({}, withSeed('12345678901234567890'))).status).toBe(200)
  const missed = await chat({}, withSeed('12345678901234567891'))
  expect(await missed.json()).toEqual({ error: expect.stringContaining('seed is "12345678901234567890"') })
})

test('requests that become equal when a field is ignored later are replayed in the order they were recorded', async () => {
  const runs = [1, 2, 3, 4, 5].map(poll)
  // All are recorded at the same time.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const { replaying } = await taped(runs)
  const { chat } = await replaying({ recordings: { ignore: ['metadata.run'] } })
  expect(await countsOf(chat, runs)).toEqual([1, 2, 3, 4, 5])
})

test('a stream is still converted to a whole answer when a field is ignored later', async () => {
  const { replaying } = await tapedStream({ body: { ...poll(1), stream: true } })
  const { chat } = await replaying({ recordings: { ignore: ['metadata.run'] } })
  expect(await (await chat(poll(2))).json()).toMatchObject({
    choices: [{ message: { content: 'One two three' } }],
  })
})

test('a path that is neither documented nor recorded is not found', async () => {
  const { replaying } = await taped()
  const { ask } = await replaying()
  const response = await ask('/v1/embeddings', { method: 'POST', body: '{}' })
  expect(response.status).toBe(404)
  expect(await response.json()).toEqual({
    error: expect.stringMatching(/^Not found\..* standin record /),
    path: '/v1/embeddings',
  })
})

test('an undocumented path is recorded and replayed like any other', async () => {
  const live = await liveWith(saying({ embedding: [1, 2, 3] }))
  const { recording, replaying } = tape(live.url)
  const post = { method: 'POST', body: '{"input":"x"}', headers: { 'content-type': 'application/json' } }
  const { ask, stop } = await recording()
  await (await ask('/v1/embeddings', post)).text()
  await stop()
  await live.close()
  const replay = await replaying()
  expect(await (await replay.ask('/v1/embeddings', post)).json()).toEqual({ embedding: [1, 2, 3] })
  const other = await replay.ask('/v1/embeddings', { ...post, body: '{"input":"y"}' })
  expect(other.status).toBe(424)
  expect(await other.json()).toEqual({ error: expect.stringContaining('there input is "x", here it is "y".') })
  expect((await replay.ask('/v1/embeddings', { ...post, bearer: null })).status).toBe(404)
})

test('the answer to HEAD keeps the length of the body that it does not have', async () => {
  const live = await liveWith((_request, response) => void response.writeHead(200, { 'content-length': '44' }).end())
  const { recording, replaying } = tape(live.url)
  const { ask, stop } = await recording()
  expect((await ask('/v1/models', { method: 'HEAD' })).headers.get('content-length')).toBe('44')
  await stop()
  const response = await (await replaying()).ask('/v1/models', { method: 'HEAD' })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-length')).toBe('44')
})

/** Answers a request for a document as its condition or range asks. */
const document: RequestListener = ({ headers }, response) => {
  if (headers.range) response.writeHead(206, { 'content-range': 'bytes 0-1/4' }).end('ab')
  else if (headers['if-none-match']) response.writeHead(304, { etag: '"1"' }).end()
  else response.writeHead(200, { etag: '"1"' }).end('abcd')
}

test('a part of a document and the news that it is unchanged answer only those who asked for them', async () => {
  const asked = [{ 'if-none-match': '"1"' }, { range: 'bytes=0-1' }]
  const live = await liveWith(document)
  for (const isWholeRecorded of [true, false]) {
    const { recording, replaying } = tape(live.url)
    const { ask, stop } = await recording()
    if (isWholeRecorded) await (await ask('/v1/files/1')).text()
    for (const headers of asked) await (await ask('/v1/files/1', { headers })).text()
    await stop()
    const replay = await replaying()
    const others = [{}, {}, {}, { range: 'bytes=2-3' }, ...asked]
    const statuses = await statusesOf(others.map(headers => replay.ask('/v1/files/1', { headers })))
    const whole = isWholeRecorded ? 200 : 424
    expect(statuses).toEqual([whole, whole, whole, whole, 304, 206])
  }
})

test('a stream with the answer to a call is replayed only to the client that resumes it', async () => {
  const answer = 'id: 2\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\n\n'
  const live = await liveWith((_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end(answer)
  })
  const { recording, replaying } = tape(live.url)
  const mcp = { '/mcp': {} }
  const asked = (more: object) => ({ headers: { 'mcp-protocol-version': '2025-11-25', ...more } })
  const { ask, stop } = await recording({ mcp })
  for (const more of [{}, { 'last-event-id': '1' }]) await (await ask('/mcp', asked(more))).text()
  await stop()
  const replay = await replaying({ mcp })
  expect((await replay.ask('/mcp', asked({}))).status).toBe(405)
  const resumed = await replay.ask('/mcp', asked({ 'last-event-id': '1' }))
  const { value } = (await resumed.body?.getReader().read()) ?? {}
  expect(Buffer.from(value ?? []).toString()).toBe(answer)
})

test('each endpoint can have its own mode', async () => {
  const live = await liveWith(saying({ live: true }))
  const { replaying } = await taped()
  const { ask, chat } = await replaying({
    upstream: { baseUrl: live.url },
    modes: { 'POST /v1/chat/completions': 'replay', 'GET /v1/*': 'proxy', '*': 'emulate' },
  })
  expect(await (await chat(hello)).json()).toEqual({ count: 1 })
  expect(await (await ask('/v1/models')).json()).toEqual({ live: true })
  expect(await (await ask('/health')).json()).toMatchObject({ status: 'ok' })
})

test('the mode can be changed at run time, over HTTP and in code', async () => {
  const { replaying } = await taped()
  const platform = await replaying({ upstream: { baseUrl: '' } })
  const put = (body: object) =>
    fetch(`${platform.url}/__standin/mode`, {
      method: 'PUT',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  const content = async () => JSON.stringify(await (await platform.chat(hello)).json())
  expect(await content()).toBe('{"count":1}')
  expect(await (await put({ mode: 'emulate' })).json()).toEqual({ mode: 'emulate', modes: {} })
  expect(await content()).toContain('chat.completion')
  await platform.switchMode('emulate', { 'POST /v1/chat/completions': 'replay' })
  expect(await content()).toBe('{"count":1}')
  const refused = await put({ mode: 'proxy' })
  expect(refused.status).toBe(409)
  expect(await refused.json()).toEqual({ error: expect.stringContaining('upstream.baseUrl') })
  expect((await put({ mode: 'prxy' })).status).toBe(400)
  await expect(platform.switchMode('prxy' as 'proxy')).rejects.toThrow(
    mustBe('mode', oneOf('emulate', 'proxy', 'record', 'replay'), 'prxy'),
  )
  expect(await content()).toBe('{"count":1}')
})
