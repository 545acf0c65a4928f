import OpenAI from 'openai'
import { expect, test } from 'vitest'
import '../../src/vitest.js'
import { connect } from '../../src/index.js'
import { platformWith } from '../scene.js'

const question = { role: 'user' as const, content: 'Tell me a story.' }

/** An app that asks for a story, and again if it is not whole. */
async function platformAndApp(isCareful: boolean) {
  const platform = await platformWith()
  const openai = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: platform.apiKey })
  async function story(left = 2): Promise<string> {
    let text = ''
    let reason: string | null | undefined
    const request = { model: 'gpt-4o-mini', stream: true as const, messages: [question] }
    for await (const chunk of await openai.chat.completions.create(request)) {
      text += chunk.choices[0]?.delta.content ?? ''
      reason = chunk.choices[0]?.finish_reason ?? reason
    }
    return !isCareful || reason === 'stop' ? text : story(left - 1)
  }
  return { platform, story }
}

test('an app that asks again after half an answer has handled the truncation', async () => {
  const { platform, story } = await platformAndApp(true)
  platform.failNext({ end: 3, done: 'missing' })
  await story()
  await platform.idle()
  expect(platform).toHaveHandled('truncation')
  expect(platform).toHaveHandled('end')
  await expect(await connect(platform.url)).toHaveHandled('truncation')
})

test('an app that takes half an answer for a whole one has not, and the message says why', async () => {
  const { platform, story } = await platformAndApp(false)
  platform.failNext({ end: 3 })
  await story()
  await platform.idle()
  expect(() => expect(platform).toHaveHandled('truncation')).toThrow(/truncation-accepted: Only a part .*\n\nReceived:/)
  expect(platform).not.toHaveHandled('truncation')
  expect(platform).not.toHaveHandled('end')
  expect(() => expect(platform).toHaveHandled('end-4')).toThrow('platform.failNext({ end: 4 })')
})

test('without a fault there is nothing to handle', async () => {
  const { platform, story } = await platformAndApp(true)
  await story()
  expect(() => expect(platform).toHaveHandled('stall')).toThrow('platform.failNext({ stall: 3 })')
  expect(() => expect(platform).toHaveHandled('everything' as 'stall')).toThrow('toHaveHandled takes status-500, hang')
})
