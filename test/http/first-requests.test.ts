import { Server } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { logMessages } from '../../src/cli/event-log.js'
import { openPlatform } from '../../src/platform.js'
import { documentOf, operationsOf } from '../platform/openapi/document.js'
import { platformWith } from '../scene.js'

interface Request {
  readonly method: string
  readonly path: string
}

/** Every operation of the OpenAPI document, with its path parameters filled in. */
async function everything(): Promise<readonly Request[]> {
  const document = await documentOf(await platformWith())
  return operationsOf(document).map(({ method, path }) => ({ method, path: path.replace(/\{\w+\}/g, 'x') }))
}

/** The status of each; bodies are not read, because some streams do not end. */
const statusesOf = (url: string, requests: readonly Request[], bearer: string) =>
  Promise.all(
    requests.map(async ({ method, path }) => {
      const response = await fetch(url + path, {
        method: method.toUpperCase(),
        headers: { authorization: `Bearer ${bearer}` },
        redirect: 'manual',
      })
      await response.body?.cancel()
      return `${method} ${path} ${response.status}`
    }),
  )

const open = () =>
  openPlatform({
    ...{ cwd: process.cwd(), file: false },
    flags: [
      { path: ['port'], value: 0, origin: '--port' },
      { path: ['state'], value: 'memory', origin: '--state' },
    ],
  })

test('a request to any path gets the same status the moment the port opens as it does later', async () => {
  const requests = await everything()
  expect(requests.length).toBeGreaterThan(60)
  const { apiKey } = await platformWith()
  let first: Promise<readonly string[]> | undefined
  const listen = Server.prototype.listen
  const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...given: unknown[]) {
    this.once('listening', () => {
      const address = this.address()
      if (typeof address === 'object') first = statusesOf(`http://127.0.0.1:${address?.port}`, requests, apiKey)
    })
    return listen.apply(this, given as never)
  })
  const early = await open()
  onTestFinished(() => early.stop())
  spy.mockRestore()
  const late = await open()
  onTestFinished(() => late.stop())
  expect(await first).toEqual(await statusesOf(late.url, requests, apiKey))
})

test('the log shows an email that was sent before the log was loaded', async () => {
  const platform = await open()
  onTestFinished(() => platform.stop())
  await fetch(`${platform.authUrl}/auth/v1/otp`, {
    method: 'POST',
    headers: { apikey: platform.anonKey },
    body: '{"email":"ada@example.com"}',
  })
  const say = vi.fn()
  logMessages(platform, { event: say })
  expect(say.mock.calls).toMatchObject([[{ event: 'message', recipient: 'ada@example.com' }, expect.any(Function)]])
})
