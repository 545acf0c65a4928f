import { Server } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { logMessages } from '../../src/cli/event-log.js'
import { openPlatform } from '../../src/platform.js'
import type { RuleInput } from '../../src/replies/index.js'
import { platformWith } from '../scene.js'

const open = (options: object = {}, rules: readonly RuleInput[] = []) =>
  openPlatform({
    ...{ cwd: process.cwd(), file: false, rules },
    flags: Object.entries({ port: 0, state: 'memory', ...options }).map(([name, value]) => ({
      ...{ path: [name], value, origin: `--${name}` },
    })),
  })

/** Opens a platform, and calls `ask` with its URL the moment the port is open. */
async function openAsking<T>(ask: (url: string) => Promise<T>, ...sources: Parameters<typeof open>) {
  let first: Promise<T> | undefined
  const listen = Server.prototype.listen
  const spy = vi.spyOn(Server.prototype, 'listen').mockImplementation(function (this: Server, ...given: unknown[]) {
    this.once('listening', () => {
      const address = this.address()
      if (typeof address === 'object') first = ask(`http://127.0.0.1:${address?.port}`)
    })
    return listen.apply(this, given as never)
  })
  const platform = await open(...sources).finally(() => spy.mockRestore())
  onTestFinished(() => platform.stop())
  return { platform, first: await first }
}

test('paths of the configuration and of rules answer the moment the port opens as they do later', async () => {
  const { apiKey } = await platformWith()
  const options = { resources: { '/things': { data: [{ id: 1 }] } }, mcp: { '/mcp': { tools: [{ name: 'look' }] } } }
  const rules: readonly RuleInput[] = [
    { on: 'GET /builder/projects/:id', reply: { json: { id: '{{params.id}}' } } },
    { when: { user: 'hello' }, reply: { text: 'Hi!' } },
  ]
  const client = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
  const initialize = { jsonrpc: '2.0', id: 1, method: 'initialize', params: client }
  const requests = [
    ['/things'],
    ['/builder/projects/7'],
    ['/nowhere'],
    ['/v1/chat/completions', { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }], seed: 1 }],
    ['/mcp', initialize],
  ] as const
  const answersAt = (url: string) =>
    Promise.all(
      requests.map(async ([path, body]) => {
        const response = await fetch(url + path, {
          headers: {
            authorization: `Bearer ${apiKey}`,
            accept: 'application/json, text/event-stream',
            'content-type': 'application/json',
          },
          ...(body && { method: 'POST', body: JSON.stringify(body) }),
        })
        const text = await response.text()
        return `${path} ${response.status} ${text.replace(/"(id|created)":("chatcmpl-\w+"|\d{10})/g, '"$1":…')}`
      }),
    )
  const { platform, first } = await openAsking(answersAt, options, rules)
  expect(first).toEqual(await answersAt(platform.url))
  expect(first?.map(answer => answer.split(' ', 2)[1])).toEqual(['200', '200', '404', '200', '200'])
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
