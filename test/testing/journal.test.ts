import { expect, test } from 'vitest'
import { eventsOf, hello, platformWith, textOfChunks } from '../scene.js'
import { NO_CREDENTIAL } from '../sentences.js'
import { said } from './asking.js'

const asking = (content: string, more: object = {}) => ({ ...hello, messages: [{ role: 'user', content }], ...more })

test('requests are found by path, method, status, model and parts of the body', async () => {
  const platform = await platformWith()
  await platform.chat(asking('one', { temperature: 0.5 }))
  await platform.chat(asking('two', { model: 'no-such-model' }))
  await platform.ask('/v1/models')
  const { journal } = platform
  expect(await journal.count()).toBe(3)
  expect(await journal.count('/v1/*')).toBe(3)
  expect(await journal.count({ method: 'GET' })).toBe(1)
  expect(await journal.count({ status: '4xx' })).toBe(1)
  expect(await journal.count({ model: 'gpt-4o-mini' })).toBe(1)
  expect(await journal.count({ body: { temperature: 0.5 } })).toBe(1)
  expect(await journal.count({ body: { messages: [{ content: 'two' }] } })).toBe(1)
  expect(await journal.count({ body: { messages: [] } })).toBe(0)
  expect(await journal.count({ response: { error: /no-such-model/ } })).toBe(1)
  expect((await journal.find({ caller: 'apiKey' })).map(({ request }) => request.path)).toEqual([
    '/v1/chat/completions',
    '/v1/chat/completions',
    '/v1/models',
  ])
  expect((await journal.last())?.request.path).toBe('/v1/models')
  expect((await journal.last({ path: '/v1/chat/*' }))?.status).toBe(400)
})

test('queries may contain asymmetric matchers, regular expressions and functions', async () => {
  const platform = await platformWith()
  await platform.chat(asking('Plan a trip to Oslo'))
  const { journal } = platform
  const saying = (content: unknown) => ({ body: { messages: [{ content }] } })
  expect(await journal.count(saying(expect.stringContaining('Oslo')))).toBe(1)
  expect(await journal.count(saying(/oslo$/i))).toBe(1)
  expect(await journal.count(saying(expect.not.stringContaining('Oslo')))).toBe(0)
  expect(await journal.count({ headers: { authorization: `Bearer ${platform.apiKey}` } })).toBe(1)
  expect(await journal.count(({ request }) => request.bytes > 0)).toBe(1)
  expect(await journal.count({ path: '/v1/*', where: ({ status }) => status === 500 })).toBe(0)
})

test('a long prompt with an email address and a key in it is found as it was sent', async () => {
  const platform = await platformWith()
  const content = `${'x'.repeat(100_000)} write to ada@example.com with sk-abcdefghijklmnopqrstuvwxyz0123456789`
  await platform.chat(asking(content))
  expect(await platform.journal.count({ body: { messages: [{ content }] } })).toBe(1)
})

test('waitFor waits for a request, and for a stream to end', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'a b c d' }, pace: { tokensPerSecond: 100 } }] })
  const coming = platform.journal.waitFor({ body: { stream: true } })
  const response = await platform.chat(asking('x', { stream: true }))
  const [text, entry] = await Promise.all([response.text(), coming])
  expect(textOfChunks(eventsOf(text).chunks)).toBe('a b c d')
  expect(entry).toMatchObject({ complete: true, status: 200 })
})

test('a request that does not come is an error that lists those that did', async () => {
  const platform = await platformWith({ rules: [{ name: 'greeting', reply: { text: 'Hi' } }] })
  await said(platform, 'hello')
  await platform.ask('/v1/models', { bearer: null })
  await expect(platform.journal.waitFor({ body: { stream: true } }, { timeoutMs: 20 })).rejects.toThrow(
    [
      'No exchange matching { body: { stream: true } } arrived within 20 ms.',
      'Received:',
      '  POST /v1/chat/completions 200 · gpt-4o-mini · "hello" · rule "greeting"',
      `  GET /v1/models 401 · ${NO_CREDENTIAL}`,
    ].join('\n'),
  )
  await expect(platform.journal.waitFor('/v1/*', { timeoutMs: 20, count: 3 })).rejects.toThrow(
    "Only 2 of 3 exchanges matching { path: '/v1/*' } arrived within 20 ms.",
  )
})
