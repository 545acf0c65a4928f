import { Agent, get } from 'node:http'
import { expect, test } from 'vitest'
import { type RunningPlatform, startReady } from '../command.js'
import { eventsOf, hello, textOfChunks } from '../scene.js'

const GRACE_MS = 3000
const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i}`).join(' ')

/** A platform whose model says `count` words, so many a second. */
const speaking = (count: number, wordsPerSecond: number) =>
  startReady({
    files: {
      'fixtures/replies/a.yaml': `- reply: { text: ${words(count)} }\n  pace: { firstTokenMs: 0, tokensPerSecond: ${wordsPerSecond} }\n`,
    },
  })

/** Opens a stream and waits for its first piece. */
async function listen({ chat }: RunningPlatform) {
  const response = await chat({ ...hello, stream: true })
  const reader = (response.body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const piece = async () => {
    const { value, done } = await reader.read()
    text += value ?? ''
    return !done
  }
  const rest = async () => {
    while (await piece());
    return eventsOf(text)
  }
  await piece()
  return { piece, rest }
}

const timeOf = async (promise: Promise<unknown>) => {
  const startMs = performance.now()
  await promise
  return performance.now() - startMs
}

test.each(['SIGTERM', 'SIGINT'] as const)('%s ends it with exit code 0', async signal => {
  const { send, ended } = await startReady()
  send(signal)
  expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' })
})

test('an open stream may come to its end, and then nothing is waited for', async () => {
  const platform = await speaking(10, 20)
  const stream = await listen(platform)
  platform.send('SIGTERM')
  const { chunks, done } = await stream.rest()
  expect(textOfChunks(chunks)).toBe(words(10))
  expect(done).toBe(true)
  expect(await platform.event('request')).toMatchObject({ status: 200, complete: true })
  // The connection is kept alive by the client; it must not be waited for either.
  expect(await timeOf(platform.ended)).toBeLessThan(GRACE_MS / 2)
  expect(await platform.ended).toMatchObject({ code: 0, stderr: '' })
})

test('an open stream is cut after the grace time', async () => {
  const platform = await speaking(100, 5)
  const stream = await listen(platform)
  platform.send('SIGTERM')
  const cut = expect(stream.rest()).rejects.toThrow()
  expect(await timeOf(platform.ended)).toBeGreaterThan(GRACE_MS - 500)
  await cut
  expect(await platform.ended).toMatchObject({ code: 0, stderr: '' })
  expect(await platform.event('request')).toMatchObject({ status: 200, complete: false })
})

test('a second signal ends it at once', async () => {
  const platform = await speaking(100, 5)
  const stream = await listen(platform)
  platform.send('SIGINT')
  // Two more words are 400 ms: a person, not the echo of the first signal.
  await stream.piece()
  await stream.piece()
  platform.send('SIGINT')
  const cut = expect(stream.rest()).rejects.toThrow()
  expect(await timeOf(platform.ended)).toBeLessThan(GRACE_MS / 2)
  await cut
  expect(await platform.ended).toMatchObject({ code: 0, stderr: '' })
})

test('the echo of a signal, as npm makes it, is not a second one', async () => {
  const platform = await speaking(10, 20)
  const stream = await listen(platform)
  platform.send('SIGINT')
  platform.send('SIGTERM')
  expect((await stream.rest()).done).toBe(true)
  expect(await platform.ended).toMatchObject({ code: 0 })
})

test('while it stops, new requests are refused', async () => {
  const platform = await speaking(10, 10)
  const stream = await listen(platform)
  platform.send('SIGTERM')
  await stream.piece()
  await expect(fetch(`${platform.ready.url}/health`)).rejects.toThrow('fetch failed')
  expect((await stream.rest()).done).toBe(true)
})

test('an idle connection that is kept alive does not hold it up', async () => {
  const { ready, send, ended } = await startReady()
  const agent = new Agent({ keepAlive: true })
  await new Promise(resolve =>
    get(`${ready.url}/health`, { agent }, response => response.resume().once('end', resolve)),
  )
  expect(Object.keys(agent.freeSockets)).toHaveLength(1)
  send('SIGTERM')
  expect(await timeOf(ended)).toBeLessThan(GRACE_MS / 2)
  expect(await ended).toMatchObject({ code: 0, stderr: '' })
})
