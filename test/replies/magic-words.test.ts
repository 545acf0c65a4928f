import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { eventsOf, hello, platformWith, type Scene } from '../scene.js'

const requestFor = (content: string, more: object = {}) => ({
  ...hello,
  messages: [{ role: 'user', content }],
  ...more,
})

const messageOf = async (response: Response) =>
  ((await response.json()) as { choices: [{ message: OpenAI.ChatCompletionMessage; finish_reason: string }] })
    .choices[0]

const errorOf = async (chat: Scene['chat'], request: object) => {
  const response = await chat(request)
  return { status: response.status, ...((await response.json()) as { error: string }) }
}

test('a magic word in a prompt works whatever the rules say', async () => {
  const { chat } = await platformWith({ strict: true, rules: [{ reply: { text: 'a rule' } }] })
  expect((await chat(requestFor('standin:status-503'))).headers.get('retry-after')).toBe('1')
  expect(await errorOf(chat, requestFor('Please fail: standin:status-418'))).toEqual({
    status: 418,
    error: 'Status 418, because the prompt says standin:status-418.',
  })
  expect((await messageOf(await chat(requestFor('standin:refusal')))).message.refusal).toMatch(/\w/)
  expect((await messageOf(await chat(requestFor('standin:length')))).finish_reason).toBe('length')
  expect((await messageOf(await chat(requestFor('no magic here')))).message.content).toBe('a rule')
})

test('standin:tool calls the offered tool with arguments that fit, and answers with text once it has the result', async () => {
  const { url, apiKey } = await platformWith()
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey })
  const parameters = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
  const cities: string[] = []
  const run = openai.chat.completions.runTools({
    model: hello.model,
    messages: [{ role: 'user', content: 'standin:tool' }],
    tools: [
      {
        type: 'function',
        function: {
          name: 'get_weather',
          description: 'The weather in a city.',
          parameters,
          parse: JSON.parse,
          function: ({ city }: { city: string }) => {
            cities.push(city)
            return 'rain'
          },
        },
      },
    ],
  })
  expect(await run.finalContent()).toBe('get_weather says: rain')
  expect(cities).toEqual([expect.stringMatching(/\w/)])
})

test('magic words for texts and for faults can be combined', async () => {
  const { chat } = await platformWith()
  const response = await chat(requestFor('standin:markdown standin:done-missing', { stream: true }))
  const { chunks, done } = eventsOf(await response.text())
  expect(done).toBe(false)
  expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toMatch(/^# /)
})
