import { expect, test } from 'vitest'
import { ProblemsError } from '../../src/index.js'
import { platformWith } from '../scene.js'
import { isUnknown } from '../sentences.js'
import { openaiFor, said } from './asking.js'

test('a text is what the model says from now on, to whatever it is asked', async () => {
  const platform = await platformWith()
  await platform.reply('Sunny.')
  expect([await said(platform, 'weather?'), await said(platform, 'again?')]).toEqual(['Sunny.', 'Sunny.'])
})

test('what was given last is asked first', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'from the start' } }] })
  expect(await said(platform, 'a')).toBe('from the start')
  await platform.reply('first')
  await platform.reply('last', { times: 1 })
  expect([await said(platform, 'a'), await said(platform, 'a')]).toEqual(['last', 'first'])
})

test('a request that is sent right after a reply was given waits for it, also where the call is not awaited', async () => {
  const platform = await platformWith({ listen: true })
  for (const text of ['one', 'two', 'three']) {
    void platform.reply(text)
    expect(await said(platform, 'a')).toBe(text)
  }
})

test('it may be a whole rule, the form of a reply, or several in turn', async () => {
  const platform = await platformWith()
  await platform.reply(['First.', { text: 'Then.' }])
  await platform.reply({ when: { user: /weather/i }, reply: { text: 'Rain.' } })
  await platform.reply({ json: { city: 'Oslo' } }, { when: { user: 'city' } })
  expect([await said(platform, 'a'), await said(platform, 'a')]).toEqual(['First.', 'Then.'])
  expect(await said(platform, 'The WEATHER?')).toBe('Rain.')
  expect(await said(platform, 'city')).toBe('{"city":"Oslo"}')
})

test('tool calls are said as tool calls', async () => {
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

test('what was given counts how often it was said, and can be taken back', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'else' } }] })
  const given = await platform.reply('given')
  expect(given.count).toBe(0)
  await said(platform, 'a')
  await said(platform, 'b')
  expect(given.count).toBe(2)
  void given.remove()
  expect(await said(platform, 'c')).toBe('else')
  expect(given.count).toBe(2)
})

test('a rule that there cannot be is a ProblemsError, and requests go on', async () => {
  const platform = await platformWith({ rules: [{ reply: { text: 'else' } }] })
  const wrong = platform.reply({ txt: 'x' } as object)
  await expect(wrong).rejects.toBeInstanceOf(ProblemsError)
  await expect(wrong).rejects.toThrow(`txt ${isUnknown('text')}`)
  expect(await said(platform, 'a')).toBe('else')
})
