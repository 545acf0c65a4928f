import OpenAI from 'openai'
import { usePlatform } from 'standin/vitest'
import { expect, test } from 'vitest'

const platform = usePlatform({
  strict: true,
  rules: [{ name: 'hours', when: { user: 'opening hours' }, reply: { text: '9 to 5' } }],
})

const say = (content: string) =>
  new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: platform.apiKey, maxRetries: 0 }).chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content }],
  })

test('sends a request that no rule answers', async () => {
  await say('When do you open?').catch(() => {})
})

test('sends a request that a rule answers', async () => {
  await say('Tell me your opening hours')
})

test('expects another model', async () => {
  await say('Tell me your opening hours')
  await expect(platform).toHaveReceived({ path: '/v1/*', body: { model: 'gpt-5', messages: [{ role: 'user' }] } })
})

test('expects no request', async () => {
  await say('Tell me your opening hours')
  await expect(platform).not.toHaveReceived('/v1/*')
})

test('expects more requests', async () => {
  await say('Tell me your opening hours')
  await expect(platform).toHaveReceivedTimes(2, { model: 'gpt-4o-mini' })
})

test('expects on something that is not a platform', async () => {
  await expect('platform').toHaveReceived('/v1/*')
})

test('sends a key of somebody else', async () => {
  const answer = await fetch(`${platform.url}/v1/models`, { headers: { authorization: 'Bearer sk-of-somebody-else' } })
  expect(answer.status).toBe(200)
})
