import OpenAI from 'openai'
import { expect, onTestFinished, test, vi } from 'vitest'
import { connect, type JournalEntry, type SharedPlatform } from '../../src/index.js'
import { control } from '../http/controlled.js'
import { liveWith, proxyTo } from '../http/live.js'
import { post } from '../mcp/by-hand.js'
import { tape } from '../recordings/live.js'
import { eventsOf, hello, platformWith, type Scene, textOfChunks } from '../scene.js'
import { runner } from './runner.js'

const words = { rules: [{ reply: { text: 'one two three four five' } }] }
const streamed = { ...hello, stream: true }

/** A request whose answer is read as it comes, and that can be stopped. */
function asking({ chat }: Pick<Scene, 'chat'>, headers: Record<string, string> = {}) {
  const stop = new AbortController()
  let text = ''
  const done = chat(streamed, { headers, signal: stop.signal }).then(async ({ body }) => {
    for await (const chunk of body ?? []) text += new TextDecoder().decode(chunk)
    return text
  })
  done.catch(() => {})
  return { done, stop: () => stop.abort(), said: () => textOfChunks(eventsOf(text).chunks) }
}

const clientOf = ({ url, apiKey }: SharedPlatform, maxRetries = 0) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries })

test('a stream waits after three pieces until the test lets it go', async () => {
  const platform = await platformWith(words)
  const held = await platform.hold({ after: 3 })
  const { done, said } = asking(platform)
  await held.reached()
  await vi.waitFor(() => expect(said()).toBe('one two'))
  await expect(platform.idle({ timeoutMs: 30 })).rejects.toThrow(
    'a request is still under way. A request waits at hold-1 on chat completions, after 3 pieces.',
  )
  await held.release()
  const text = await done
  expect(eventsOf(text).done).toBe(true)
  expect(said()).toBe('one two three four five')
  await platform.idle()
  expect(await platform.journal.last()).toMatchObject({ complete: true, response: { body: text } })
})

test('a Stop button: the platform notices that the app has left the stream', async () => {
  const platform = await platformWith(words)
  const held = await platform.hold({ when: { user: /HELLO/i }, after: 2 })
  const { stop, done } = asking(platform)
  await held.reached()
  stop()
  await held.aborted()
  await expect(done).rejects.toThrow('aborted')
  await platform.idle()
  const { complete, response } = (await platform.journal.last()) ?? {}
  expect([complete, textOfChunks(eventsOf(String(response?.body)).chunks)]).toEqual([false, 'one'])
})

test('a stream that waits can be cut, or ended as if it were complete', async () => {
  const platform = await platformWith(words)
  const [cut, ended] = [await platform.hold({ after: 2 }), await platform.hold({ after: 2 })]
  const broken = asking(platform)
  await cut.reached()
  await cut.cut()
  await expect(broken.done).rejects.toThrow()
  const short = asking(platform)
  await ended.reached()
  await ended.end()
  expect(eventsOf(await short.done).done).toBe(false)
  expect(short.said()).toBe('one')
  await platform.idle()
  const kept = ({ complete, response }: JournalEntry) => [complete, eventsOf(String(response.body)).chunks.length]
  expect((await platform.journal.find()).map(kept)).toEqual([
    [false, 2],
    [false, 2],
  ])
})

test('before its answer, a request can wait, fail or end without a body, and the client tries again', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'Hi!' }, times: 1 }] })
  const [failed, released, ended] = [await platform.hold(), await platform.hold(), await platform.hold()]
  const asked = clientOf(platform, 1).chat.completions.create(hello as never) as Promise<OpenAI.ChatCompletion>
  await failed.reached()
  await failed.fail({ status: 429, message: 'Later.', retryAfter: 0 })
  await released.reached()
  await released.release()
  expect((await asked).choices[0]?.message.content).toBe('Hi!')
  const empty = platform.chat(hello)
  await ended.reached()
  await ended.end()
  expect([(await empty).status, await (await empty).text()]).toEqual([200, ''])
  await platform.idle()
  const seen = (await platform.journal.find()).map(({ status, complete, error }) => [status, complete, error])
  expect(seen).toEqual([
    [429, true, 'Later.'],
    [200, true, null],
    [200, false, null],
  ])
})

