import { expect, onTestFinished, test, vi } from 'vitest'
import { ProblemsError, startPlatform } from '../../src/index.js'
import '../../src/vitest.js'
import { hello, platformWith } from '../scene.js'
import { isUnknown } from '../sentences.js'
import { openaiFor, said } from './asking.js'

test('after reply(text) every request gets that text', async () => {
  const platform = await platformWith()
  await platform.reply('Sunny.')
  expect([await said(platform, 'weather?'), await said(platform, 'again?')]).toEqual(['Sunny.', 'Sunny.'])
})

test('the latest reply takes precedence', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'from the start' } }] })
  expect(await said(platform, 'a')).toBe('from the start')
  await platform.reply('first')
  await platform.reply('last', { times: 1 })
  expect([await said(platform, 'a'), await said(platform, 'a')]).toEqual(['last', 'first'])
})

test('a request sent right after reply() gets that reply, even if the call is not awaited', async () => {
  const platform = await platformWith({ listen: true })
  for (const text of ['one', 'two', 'three']) {
    void platform.reply(text)
    expect(await said(platform, 'a')).toBe(text)
  }
})

test('reply() takes a rule, a reply, or several replies in turn', async () => {
  const platform = await platformWith()
  await platform.reply(['First.', { text: 'Then.' }])
  await platform.reply({ when: { user: /weather/i }, reply: { text: 'Rain.' } })
  await platform.reply({ json: { city: 'Oslo' } }, { when: { user: 'city' } })
  expect([await said(platform, 'a'), await said(platform, 'a')]).toEqual(['First.', 'Then.'])
  expect(await said(platform, 'The WEATHER?')).toBe('Rain.')
  expect(await said(platform, 'city')).toBe('{"city":"Oslo"}')
})

test('reply() with toolCalls makes the model call tools', async () => {
  const platform = await platformWith()
  await platform.reply({ toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] })
  const { choices } = await openaiFor(platform).chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'weather in Oslo' }],
    tools: [{ type: 'function', function: { name: 'get_weather', parameters: { type: 'object' } } }],
  })
  expect(choices[0]?.message.tool_calls).toMatchObject([
    { function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
  ])
})

test('a reply counts its uses and can be removed', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'else' } }] })
  const given = await platform.reply('given')
  expect(await given.count).toBe(0)
  await said(platform, 'a')
  await said(platform, 'b')
  expect(await given.count).toBe(2)
  void given.remove()
  expect(await said(platform, 'c')).toBe('else')
  expect(await given.count).toBe(2)
})

test('an invalid rule causes a ProblemsError and leaves the other replies in place', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'else' } }] })
  const wrong = platform.reply({ txt: 'x' } as object)
  await expect(wrong).rejects.toBeInstanceOf(ProblemsError)
  await expect(wrong).rejects.toThrow(`txt ${isUnknown('text')}`)
  expect(await said(platform, 'a')).toBe('else')
})

test('what a test changes takes effect before the requests that it sends afterwards, also if it does not await it', async () => {
  const platform = await platformWith()
  void platform.failNext({ status: 503 })
  void platform.reply('Hi!')
  expect((await platform.ask('/v1/models')).status).toBe(503)
  expect(await said(platform, 'hello')).toBe('Hi!')
})

test('a test in the same process needs no network, so it may replace fetch and open no port', async () => {
  const platform = await startPlatform({ listen: false })
  onTestFinished(() => platform.stop())
  vi.stubGlobal('fetch', () => Promise.reject(new Error('There is no network.')))
  onTestFinished(() => void vi.unstubAllGlobals())
  const scope = await platform.scope('mine')
  await scope.reply('Hi!')
  const body = JSON.stringify(hello)
  const headers = { authorization: `Bearer ${scope.apiKey}`, 'content-type': 'application/json' }
  const answer = await platform.fetch(
    new Request(`${platform.url}/v1/chat/completions`, { method: 'POST', headers, body }),
  )
  expect(await answer.text()).toContain('Hi!')
  await expect(scope).toHaveReceived({ headers: { authorization: /mine|sk-/ }, body: hello })
})
