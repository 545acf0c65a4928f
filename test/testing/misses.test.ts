import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { createUsePlatform } from '../../src/test-runner.js'
import { liveWith, saying, tape } from '../recordings/live.js'
import { hello, platformWith } from '../scene.js'
import { NEAREST } from '../sentences.js'

const asking = (content: string) => ({ ...hello, messages: [{ role: 'user', content }] })

async function taped() {
  const live = await liveWith(saying({ id: 'live' }))
  const scene = tape(live.url)
  const { chat, stop } = await scene.recording()
  await (await chat(asking('capital of France'))).text()
  await stop()
  return scene
}

test('a miss shows the nearest recording beside the request, in its scope, until a reset', async () => {
  const { replaying, files } = await taped()
  const platform = await replaying()
  const [one, other] = [await platform.scope('one'), await platform.scope('other')]
  await platform.chat(asking('capital of France'))
  await platform.expectNoMisses()
  await platform.chat(asking('capital of Spain'), { headers: one.headers })
  await platform.ask('/v1/models', { headers: one.headers })
  const said = [
    '2 requests had no prepared answer.',
    '',
    `No recording matches POST /v1/chat/completions. ${NEAREST} ${files()[0]}:`,
    '  field                recorded             asked',
    '  messages[0].content  "capital of France"  "capital of Spain"',
    '',
    'No recording matches GET /v1/models. Nothing is recorded for it.',
  ].join('\n')
  await expect(one.expectNoMisses()).rejects.toThrow(said)
  await expect(platform.expectNoMisses()).rejects.toThrow(said)
  await other.expectNoMisses()
  expect([(await one.misses()).length, (await other.misses()).length]).toEqual([2, 0])
  await one.reset()
  await platform.expectNoMisses()
  expect(await platform.misses()).toEqual([])
})

test('a request that was open during a reset is not a miss afterwards', async () => {
  const { replaying } = await taped()
  for (const platform of [await replaying(), await platformWith({ strict: true })]) {
    let finish = () => {}
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(JSON.stringify(asking('capital of Spain')).slice(0, -1)))
        finish = () => {
          controller.enqueue(new TextEncoder().encode('}'))
          controller.close()
        }
      },
    })
    const asked = platform.ask('/v1/chat/completions', { method: 'POST', body, ...{ duplex: 'half' } })
    await vi.waitFor(async () => expect(await platform.journal.underWay).toBe(1), { timeout: 20_000 })
    await platform.reset()
    finish()
    expect((await asked).ok).toBe(false)
    await platform.idle()
    await platform.expectNoMisses()
    expect(await platform.misses()).toEqual([])
    expect(await platform.journal.count()).toBe(0)
  }
})

test('expectNoMisses ignores misses that were emulated', async () => {
  const { replaying } = await taped()
  const platform = await replaying({ recordings: { onMiss: 'emulate' } })
  expect((await platform.chat(asking('capital of Spain'))).status).toBe(200)
  await platform.expectNoMisses()
  expect(await platform.misses()).toHaveLength(1)
})

test('a difference that many requests have is shown once, with the tests that met it', async () => {
  const { replaying } = await taped()
  const platform = await replaying()
  const changed = { ...asking('capital of France'), temperature: 0.5 }
  for (const name of ['one', 'two', 'one'])
    await platform.chat(changed, { headers: (await platform.scope(name)).headers })
  const message = await messageOf(() => platform.expectNoMisses())
  expect(message).toMatch(/^3 requests had no prepared answer\./)
  expect(message.match(/The nearest is/g)).toHaveLength(1)
  expect(message).toMatch(/\n {2}2 more requests missed in the same way\n {2}in one, two$/)
})

test('usePlatform lets tests pass on answers to changed requests, and fails once at the end, with their names', async () => {
  const { dir } = await taped()
  const hooks = {
    beforeAll: async () => {},
    beforeEach: async () => {},
    afterEach: async () => {},
    afterAll: async () => {},
  }
  let currentTestName = ''
  const set = (name: keyof typeof hooks) => (work: () => Promise<void>) => {
    hooks[name] = work
  }
  const runner = {
    ...{
      beforeAll: set('beforeAll'),
      beforeEach: set('beforeEach'),
      afterEach: set('afterEach'),
      afterAll: set('afterAll'),
    },
    testState: () => ({ currentTestName, testPath: path.resolve('test/greeter.test.ts') }),
  }
  const platform = createUsePlatform(runner)({ mode: 'replay', recordings: { dir, onMiss: 'nearest' } })
  await hooks.beforeAll()
  for (const name of ['greets', 'answers']) {
    currentTestName = name
    await hooks.beforeEach()
    const response = await fetch(`${platform.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify({ ...asking('capital of France'), model: 'gpt-5' }),
      headers: { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' },
    })
    expect(response.status).toBe(200)
    await hooks.afterEach()
  }
  await expect(hooks.afterAll()).rejects.toThrow(
    'The nearest recordings answered changed requests:\n' +
      '2 requests differ in model: "gpt-4o-mini" → "gpt-5"\n  in test/greeter.test.ts > greets, test/greeter.test.ts > answers\n' +
      '→ Accept the change, offline: standin recordings accept',
  )
})

async function messageOf(check: () => Promise<void>): Promise<string> {
  try {
    await check()
  } catch (error) {
    return (error as Error).message
  }
  return ''
}
