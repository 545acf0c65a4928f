import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { assertReceived, createUsePlatform } from 'standin/test-runner'

const usePlatform = createUsePlatform({ beforeAll: before, beforeEach, afterEach, afterAll: after })
const platform = usePlatform({ env: true, strict: true })

const ask = content =>
  fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.OPENAI_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  })

test('the model greets', async () => {
  await platform.reply('Hi!')
  const { choices } = await (await ask('hello')).json()
  assert.equal(choices[0].message.content, 'Hi!')
  await assertReceived(platform, { body: { messages: [{ content: 'hello' }] } })
})

test('sends a request that no rule answers', async () => {
  await ask('hello')
})

test('expects another model', async () => {
  await platform.reply('Hi!')
  await ask('hello')
  await assertReceived(platform, { model: 'gpt-5' })
})
