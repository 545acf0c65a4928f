import { PassThrough } from 'node:stream'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import * as v from 'valibot'
import { expect, onTestFinished, test, vi } from 'vitest'
import { exchangeInBrief } from '../../src/journal/fields.js'
import { follow } from '../../src/journal/follow.js'
import { createJournal, type JournalBrief, type JournalEntry } from '../../src/journal/index.js'
import { createRedact } from '../../src/redact/index.js'
import { exchangeWith } from '../exchanges.js'
import { hello, platformWith, type Scene } from '../scene.js'

/** A client that follows the journal. */
async function follower({ url }: Pick<Scene, 'url'>, query = '', headers: Record<string, string> = {}) {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const response = await fetch(`${url}/__standin/journal?follow${query}`, { headers, signal: leaving.signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const events: EventSourceMessage[] = []
  const comments: string[] = []
  const parser = createParser({
    onEvent: event => events.push(event),
    onComment: comment => comments.push(comment),
  })
  const readOn = async () => {
    const { done, value = '' } = (await reader?.read()) ?? { done: true }
    parser.feed(value)
    return !done
  }
  const until = async (there: () => boolean) => {
    while (!there() && (await readOn())) {}
  }
  return {
    response,
    comments,
    leave: () => leaving.abort(),
    until,
    /** The paths of the next `count` exchanges. */
    async paths(count: number) {
      await until(() => events.length >= count)
      return events.splice(0, count).map(({ data }) => (JSON.parse(data) as JournalEntry).request.path)
    },
    async next() {
      await until(() => events.length > 0)
      return events.shift()
    },
    /** Resolves when the platform has ended the stream. */
    async ended() {
      while (await readOn()) {}
    },
  }
}

const visit = async ({ ask }: Scene, ...paths: readonly string[]) => {
  for (const path of paths) await (await ask(path)).text()
}

test('a follower gets each exchange as it happens', async () => {
  const platform = await platformWith()
  await visit(platform, '/before')
  const { response, next } = await follower(platform)
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
  expect(response.headers.get('cache-control')).toBe('no-store')
  await visit(platform, '/health')
  const { event, id, data = '' } = (await next()) ?? {}
  expect([event, id]).toEqual(['exchange', '2'])
  expect(JSON.parse(data)).toMatchObject({ id: '2', request: { path: '/health' }, status: 200, complete: true })
})

test('a filter applies to new exchanges', async () => {
  const platform = await platformWith()
  const { paths } = await follower(platform, '&status=4xx')
  await visit(platform, '/health', '/nope', '/health', '/nowhere')
  expect(await paths(2)).toEqual(['/nope', '/nowhere'])
})

test('with limit, a follower gets the latest exchanges first, then new ones without a gap', async () => {
  const platform = await platformWith()
  await visit(platform, '/a', '/b', '/c')
  const { paths } = await follower(platform, '&limit=2')
  await visit(platform, '/d')
  expect(await paths(3)).toEqual(['/b', '/c', '/d'])
})

test('a follower that reconnects continues after its last event', async () => {
  const platform = await platformWith()
  const first = await follower(platform)
  await visit(platform, '/a')
  const { id = '' } = (await first.next()) ?? {}
  first.leave()
  await visit(platform, '/b', '/c')
  const again = await follower(platform, '', { 'last-event-id': id })
  await visit(platform, '/d')
  expect(await again.paths(3)).toEqual(['/b', '/c', '/d'])
})

test('a request that began before a reset is left out, as in the journal', async () => {
  const platform = await platformWith({ pace: { tokensPerSecond: 1 } })
  const { paths } = await follower(platform)
  const inBrief = await follower(platform, '&brief')
  const open = await platform.chat({ ...hello, stream: true })
  await platform.reset()
  await open.body?.cancel()
  await platform.idle()
  await visit(platform, '/after')
  expect(await paths(1)).toEqual(['/after'])
  const told: unknown[] = []
  while (told.length === 0) {
    const { event, data = '' } = (await inBrief.next()) ?? {}
    if (event === 'exchanges') told.push(...JSON.parse(data))
  }
  expect(told).toMatchObject([{ path: '/after' }])
})

test('a quiet stream sends a comment every five seconds to show that it is alive', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const platform = await platformWith()
  const { comments, until } = await follower(platform)
  await until(() => comments.length === 1)
  vi.advanceTimersByTime(5000)
  await until(() => comments.length === 2)
  expect(comments).toEqual([' following', ' still here'].map(text => text.trim()))
})

test('the stream ends immediately when the platform stops', async () => {
  const platform = await platformWith()
  const { ended } = await follower(platform)
  // If it waited for the grace time, the test would not end.
  await Promise.all([ended(), platform.stop({ graceMs: 600_000 })])
})

/** A client that follows the journal in brief. */
async function briefFollower({ url }: Pick<Scene, 'url'>, query = '') {
  const leaving = new AbortController()
  onTestFinished(() => leaving.abort())
  const response = await fetch(`${url}/__standin/journal?follow&brief${query}`, { signal: leaving.signal })
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: event => events.push(event) })
  const valuesOf = <Value>(name: string) =>
    events.filter(({ event }) => event === name).map(({ data }) => JSON.parse(data) as Value)
  const briefs = () => valuesOf<readonly JournalBrief[]>('exchanges').flat()
  const skipped = () => valuesOf<{ count: number }>('skipped').reduce((sum, { count }) => sum + count, 0)
  return {
    events,
    briefs,
    skipped,
    valuesOf,
    async until(there: () => boolean) {
      while (!there()) {
        const { done, value = '' } = (await reader?.read()) ?? { done: true }
        if (done) throw new Error('The stream has ended.')
        parser.feed(value)
      }
    },
  }
}

