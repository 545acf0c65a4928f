import assert from 'node:assert/strict'
import { after, afterEach, before, beforeEach, test } from 'node:test'
import { createUsePlatform } from 'standin/test-runner'

const usePlatform = createUsePlatform({ beforeAll: before, beforeEach, afterEach, afterAll: after })
const platform = usePlatform({ env: true })

async function ask(content) {
  const answer = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${process.env.OPENAI_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] }),
  })
  return (await answer.json()).choices[0].message.content
}

test('asks in other words than prepared', async () => {
  await platform.reply('Sunny.', { when: { user: /weather/ } })
  assert.equal(await ask('How is the Weather?'), 'Sunny.')
})

test('passes all the same', async () => {
  await platform.reply('Sunny.', { when: { user: /passing weather/ } })
  assert.notEqual(await ask('How is the passing Weather?'), 'Sunny.')
})
