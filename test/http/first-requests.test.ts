import { Server } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { tellMessages } from '../../src/cli/event-log.js'
import { openPlatform } from '../../src/platform.js'
import { documentOf, operationsOf } from '../platform/openapi/document.js'
import { platformWith } from '../scene.js'

interface Asked {
  readonly method: string
  readonly path: string
}

/** Every operation of the document, with something in the place of what is in braces. */
async function everything(): Promise<readonly Asked[]> {
  const document = await documentOf(await platformWith())
  return operationsOf(document).map(({ method, path }) => ({ method, path: path.replace(/\{\w+\}/g, 'x') }))
}

/** The status of each; streams that do not end are left. */
const statusesOf = (url: string, asked: readonly Asked[], bearer: string) =>
  Promise.all(
    asked.map(async ({ method, path }) => {
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

test('a request to any path, sent the moment the port is open, gets the answer that it gets later', async () => {
  const asked = await everything()
  expect(asked.length).toBeGreaterThan(60)
  const { apiKey } = await platformWith()
  let first: Promise<readonly string[]> | undefined
  const listen = Server.prototype.listen
  const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...given: unknown[]) {
    this.once('listening', () => {
      const address = this.address()
      if (typeof address === 'object') first = statusesOf(`http://127.0.0.1:${address?.port}`, asked, apiKey)
    })
    return listen.apply(this, given as never)
  })
  const early = await open()
  onTestFinished(() => early.stop())
  spy.mockRestore()
  const late = await open()
  onTestFinished(() => late.stop())
  expect(await first).toEqual(await statusesOf(late.url, asked, apiKey))
})

test('the log tells an email that was sent before the log was loaded', async () => {
  const platform = await open()
  onTestFinished(() => platform.stop())
  await fetch(`${platform.authUrl}/auth/v1/otp`, {
    method: 'POST',
    headers: { apikey: platform.anonKey },
    body: '{"email":"ada@example.com"}',
  })
  const say = vi.fn()
  tellMessages(platform, { say })
  expect(say.mock.calls).toMatchObject([[{ event: 'message', recipient: 'ada@example.com' }, expect.any(Function)]])
})
