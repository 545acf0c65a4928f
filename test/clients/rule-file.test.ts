/** A file of rules, and an app with OpenAI's client that exercises each of them. */
import path from 'node:path'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { startPlatform } from '../../src/index.js'
import { folderWith } from '../command.js'
import { hello, platformWith } from '../scene.js'
import { asking } from './clients.js'

const rules = `
- name: greet
  when: { user: '/^hello (\\w+)/i' }
  reply: { text: 'Hi {{match[1]}}, you said "{{user}}"' }
- name: weather
  when: { user: weather, tools: [get_weather], toolResult: false }
  reply: { toolCalls: [{ name: get_weather, arguments: { city: Oslo, unit: '{{request.metadata.unit}}' } }] }
- name: weather result
  when: { toolResult: { tool: get_weather, contains: rain } }
  reply: { text: Take an umbrella. }
- name: flaky
  when: { user: count }
  replies: [{ text: one }, { text: two }, { fault: { status: 429, message: slow down, retryAfter: 3 } }]
  then: cycle
- name: slow and broken off
  when: { model: 'nova-*', stream: true, user: story }
  reply: { file: story.md, fault: { cut: 30 } }
  pace: { firstTokenMs: 300, tokensPerSecond: 50, jitter: 0.2 }
`
const story = 'Once upon a time there was a fox. '.repeat(20)

/** The chat API of a client, on a platform with the file. */
async function scene() {
  const dir = folderWith({
    'platform.config.yaml': 'models: [{ id: gpt-4o-mini }, { id: nova-1 }]\nstate: memory\nreplies: [replies/*.yaml]\n',
    'replies/rules.yaml': rules,
    'replies/story.md': story,
  })
  const platform = await startPlatform({ config: path.join(dir, 'platform.config.yaml') })
  onTestFinished(() => platform.stop())
  return new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: platform.apiKey, maxRetries: 0 }).chat.completions
}

test.each(['replies', 'replies/', './replies', '[replies]'])(
  'replies: %s loads the .yaml and .yml files of the folder',
  async replies => {
    const dir = folderWith({
      'platform.config.yaml': `state: memory\nreplies: ${replies}\n`,
      'replies/a.yaml': '- { when: { user: one }, reply: { text: from a } }\n',
      'replies/b.yml': '- { reply: { text: from b } }\n',
      'replies/notes.txt': 'no rules',
    })
    const { chat } = await platformWith({ config: path.join(dir, 'platform.config.yaml') })
    const said = async (content: string) => {
      const answer = await chat({ ...hello, messages: [{ role: 'user', content }] })
      const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] }
      return choices[0]?.message.content
    }
    expect([await said('one'), await said('two')]).toEqual(['from a', 'from b'])
  },
)

test('the model calls the tool with arguments from the request and answers its result', async () => {
  const chat = await scene()
  const asked: unknown[] = []
  const runner = chat.runTools({
    ...asking('What is the weather?'),
    metadata: { unit: 'celsius' },
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: '',
          parameters: {},
          function: (given: string) => `${asked.push(JSON.parse(given))} rain`,
        },
      },
    ],
  })
  expect(await runner.finalContent()).toBe('Take an umbrella.')
  expect(asked).toEqual([{ city: 'Oslo', unit: 'celsius' }])
})

test('a cycle of replies with a fault refuses every third request', async () => {
  const chat = await scene()
  const counted: unknown[] = []
  for (let i = 0; i < 6; i++) {
    const said = await chat.create(asking('count')).then(
      ({ choices }) => choices[0]?.message.content,
      error => [error.constructor.name, error.headers.get('retry-after'), error.message],
    )
    counted.push(said)
  }
  const refused = ['RateLimitError', '3', '429 "slow down"']
  expect(counted).toEqual(['one', 'two', refused, 'one', 'two', refused])
})

test('a paced reply with a cut arrives slowly and breaks off', async () => {
  const chat = await scene()
  const begun = performance.now()
  let text = ''
  let chunks = 0
  let firstMs = 0
  const read = async () => {
    for await (const { choices } of await chat.create({ ...asking('A story!'), model: 'nova-1', stream: true })) {
      chunks++
      text += choices[0]?.delta.content ?? ''
      if (text !== '') firstMs ||= performance.now() - begun
    }
  }
  await expect(read()).rejects.toThrow('terminated')
  expect(chunks).toBe(30)
  expect(story.startsWith(text)).toBe(true)
  expect(firstMs).toBeGreaterThan(200)
  // 28 pauses after the first piece, each of 16 to 24 ms.
  expect(performance.now() - begun).toBeGreaterThan(firstMs + 28 * 16 - 50)
  const whole = await chat.create({ ...asking('A story!'), model: 'nova-1' })
  expect(whole.choices[0]?.message.content).not.toBe(story)
})
