import { once } from 'node:events'
import net from 'node:net'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { JournalEntry } from '../../src/journal/index.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { tooDeep } from '../sentences.js'

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

test('with after, a follower gets every later exchange, whatever the limit', async () => {
  const platform = await platformWith()
  await visit(platform, '/a', '/b', '/c', '/d')
  const { paths } = await follower(platform, '&after=1&limit=1')
  await visit(platform, '/e')
  expect(await paths(4)).toEqual(['/b', '/c', '/d', '/e'])
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

test('a quiet stream sends a comment every 15 seconds to show that it is alive', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const platform = await platformWith()
  const { comments, until } = await follower(platform)
  await until(() => comments.length === 1)
  vi.advanceTimersByTime(15_000)
  await until(() => comments.length === 2)
  expect(comments).toEqual([' following', ' still here'].map(text => text.trim()))
})

test('the stream ends immediately when the platform stops', async () => {
  const platform = await platformWith()
  const { ended } = await follower(platform)
  // If it waited for the grace time, the test would not end.
  await Promise.all([ended(), platform.stop({ graceMs: 600_000 })])
})

test('HEAD returns the content type of the stream, and ends', async () => {
  const { url } = await platformWith()
  const response = await fetch(`${url}/__standin/journal?follow`, { method: 'HEAD' })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
})

/** A socket that asks to follow the journal and then stops reading. */
async function sleeper({ url }: Scene) {
  const { hostname, port } = new URL(url)
  const socket = net.connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.write(`GET /__standin/journal?follow HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`)
  let text = ''
  socket.setEncoding('latin1').on('data', chunk => {
    text += chunk
  })
  await once(socket, 'data')
  socket.pause()
  return { wakeUp: () => socket.resume(), received: () => text }
}

test('nothing piles up for a client that does not read, and it learns how many exchanges were dropped', async () => {
  const platform = await platformWith({ journal: { maxBytes: 1_000_000 } })
  const { wakeUp, received } = await sleeper(platform)
  const long = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'x'.repeat(60_000) }] }
  for (let sent = 0; sent < 400; sent += 10) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => platform.chat(long)))
    await Promise.all(answers.map(answer => answer.text()))
  }

  wakeUp()
  const ids = () => [...received().matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  const dropped = () =>
    [...received().matchAll(/^data: \{"count":(\d+)\}$/gm)].reduce((sum, [, n]) => sum + Number(n), 0)
  await vi.waitFor(() => expect(ids().length + dropped()).toBe(400), 10_000)
  expect(dropped()).toBeGreaterThan(100)
  expect(ids()).toEqual(ids().toSorted((a, b) => a - b))
  expect(ids().at(-1)).toBe(400)
})

test('a deeply nested body breaks neither followers nor the journal', async () => {
  const platform = await platformWith()
  const { paths } = await follower(platform)
  const bodies = [2000, 5000, 6000, 8000, 100_000].map(depth => '['.repeat(depth) + ']'.repeat(depth))
  const sent = { method: 'POST', headers: { 'content-type': 'application/json' } }
  for (const body of bodies) await (await platform.ask('/v1/chat/completions', { ...sent, body })).text()
  expect(await paths(bodies.length)).toEqual(bodies.map(() => '/v1/chat/completions'))
  const response = await fetch(`${platform.url}/__standin/journal`)
  const { data } = (await response.json()) as { data: readonly JournalEntry[] }
  expect(data.map(({ request }) => request.bytes)).toEqual(bodies.map(({ length }) => length))
  const [deep = ''] = bodies
  const refused = await fetch(`${platform.url}/__standin/replies`, { ...sent, body: deep })
  expect([refused.status, await refused.json()]).toEqual([400, { error: tooDeep(1100) }])
})
