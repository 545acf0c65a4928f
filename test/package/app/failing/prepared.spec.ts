import OpenAI from 'openai'
import { usePlatform } from 'standin/vitest'
import { describe, expect, test } from 'vitest'

async function ask(platform: { readonly url: string; readonly apiKey: string }, content: string) {
  const openai = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: platform.apiKey, maxRetries: 0 })
  const { choices } = await openai.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content }],
  })
  return choices[0]?.message.content
}

describe('one after the other', () => {
  const platform = usePlatform({ rules: [{ on: 'POST /deploy', when: { body: { to: 'eu' } }, reply: { json: {} } }] })

  test('asks in other words than prepared', async () => {
    await platform.reply('Sunny.', { when: { user: /weather/ } })
    expect(await ask(platform, 'How is the Weather?')).toBe('Sunny.')
  })

  test('sends another body than prepared', async () => {
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"to":"us"}' }
    const deployed = await fetch(`${platform.url}/deploy`, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${platform.apiKey}` },
    })
    expect(deployed.status).toBe(200)
  })

  test('passes all the same', async () => {
    await platform.reply('Sunny.', { when: { user: /passing weather/ } })
    expect(await ask(platform, 'How is the passing Weather?')).not.toBe('Sunny.')
  })
})

describe('at the same time', () => {
  const platform = usePlatform({ reset: false })

  test.concurrent.for(['tides', 'winds'])('asks about %s', async (about, { expect }) => {
    const scope = await platform.scope(about)
    await scope.reply(`All about ${about}.`, { when: { user: about } })
    const apiKey = await scope.createKey()
    const asked = about === 'tides' ? 'tides' : 'storms'
    expect(await ask({ url: platform.url, apiKey }, asked)).toBe(`All about ${about}.`)
  })
})