test('with times, each request is reached and let go in turn, and more than that are not held', async () => {
  const platform = await platformWith(words)
  const held = await platform.hold({ times: 2, after: 1 })
  await expect(held.release()).rejects.toThrow('No request waits yet at hold-1 on chat completions, after 1 piece.')
  const first = asking(platform)
  await held.reached()
  const second = asking(platform)
  await held.reached()
  await asking(platform).done
  await expect(held.reached({ timeoutMs: 20 })).rejects.toThrow(/No request reached hold-1 .*, within 20 ms/)
  await held.release()
  await first.done
  expect(second.said()).toBe('')
  await expect(held.fail({ status: 500 })).rejects.toThrow('Only a request that waits before its answer can fail.')
  await held.remove()
  await second.done
  expect(second.said()).toBe('one two three four five')
})

test('paths of rules and MCP calls are held by their own conditions', async () => {
  const events = [{ data: 'one' }, { data: 'two' }, { data: 'three' }]
  const platform = await platformWith({
    mcp: { '/mcp': { access: 'anyone', tools: [{ name: 'weather' }, { name: 'time' }] } },
    rules: [
      { on: 'GET /builder/log/:id', access: 'anyone', reply: { events } },
      { on: 'tools/call weather', reply: { text: 'Sunny.', progress: [{ message: 'Looking out.' }] } },
    ],
  } as never)
  const log = await platform.hold({ on: 'GET /builder/log/:id', when: { params: { id: 7 } }, after: 2 })
  const call = await platform.hold({ on: 'tools/call weather', when: { arguments: { city: 'Oslo' } } })
  expect(await (await platform.ask('/builder/log/6')).text()).toContain('three')
  const seventh = platform.ask('/builder/log/7')
  await log.reached()
  await log.end()
  expect(await (await seventh).text()).toBe('data: one\n\ndata: two\n\n')
  const tool = (name: string, city: string) =>
    post(platform, { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: { city } } })
  await Promise.all([tool('weather', 'Rome'), tool('time', 'Oslo')])
  const asked = tool('weather', 'Oslo')
  await call.reached()
  await call.fail({ status: 503 })
  expect((await asked).status).toBe(503)
})

test('live answers and recordings are held like emulated ones', async () => {
  const live = await liveWith(async (_request, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const word of ['one', 'two', 'three', 'four'])
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: word } }] })}\n\n`)
    response.end('data: [DONE]\n\n')
  })
  const { recording, replaying } = tape(live.url)
  const first = await recording()
  await asking(first).done
  await first.stop()
  for (const platform of [await proxyTo(live.url), await replaying()]) {
    const [before, between] = [await platform.hold(), await platform.hold({ after: 2 })]
    const stopped = asking(platform)
    await before.reached()
    expect(live.seen).toHaveLength((await platform.mode) === 'proxy' ? 1 : 2)
    stopped.stop()
    await before.aborted()
    const { done, said } = asking(platform)
    await between.reached()
    await vi.waitFor(() => expect(said()).toBe('onetwo'))
    await between.release()
    await done
    expect(said()).toBe('onetwothreefour')
  }
})

test('a connection to another process holds in the same way, and waits without asking again and again', async () => {
  const scene = await platformWith(words)
  const platform = await connect(scene.url)
  const held = await platform.hold({ when: { user: /hello/ }, after: 2, name: 'stop' })
  const reached = held.reached()
  const { done, said } = asking(scene)
  await reached
  await expect(held.fail({ status: 500 })).rejects.toThrow(/answers 409: Only a request that waits/)
  await held.end()
  await done
  expect(said()).toBe('one')
  await expect(platform.hold({ when: { usr: 'x' } } as never)).rejects.toThrow('usr')
  const never = await platform.hold({ name: 'never' })
  await expect(held.aborted({ timeoutMs: 20 })).rejects.toThrow('No client left hold "stop" on chat completions')
  await expect(platform.expectHoldsReached()).rejects.toThrow('No request reached hold "never" on chat completions')
  const waiting = never.reached()
  await platform.reset()
  await expect(waiting).rejects.toThrow('There is no hold with the id "hold-2". A reset removes all holds.')
})

/** The id of the request that is under way, as the dashboard is told of it. */
async function idUnderWay({ url }: Pick<Scene, 'url'>): Promise<string> {
  const { body } = await fetch(`${url}/__standin/journal?follow&brief`)
  let text = ''
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    const [, flights] = /event: flights\ndata: (\[\{.*)\n/.exec(text) ?? []
    if (flights) return JSON.parse(flights)[0].id
  }
  return ''
}

test('a request that is under way can be held from its next piece on, and held again', async () => {
  const live = await liveWith(() => {})
  const platform = await proxyTo(live.url)
  const { done, said } = asking(platform)
  const [, response] = await live.nextRequest()
  const send = (word: string) =>
    response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: word } }] })}\n\n`)
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  send('one')
  await vi.waitFor(() => expect(said()).toBe('one'))
  const request = await idUnderWay(platform)
  const holdIt = () => control(platform, 'POST /holds', { request })
  for (const word of ['two', 'three']) {
    const before = said()
    const { id: hold } = (await holdIt()).body
    expect((await control(platform, `GET /holds/${hold}?wait=reached`)).body).toMatchObject({ reached: 1, waiting: 1 })
    send(word)
    await control(platform, 'GET /ready')
    expect(said()).toBe(before)
    expect((await control(platform, `POST /holds/${hold}`, { action: 'release' })).status).toBe(204)
    await vi.waitFor(() => expect(said()).toBe(before + word))
  }
  await holdIt()
  send('four')
  await control(platform, 'POST /holds/hold-3', { action: 'end' })
  await done
  expect(said()).toBe('onetwothree')
  await platform.idle()
  expect((await holdIt()).status).toBe(404)
  expect((await control(platform, 'POST /holds', { request, after: 2 })).status).toBe(400)
})

