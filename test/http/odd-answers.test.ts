import { createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { platformWith } from '../scene.js'
import { notReached } from '../sentences.js'

/** A live platform that answers every request with these bytes, and a platform in front of it. */
async function liveThatSends(bytes: string) {
  const server = createServer(socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.write(bytes))
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { port: number }
  return platformWith({ mode: 'proxy', upstream: { baseUrl: `http://127.0.0.1:${port}` } })
}

test.each([
  [
    'a status below 100',
    'HTTP/1.1 099 X\r\nContent-Length: 2\r\n\r\n{}',
    'The live platform answered with something that is not valid HTTP (status 99).',
  ],
  [
    'a change of protocol',
    'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    notReached('no answer'),
  ],
  [
    'text that is not HTTP',
    'hello\r\n\r\n',
    'The live platform answered with something that is not valid HTTP (HPE_INVALID_CONSTANT).',
  ],
])('%s from the live platform is a 502', async (_name, bytes, error) => {
  const { ask } = await liveThatSends(bytes)
  const response = await ask('/health')
  expect(response.status).toBe(502)
  expect(await response.json()).toEqual({ error })
})

test('an invalid character is removed from the status line', async () => {
  const { ask } = await liveThatSends('HTTP/1.1 200 O\x01K\r\nContent-Length: 2\r\n\r\n{}')
  const response = await ask('/health')
  expect({ status: response.status, words: response.statusText, body: await response.text() }).toEqual({
    status: 200,
    words: 'OK',
    body: '{}',
  })
})
