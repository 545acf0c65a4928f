/** Whoever ends a stream, it can be replayed to the same client. */
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { expect, test, vi } from 'vitest'
import { hello } from '../scene.js'
import { liveWith, tape } from './live.js'

const asked = { ...hello, stream: true }
const event = (content: string) =>
  `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content }, finish_reason: null }] })}\n\n`

/** Reads the first piece of an answer, and leaves. */
async function leave(
  chat: (body: object, options: RequestInit & { headers?: Record<string, string> }) => Promise<Response>,
) {
  const left = new AbortController()
  const response = await chat(asked, { signal: left.signal })
  const { value } = await (response.body as ReadableStream<Uint8Array>).getReader().read()
  left.abort()
  return Buffer.from(value ?? []).toString()
}

test('a stream that the client ends is read on to its end, and replays to a client that stops early and to one that does not', async () => {
  const live = await liveWith(
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event('One')),
  )
  const { recording, replaying, text } = tape(live.url)
  const platform = await recording()
  const asking = live.nextRequest()
  const read = leave(platform.chat)
  const [, response] = (await asking) as [unknown, ServerResponse]
  expect(await read).toBe(event('One'))
  await vi.waitFor(async () => expect((await platform.journal.find()).at(-1)?.status).toBe(200))
  response.write(event('Two'))
  response.end('data: [DONE]\n\n')
  await platform.stop()
  expect(text()).not.toContain('leftByClient')

  const replay = await replaying()
  expect(await (await replay.chat(asked)).text()).toBe(`${event('One')}${event('Two')}data: [DONE]\n\n`)
  expect(await leave(replay.chat)).toContain(event('One'))
  expect(await replay.receipt()).toMatchObject({ served: 2, missed: 0 })
})

test('what has not come half a minute after the client has left is kept as far as it came, marked, and replayed', async () => {
  const live = await liveWith(
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event('One')),
  )
  const { recording, replaying, text } = tape(live.url)
  const platform = await recording()
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  try {
    const hungUp = live.nextRequest().then(([, response]) => once(response, 'close'))
    await leave(platform.chat)
    await vi.waitFor(async () => expect((await platform.journal.find()).at(-1)).toBeDefined())
    await vi.advanceTimersByTimeAsync(30_000)
    await hungUp
  } finally {
    vi.useRealTimers()
  }
  await platform.stop()
  expect(text()).toContain('leftByClient: true\n')
  const replay = await replaying()
  expect(await (await replay.chat(asked)).text()).toContain(event('One'))
})

test('what the live platform breaks off is refused, though the client has left as well', async () => {
  const live = await liveWith(
    (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).write(event('One')),
  )
  const { recording, replaying, text } = tape(live.url)
  const platform = await recording()
  const asking = live.nextRequest()
  const read = leave(platform.chat)
  const [, response] = (await asking) as [unknown, ServerResponse]
  await read
  response.destroy()
  await platform.stop()
  expect(text()).toContain('complete: false\n')
  expect((await (await replaying()).chat(asked)).status).toBe(424)
})

test('a key of Standin that the live platform refuses is no recording, and the receipt says why', async () => {
  const live = await liveWith(
    (_request, response) => void response.writeHead(401, { 'content-type': 'application/json' }).end('{"error":"no"}'),
  )
  const { recording, files } = tape(live.url)
  const { chat, stop, receipt } = await recording()
  expect((await chat(hello)).status).toBe(401)
  await stop()
  expect(files()).toEqual([])
  expect((await receipt())?.notRecorded).toEqual([
    expect.stringContaining('was not saved: the live platform refused upstream.apiKey.'),
  ])
})