test('a scope holds only its own requests', async () => {
  const platform = await platformWith(words)
  const scope = await platform.scope('mine')
  const held = await scope.hold({ after: 1 })
  await asking(platform).done
  const { done } = asking(platform, scope.headers)
  await held.reached()
  const other = await platform.scope('other')
  await other.reset()
  await other.expectHoldsReached()
  await scope.reset()
  await done
})

test('a reset lets a thousand streams go, and nothing of them is left', async () => {
  const platform = await platformWith(words)
  await asking(platform).done
  const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
  const before = timers()
  const held = await platform.hold({ after: 2, times: 1000 })
  const streams = Array.from({ length: 1000 }, () => asking(platform))
  for (const _stream of streams) await held.reached({ timeoutMs: 20_000 })
  expect((await control(platform, 'GET /holds')).body.data).toMatchObject([{ reached: 1000, waiting: 1000 }])
  await platform.reset()
  const texts = await Promise.all(streams.map(({ done }) => done))
  expect(new Set(texts.map(text => eventsOf(text).done))).toEqual(new Set([true]))
  expect((await control(platform, 'GET /holds')).body.data).toEqual([])
  expect(await platform.journal.underWay).toBe(0)
  await vi.waitFor(() => expect(timers()).toBeLessThanOrEqual(before))
})

test('a stop ends the requests that wait, however long it may take', async () => {
  const platform = await platformWith(words)
  const held = await platform.hold({ times: 2 })
  const asked = [platform.chat(hello), platform.chat(streamed)].map(one =>
    one.then(
      () => 'answered',
      () => 'ended',
    ),
  )
  await held.reached()
  await held.reached()
  await platform.stop({ graceMs: 60_000 })
  expect(await Promise.all(asked)).toEqual(['ended', 'ended'])
})

test('a hold that nothing reaches fails the test by name, with the nearest request', async () => {
  const { platform, run } = runner(words as never)
  await run('beforeAll')
  onTestFinished(() => run('afterAll'))
  const chat: Scene['chat'] = (body, more) =>
    fetch(`${platform.url}/v1/chat/completions`, {
      ...{ method: 'POST', body: JSON.stringify(body), ...more },
      headers: { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' },
    })
  await run('beforeEach')
  await platform.hold({ when: { user: 'weather', model: 'gpt-*' }, after: 3, name: 'the weather' })
  await platform.hold({ after: 50 })
  await platform.hold({ on: 'GET /builder/log' })
  await asking({ chat }).done
  await expect(run('afterEach')).rejects.toThrow(
    [
      'No request reached hold "the weather" on chat completions when {"user":"weather","model":"gpt-*"}, after 3 pieces. The nearest request was POST /v1/chat/completions: user does not contain "weather".',
      'No request reached hold-2 on chat completions, after 50 pieces. A request matched, but its answer ended before that: a whole answer has no pieces.',
      'No request reached hold-3 on GET /builder/log, before the answer.',
    ].join('\n'),
  )
  await run('beforeEach')
  const held = await platform.hold({ after: 1 })
  const forgotten = asking({ chat })
  await held.reached()
  await run('afterEach')
  await forgotten.done
})
