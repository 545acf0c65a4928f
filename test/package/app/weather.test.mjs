/** A test with node:test that connects to a Standin in another process. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connect } from 'standin'
import { assertReceived } from 'standin/test-runner'

test('the bot greets', async () => {
  const platform = await connect(process.env.STANDIN_URL)
  const scope = await platform.scope('greeting')
  await scope.reply('Hi!')
  const response = await fetch(`${platform.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${scope.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'hello' }] }),
  })
  const { choices } = await response.json()
  assert.equal(choices[0].message.content, 'Hi!')
  await assertReceived(scope, '/v1/chat/completions', { times: 1 })
})