const redact = createRedact({ names: [], emails: false, patterns: [], known: [] })

test('in brief each exchange is one line: who, what, why and how long, without headers or bodies', async () => {
  const platform = await platformWith({
    rules: [{ name: 'greet', when: { user: 'hello' }, reply: { text: 'Hi there.' } }],
  })
  await (await platform.chat({ ...hello, stream: true }, { headers: { 'x-standin-scope': 'one' } })).text()
  await (await platform.ask('/nope')).text()
  const response = await fetch(`${platform.url}/__standin/journal?brief&limit=1&after=0`)
  const { data, next } = (await response.json()) as { data: readonly JournalBrief[]; next?: string }
  expect(next).toBe('1')
  expect(data).toEqual([
    {
      id: '1',
      at: expect.stringMatching(/^\d{4}-.*Z$/),
      scope: 'one',
      caller: expect.objectContaining({ kind: 'apiKey', name: 'development' }),
      ...{ run: '1', message: null, account: null, advice: null, said: expect.any(String) },
      method: 'POST',
      path: '/v1/chat/completions',
      endpoint: 'POST /v1/chat/completions',
      name: 'chat',
      mode: 'emulate',
      ...{ model: 'gpt-4o-mini', prompt: 'hello', call: null, stream: true },
      source: 'rule "greet"',
      fault: null,
      ...{ repairs: [], findings: 0 },
      ...{ missed: false, status: 200, error: null, code: null, hint: null, openaiRefuses: null, complete: true },
      requestBytes: JSON.stringify({ ...hello, stream: true }).length,
      responseBytes: expect.any(Number),
      tokens: { prompt: expect.any(Number), completion: expect.any(Number) },
      firstByteMs: expect.any(Number),
      firstTokenMs: null,
      durationMs: expect.any(Number),
      pieces: expect.any(Number),
      piecesAtMs: expect.any(Array),
    },
  ])
  const full = (await (await fetch(`${platform.url}/__standin/journal/1`)).json()) as JournalEntry
  expect(data[0]).toMatchObject({ at: full.at, durationMs: full.durationMs, responseBytes: full.response.bytes })
  expect(data[0]?.pieces).toBe(full.response.piecesAtMs.length)
})

test('secrets are redacted wherever they appear, before long texts are cut', async () => {
  const platform = await platformWith()
  const { apiKey } = platform
  const { briefs, until } = await briefFollower(platform)
  await visit(platform, `/v1/${apiKey}/${'x'.repeat(1000)}`, `/${'y'.repeat(290)}${apiKey}`)
  await (await platform.chat({ ...hello, model: `of ${apiKey}` })).text()
  await until(() => briefs().length === 3)
  const sent = JSON.stringify(briefs())
  expect(sent).not.toContain(apiKey.slice(0, 20))
  for (const { path } of briefs()) expect(path.length).toBeLessThanOrEqual(301)
})

