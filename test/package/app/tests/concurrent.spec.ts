import OpenAI from 'openai'
import { usePlatform } from 'standin/vitest'
import { expect, test } from 'vitest'

const platform = usePlatform({ reset: false })

test.concurrent.each(['red', 'green', 'blue'])('the scope %s only gets its own replies', async color => {
  const scope = await platform.scope(color)
  await scope.reply(color)
  const openai = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: scope.apiKey })
  for (const content of ['a', 'b', 'c']) {
    const { choices } = await openai.chat.completions.create({
      model: 'gpt-4o-mini',
      messages: [{ role: 'user', content }],
    })
    expect(choices[0]?.message.content).toBe(color)
  }
  await expect(scope).toHaveReceivedTimes(3, { body: { messages: [{ role: 'user' }] } })
})
