/** OpenAI's client with several choices, reasoning, and streams that fail. */
import OpenAI from 'openai'
import type { ChatCompletionChunk } from 'openai/resources/chat/completions'
import { expect, test } from 'vitest'
import { asking, chatSaying, chatWith, failureOf } from './clients.js'

const hello = asking('hello')

test('three choices stream at the same time, and each ends on its own', async () => {
  const chat = await chatSaying({ choices: [{ text: 'One of them.' }, { text: 'Two.' }, { refusal: 'No.' }] })
  const stream = chat.stream({ ...hello, n: 3 })
  const order: number[] = []
  stream.on('chunk', ({ choices: [choice] }) => order.push(choice?.index ?? -1))
  const { choices } = await stream.finalChatCompletion()
  expect(choices.map(({ message }) => message.content ?? message.refusal)).toEqual(['One of them.', 'Two.', 'No.'])
  expect(order.slice(0, 6)).toEqual([0, 1, 2, 0, 1, 2])
})

test('logprobs come with the chunks of a stream', async () => {
  const chat = await chatSaying({ text: 'Hi there, you!' })
  const stream = chat.stream({ ...hello, logprobs: true, top_logprobs: 3 })
  const tokens: string[] = []
  stream.on('logprobs.content.delta', ({ content }) => tokens.push(...content.map(({ token }) => token)))
  const { choices } = await stream.finalChatCompletion()
  expect(tokens.join('')).toBe('Hi there, you!')
  for (const { logprob, top_logprobs } of choices[0]?.logprobs?.content ?? []) {
    expect(top_logprobs).toEqual([])
    expect(logprob).toBeLessThan(0)
  }
})

test('aborting a stream throws an APIUserAbortError in its helper', async () => {
  const chat = await chatWith({ rules: [{ reply: { text: 'one two three' }, pace: { tokensPerSecond: 0.001 } }] })
  const stream = chat.stream(hello)
  stream.once('content', () => stream.abort())
  expect(await failureOf(stream.done())).toBeInstanceOf(OpenAI.APIUserAbortError)
})

test('reasoning comes as reasoning_content, before the content', async () => {
  const chat = await chatSaying({ text: 'Four.', reasoning: 'Two and two.' })
  const { choices, usage } = await chat.create(hello)
  expect(choices[0]?.message).toMatchObject({ content: 'Four.', reasoning_content: 'Two and two.' })
  expect(usage?.completion_tokens_details?.reasoning_tokens).toBe(3)
  const said: string[] = []
  for await (const { choices } of await chat.create({ ...hello, stream: true })) {
    const delta = choices[0]?.delta as ChatCompletionChunk.Choice.Delta & { reasoning_content?: string }
    if (delta.reasoning_content) said.push('thought')
    if (delta.content) said.push('word')
  }
  expect(said).toEqual(['thought', 'thought', 'thought', 'word'])
})

test('fields that only some models support are accepted', async () => {
  const chat = await chatSaying({ text: 'Hi!' })
  const { choices } = await chat.create({
    ...hello,
    messages: [
      { role: 'developer', content: [{ type: 'text', text: 'Be brief.' }] },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'hello' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA', detail: 'low' } },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
          { type: 'file', file: { file_id: 'file-1' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'refusal', refusal: 'No.' }], refusal: 'No.' },
      { role: 'user', content: 'Why?', name: 'ada' },
    ],
    reasoning_effort: 'minimal',
    verbosity: 'low',
    modalities: ['text'],
    prediction: { type: 'content', content: 'Hi' },
    service_tier: 'flex',
    prompt_cache_key: 'a',
    safety_identifier: 'b',
    web_search_options: { search_context_size: 'low' },
    logit_bias: { '50256': -100 },
    metadata: { unit: 'celsius' },
    store: true,
    temperature: null,
    top_p: null,
    n: null,
    stop: null,
    seed: 7,
    user: 'ada',
  })
  expect(choices[0]?.message.content).toBe('Hi!')
})