test('a follower gets the id of the run first, then the latest exchanges, then new ones', async () => {
  const [platform, other] = [await platformWith(), await platformWith()]
  await visit(platform, '/a', '/b', '/c')
  const { events, briefs, valuesOf, until } = await briefFollower(platform, '&limit=2')
  await visit(platform, '/d')
  await until(() => briefs().length === 3)
  expect(events[0]?.event).toBe('began')
  expect(briefs().map(({ path }) => path)).toEqual(['/b', '/c', '/d'])
  const again = await briefFollower(platform)
  await again.until(() => again.events.length > 0)
  const elsewhere = await briefFollower(other)
  await elsewhere.until(() => elsewhere.events.length > 0)
  const runOf = (valuesOf: <Value>(name: string) => readonly Value[]) => valuesOf<{ run: string }>('began')[0]?.run
  expect(runOf(again.valuesOf)).toBe(runOf(valuesOf))
  expect(runOf(elsewhere.valuesOf)).not.toBe(runOf(valuesOf))
  expect(valuesOf('began')).toMatchObject([{ after: '1' }])
  expect(again.valuesOf('began')).toMatchObject([{ after: '4' }])
})

test('a follower learns what was cleared, after the exchanges that came before', async () => {
  const platform = await platformWith()
  const { events, valuesOf, briefs, until } = await briefFollower(platform)
  await visit(platform, '/a')
  await platform.ask('/__standin/journal?scope=mine', { method: 'DELETE' })
  await visit(platform, '/b')
  await platform.reset()
  await visit(platform, '/c')
  await until(() => briefs().length === 3)
  expect(events.map(({ event }) => event)).toEqual([
    'began',
    'situation',
    ...['exchanges', 'cleared', 'exchanges', 'cleared', 'exchanges'],
  ])
  expect(valuesOf('cleared')).toEqual([{ scope: 'mine' }, {}])
})

test.each([
  ['in brief', true],
  ['in full', false],
])('nothing piles up for a client that does not read, and it gets the full count later, %s', async (_, isBrief) => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'setInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const journal = createJournal({ maxEntries: 10, maxBytes: 1000, redact: () => redact })
  const reader = new PassThrough({ highWaterMark: 5000, encoding: 'utf8' })
  const situation = { current: () => ({}), follow: () => () => {} }
  const end = follow(reader as never, journal, {
    filter: {},
    isBrief,
    first: [],
    run: 'one',
    situation,
    holds: () => new Map(),
  })
  for (let second = 0; second < 20; second++) {
    for (let i = 0; i < 500; i++) journal.add(exchangeWith({ path: `/${'x'.repeat(200)}` }))
    vi.advanceTimersByTime(1000)
  }
  expect(reader.readableLength).toBeLessThan(500_000)
  reader.resume()
  let text = ''
  reader.on('data', chunk => {
    text += chunk
  })
  await vi.waitFor(
    () => {
      vi.advanceTimersByTime(1000)
      const sumOf = (pattern: RegExp) => [...text.matchAll(pattern)].reduce((sum, [, many]) => sum + Number(many), 0)
      const sent = [...text.matchAll(/"id":"(\d+)","at"/g)].map(([, id]) => Number(id))
      expect(sent.length + sumOf(/^data: \{"count":(\d+)\}$/gm)).toBe(10_000)
      expect(sent.length).toBeLessThan(2500)
      expect(sent.at(-1)).toBe(10_000)
      expect(new Set(sent).size).toBe(sent.length)
    },
    { timeout: 20_000 },
  )
  end()
  expect(reader.writableEnded).toBe(true)
})

test('every exchange in an event is as declared, on which the dashboard relies', async () => {
  const platform = await platformWith()
  const { briefs, until } = await briefFollower(platform)
  await visit(platform, '/health', '/nope')
  await (await platform.chat(hello)).text()
  await until(() => briefs().length === 3)
  expect([...briefs(), { id: 1 }].map(brief => v.is(exchangeInBrief, brief))).toEqual([true, true, true, false])
})
