import { beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import type { UsePlatformOptions } from '../../src/test-runner.js'
import { hello } from '../scene.js'
import { runner } from './runner.js'

const silence = /received no request\. .*Import the app in beforeAll\.$/
let warned: () => readonly string[]

beforeEach(() => {
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  warned = () => warn.mock.calls.map(([sentence]) => String(sentence))
  onTestFinished(() => warn.mockRestore())
})

/** A file whose first test is running. */
async function file(options: UsePlatformOptions = {}) {
  const { platform, run } = runner(options)
  await run('beforeAll')
  const end = run.bind(undefined, 'afterAll')
  await run('beforeEach')
  const ask = (key = platform.apiKey) =>
    fetch(`${platform.url}/v1/chat/completions`, {
      method: 'POST',
      body: JSON.stringify(hello),
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    })
  return { platform, run, ask, end }
}

test('a reply that nothing asked for fails its test on request, with the most likely reason if nothing arrived', async () => {
  const { platform, run, ask, end } = await file({ unused: 'fail', env: true })
  await platform.reply('Sunny.', { when: { user: /weather/ } })
  const message = 'No request asked for the reply {"when":{"user":"/weather/"},"reply":{"text":"Sunny."}}.'
  await expect(run('afterEach')).rejects.toThrow(
    `${message}\nThe platform of usePlatform received no request. Does the app read its base URL before it is set?`,
  )
  await run('beforeEach')
  await platform.reply('Sunny.', { when: { user: /weather/ } })
  await ask()
  await expect(run('afterEach')).rejects.toThrow(
    `${message}\nThe platform advises on this test:\n  POST /v1/chat/completions 200 · gpt-4o-mini · "hello" · canned reply\n` +
      '    → The only rule for such requests is rule at run time #2: user does not match /weather/.',
  )
  await run('beforeEach')
  await platform.reply('Hi!')
  await ask()
  await run('afterEach')
  await end()
  expect(warned()).toEqual([])
})

test('with warn, unused replies and holds are printed, and the test passes', async () => {
  const { platform, run, ask, end } = await file({ unused: 'warn' })
  await platform.reply({ when: { user: 'weather' }, reply: { text: 'Sunny.' } })
  await platform.hold({ on: 'GET /v1/models' })
  await ask()
  await run('afterEach')
  await end()
  expect(warned()).toEqual([
    'No request reached hold-1 on GET /v1/models, before the answer.\n' +
      'No request asked for the reply {"when":{"user":"weather"},"reply":{"text":"Sunny."}}.\n' +
      'The platform advises on this test:\n  POST /v1/chat/completions 200 · gpt-4o-mini · "hello" · canned reply\n' +
      '    → The only rule for such requests is rule at run time #1: user does not contain "weather".',
  ])
})

test('without the option, unused replies are nothing to talk about while the app uses the platform', async () => {
  const { platform, run, ask, end } = await file({ env: true })
  await platform.reply('Hi!')
  await run('afterEach')
  await run('beforeEach')
  await ask()
  await run('afterEach')
  await end()
  expect(warned()).toEqual([])
})

test.each([
  ['a reply was prepared', { env: true }, 'Hi!', 1],
  ['a rule was prepared', { env: true, rules: [{ reply: { text: 'Hi!' } }] }, undefined, 1],
  ['nothing was prepared', { env: true }, undefined, 0],
  ['the test itself names the address', {}, 'Hi!', 0],
] as const)(
  'a file of tests in which nothing arrives, and %s, is warned of as often as it should be',
  async (...row) => {
    const [, options, reply, times] = row
    const { platform, run, end } = await file(options as UsePlatformOptions)
    if (reply) await platform.reply(reply)
    await run('afterEach')
    await end()
    expect(warned()).toEqual(Array(times).fill(expect.stringMatching(silence)))
  },
)

test('a failed test gets the advice on its requests, or the most likely reason why there are none', async () => {
  const { run, ask, end } = await file({ env: true })
  await ask('sk-of-somebody-else')
  await run('afterEach', true)
  await run('beforeEach')
  await run('afterEach', true)
  // Other runners pass something else.
  await run('beforeEach')
  await ask('sk-of-somebody-else')
  await run('afterEach', { name: 'a context of node:test' })
  await end()
  expect(warned()).toEqual([
    expect.stringMatching(
      /^The platform advises on this test:\n {2}POST \/v1\/chat\/completions 401 .*\n {4}→ Send the OPENAI_API_KEY/,
    ),
    expect.stringMatching(silence),
  ])
})
