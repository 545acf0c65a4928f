import { expect, test } from 'vitest'
import { ECHO_MS } from '../../src/cli/stop-signals.js'
import { type RunningPlatform, startReady } from '../command.js'
import { eventsOf, hello, textOfChunks } from '../scene.js'

const GRACE_MS = 3000
const words = (count: number) => Array.from({ length: count }, (_, i) => `word${i}`).join(' ')

/** A platform whose model says `count` words at this speed. */
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

test.each(['SIGTERM', 'SIGINT'] as const)('%s stops the platform with exit code 0', async signal => {
  const { send, ended } = await startReady()
  send(signal)
  expect(await ended).toMatchObject({ code: 0, signal: null, stderr: '' })
})

test('an open stream may finish, while new requests are refused', async () => {
  const platform = await speaking(10, 10)
  const stream = await listen(platform)
  platform.send('SIGTERM')
  await stream.piece()
  await expect(fetch(`${platform.ready.url}/health`)).rejects.toThrow('fetch failed')
  const { chunks, done } = await stream.rest()
  expect(textOfChunks(chunks)).toBe(words(10))
  expect(done).toBe(true)
  expect(await platform.event('request')).toMatchObject({ status: 200, complete: true })
  expect(await platform.ended).toMatchObject({ code: 0, stderr: '' })
})

test('after its terminal was closed, an open stream may finish as well', async () => {
  const platform = await speaking(10, 10)
  const stream = await listen(platform)
  platform.send('SIGHUP')
  const { chunks, done } = await stream.rest()
  expect(textOfChunks(chunks)).toBe(words(10))
  expect(done).toBe(true)
  expect(await platform.ended).toMatchObject({ signal: 'SIGHUP', stderr: '' })
})

test('an open stream is cut after the grace time, or immediately by a second signal', async () => {
  const [patient, hurried] = await Promise.all([speaking(100, 5), speaking(100, 5)])
  const streams = await Promise.all([patient, hurried].map(listen))
  const startMs = performance.now()
  const order: string[] = []
  void patient.ended.then(() => order.push('after the grace time'))
  void hurried.ended.then(() => order.push('at once'))
  patient.send('SIGTERM')
  hurried.send('SIGINT')
  // Well after an echo of the first signal, as with a person. Words may arrive together, so they are no clock.
  while (performance.now() - startMs < 5 * ECHO_MS) await streams[1]?.piece()
  hurried.send('SIGINT')
  await Promise.all(streams.map(({ rest }) => expect(rest()).rejects.toThrow()))
  for (const platform of [patient, hurried]) {
    expect(await platform.event('request')).toMatchObject({ status: 200, complete: false })
    expect(await platform.ended).toMatchObject({ code: 0, stderr: '' })
  }
  expect(order).toEqual(['at once', 'after the grace time'])
  expect(performance.now() - startMs).toBeGreaterThan(GRACE_MS - 500)
})

test('the echo of a signal, as npm sends it, does not count as a second one', async () => {
  const platform = await speaking(10, 20)
  const stream = await listen(platform)
  platform.send('SIGINT')
  platform.send('SIGTERM')
  expect((await stream.rest()).done).toBe(true)
  expect(await platform.ended).toMatchObject({ code: 0 })
})
