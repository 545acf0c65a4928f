import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { platformWith, hello as request } from '../scene.js'
import { KEY_UNKNOWN } from '../sentences.js'

const hello = { ...request, messages: [{ role: 'user' as const, content: 'hello' }] }

/** A platform with one reply, and a client for it. */
async function scene({ text = 'Hi there!', pace = {}, apiKey = '' } = {}) {
  const platform = await platformWith({ requests: 'strict', rules: [{ reply: { text }, pace }] })
  const client = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: apiKey || platform.apiKey })
  return { client, streams: client.chat.completions }
}

const failureOf = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    () => undefined,
    (error: InstanceType<typeof OpenAI.APIError>) => error,
  )

test('a client gets a whole reply', async () => {
  const { client } = await scene()
  const completion = await client.chat.completions.create(hello)
  const message = { role: 'assistant', content: 'Hi there!', refusal: null, annotations: [] }
  expect(completion.choices[0]?.message).toEqual(message)
  expect(completion.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 })
})

test('a client gets a stream', async () => {
  const { client } = await scene()
  const stream = await client.chat.completions.create({
    ...hello,
    stream: true,
    stream_options: { include_usage: true },
  })
  let text = ''
  let usage: unknown
  const finishes: unknown[] = []
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? ''
    if (chunk.choices[0]?.finish_reason) finishes.push(chunk.choices[0].finish_reason)
    usage = chunk.usage
  }
  expect(text).toBe('Hi there!')
  expect(finishes).toEqual(['stop'])
  expect(usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 })
})

test('the stream helper assembles the reply', async () => {
  const { streams } = await scene()
  const stream = streams.stream({ ...hello, stream_options: { include_usage: true } })
  const pieces: string[] = []
  stream.on('content', piece => pieces.push(piece))
  const completion = await stream.finalChatCompletion()
  expect(pieces).toEqual(['Hi', ' there!'])
  expect(completion).toMatchObject({
    object: 'chat.completion',
    model: 'gpt-4o-mini',
    choices: [{ message: { role: 'assistant', content: 'Hi there!' }, finish_reason: 'stop' }],
    usage: { total_tokens: 12 },
  })
})

test('a client lists the models', async () => {
  const { client } = await scene()
  const ids: string[] = []
  for await (const { id, object } of client.models.list()) {
    expect(object).toBe('model')
    ids.push(id)
  }
  expect(ids).toHaveLength(5)
  expect(ids[0]).toBe('gpt-4o-mini')
})

test('a client throws its AuthenticationError for a wrong key', async () => {
  const { client } = await scene({ apiKey: 'sk-local-nobody-made-this' })
  const error = await failureOf(client.chat.completions.create(hello))
  expect(error).toBeInstanceOf(OpenAI.AuthenticationError)
  expect(error?.status).toBe(401)
  expect(error?.message).toContain(KEY_UNKNOWN)
})

test('a client throws its NotFoundError for an endpoint that the platform does not have', async () => {
  const { client } = await scene()
  const error = await failureOf(client.embeddings.create({ model: 'gpt-4o-mini', input: 'hello' }))
  expect(error).toBeInstanceOf(OpenAI.NotFoundError)
  expect(error?.status).toBe(404)
  expect(error?.message).toContain('Not found. The platform has no /v1/embeddings.')
  const response = await failureOf(client.responses.create({ model: 'gpt-4o-mini', input: 'hello' }))
  expect(response?.message).toContain('use client.chat.completions (openai)')
})

test('a client throws its BadRequestError for an unknown model', async () => {
  const { client } = await scene()
  const error = await failureOf(client.chat.completions.create({ ...hello, model: 'gpt-4o-mimi' }))
  expect(error).toBeInstanceOf(OpenAI.BadRequestError)
  expect(error?.status).toBe(400)
  expect(error?.message).toContain('\\"gpt-4o-mini\\"?')
})

test('a client can stop a stream in the middle', async () => {
  const { client } = await scene({ text: 'one two three', pace: { tokensPerSecond: 0.001 } })
  const stream = await client.chat.completions.create({ ...hello, stream: true })
  let text = ''
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? ''
    if (text !== '') stream.controller.abort()
  }
  expect(text).toBe('one')
})

test('a client can abort before the first word arrives', async () => {
  const { client } = await scene({ pace: { firstTokenMs: 600_000 } })
  const controller = new AbortController()
  const stream = await client.chat.completions.create({ ...hello, stream: true }, { signal: controller.signal })
  const first = stream[Symbol.asyncIterator]().next()
  controller.abort()
  expect(await first).toEqual({ done: true, value: undefined })
})
