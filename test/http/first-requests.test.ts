import { Server } from 'node:http'
import { expect, onTestFinished, test, vi } from 'vitest'
import { logMessages } from '../../src/cli/event-log.js'
import { openPlatform } from '../../src/platform.js'
import type { RuleInput } from '../../src/replies/index.js'

const open = (options: object = {}, rules: readonly RuleInput[] = []) =>
  openPlatform({
    ...{ cwd: process.cwd(), file: false, rules },
    flags: Object.entries({ port: 0, state: 'memory', ...options }).map(([name, value]) => ({
      ...{ path: [name], value, origin: `--${name}` },
    })),
  })

test('mistakes in rules and resources are reported together, and no port is opened', async () => {
  const listen = vi.spyOn(Server.prototype, 'listen')
  onTestFinished(() => listen.mockRestore())
  const rules = [{ when: { user: 'hi' }, repli: {} }] as unknown as readonly RuleInput[]
  await expect(open({ resources: { '/v1/models': { data: [] } } }, rules)).rejects.toMatchObject({
    problems: [{ sentence: expect.stringContaining('repli') }, { sentence: expect.stringContaining('/v1/models') }],
  })
  expect(listen).not.toHaveBeenCalled()
})

test('the log shows an email that was sent before there was a log', async () => {
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
