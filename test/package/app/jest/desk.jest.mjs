import OpenAI from 'openai'
import { connect } from 'standin'
import { usePlatform } from 'standin/jest'

const platform = usePlatform({ env: true })

async function ask(content) {
  const openai = new OpenAI({ maxRetries: 0 })
  const { choices } = await openai.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content }],
  })
  return choices[0].message.content
}

test('a question is answered', async () => {
  await platform.reply('Have you tried turning it off?', { when: { user: /printer/ } })
  expect(await ask('My printer is on fire')).toBe('Have you tried turning it off?')
  await expect(platform).toHaveReceived({ model: 'gpt-4o-mini', body: { messages: [{ content: expect.any(String) }] } })
  await expect(platform).not.toHaveReceivedTimes(2, '/v1/chat/completions')
})

test('the platform works the same over HTTP', async () => {
  const connected = await connect(platform.url)
  await connected.reply('Hi!')
  expect(await ask('hello')).toBe('Hi!')
  await expect(connected).toHaveReceivedTimes(1, { model: 'gpt-4o-mini' })
  await expect(connected).not.toHaveReceived({ model: 'gpt-5' })
})

test('nothing is left over from other tests', async () => {
  await expect(platform).not.toHaveReceived('/v1/*')
})

test('expects another model', async () => {
  await ask('hello')
  await expect(platform).toHaveReceivedLast({ model: 'gpt-5' })
})

test('asks in other words than prepared', async () => {
  await platform.reply('Sunny.', { when: { user: /weather/ } })
  expect(await ask('How is the Weather?')).toBe('Sunny.')
})

test('reads what it has not prepared', async () => {
  await platform.reply('{}', { when: { user: /tides/ } })
  JSON.parse(await ask('How are the Tides?'))
})

test('passes all the same', async () => {
  await platform.reply('Sunny.', { when: { user: /passing weather/ } })
  expect(await ask('How is the passing Weather?')).not.toBe('Sunny.')
})
