import { once } from 'node:events'
import net from 'node:net'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import { expect, onTestFinished, test, vi } from 'vitest'
import type { JournalEntry } from '../../src/journal/index.js'
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
  const platform = await platformWith()
  const { wakeUp, received } = await sleeper(platform)
  const long = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'x'.repeat(70_000) }] }
  for (let sent = 0; sent < 250; sent += 10) {
    const answers = await Promise.all(Array.from({ length: 10 }, () => platform.chat(long)))
    await Promise.all(answers.map(answer => answer.text()))
  }

  wakeUp()
  const ids = () => [...received().matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id))
  const dropped = () =>
    [...received().matchAll(/^data: \{"count":(\d+)\}$/gm)].reduce((sum, [, n]) => sum + Number(n), 0)
  await vi.waitFor(() => expect(ids().length + dropped()).toBe(250), 60_000)
  expect(dropped()).toBeGreaterThan(10)
  expect(ids()).toEqual(ids().toSorted((a, b) => a - b))
  expect(ids().at(-1)).toBe(250)
})
