import OpenAI from 'openai'
import OpenAI4 from 'openai-v4'
import OpenAI5 from 'openai-v5'
import { expect, test } from 'vitest'
import { platformWith, hello as request } from '../scene.js'
import { KEY_UNKNOWN } from '../sentences.js'

const hello = { ...request, messages: [{ role: 'user' as const, content: 'hello' }] }

// The older majors differ from the newest only in types that no test here uses.
const majors: [major: string, Client: typeof OpenAI][] = [
  ['openai 6', OpenAI],
  ['openai 5', OpenAI5 as unknown as typeof OpenAI],
  ['openai 4', OpenAI4 as unknown as typeof OpenAI],
]

/** A platform with one reply, and a client for it. */
async function scene(Client: typeof OpenAI, { text = 'Hi there!', pace = {}, apiKey = '' } = {}) {
  const platform = await platformWith({ rules: [{ reply: { text }, pace }] })
  const client = new Client({ baseURL: `${platform.url}/v1`, apiKey: apiKey || platform.apiKey })
  // The stream helper of version 4 is still under `beta`.
  const chat = Client === majors[2]?.[1] ? (client as unknown as { beta: OpenAI }).beta.chat : client.chat
  return { client, streams: chat.completions }
}

const failureOf = (promise: PromiseLike<unknown>) =>
  Promise.resolve(promise).then(
    () => undefined,
    (error: InstanceType<typeof OpenAI.APIError>) => error,
  )

test.each(majors)('%s gets a whole reply', async (_major, Client) => {
  const { client } = await scene(Client)
  const completion = await client.chat.completions.create(hello)
  expect(completion.choices[0]?.message).toEqual({ role: 'assistant', content: 'Hi there!', refusal: null })
  expect(completion.usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 })
})

test.each(majors)('%s gets a stream', async (_major, Client) => {
  const { client } = await scene(Client)
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

test.each(majors)('the stream helper of %s assembles the reply', async (_major, Client) => {
  const { streams } = await scene(Client)
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

test.each(majors)('%s lists the models', async (_major, Client) => {
  const { client } = await scene(Client)
  const ids: string[] = []
  for await (const { id, object } of client.models.list()) {
    expect(object).toBe('model')
    ids.push(id)
  }
  expect(ids).toHaveLength(5)
  expect(ids[0]).toBe('gpt-4o-mini')
})

test.each(majors)('%s throws its AuthenticationError for a wrong key', async (_major, Client) => {
  const { client } = await scene(Client, { apiKey: 'sk-local-nobody-made-this' })
  const error = await failureOf(client.chat.completions.create(hello))
  expect(error).toBeInstanceOf(Client.AuthenticationError)
  expect(error?.status).toBe(401)
  expect(error?.message).toContain(KEY_UNKNOWN)
})

test.each(majors)(
  '%s throws its NotFoundError for an endpoint that the platform does not have',
  async (_major, Client) => {
    const { client } = await scene(Client)
    const error = await failureOf(client.embeddings.create({ model: 'gpt-4o-mini', input: 'hello' }))
    expect(error).toBeInstanceOf(Client.NotFoundError)
    expect(error?.status).toBe(404)
    expect(error?.message).toContain('Not found.')
  },
)

test.each(majors)('%s throws its BadRequestError for an unknown model', async (_major, Client) => {
  const { client } = await scene(Client)
  const error = await failureOf(client.chat.completions.create({ ...hello, model: 'gpt-4o-mimi' }))
  expect(error).toBeInstanceOf(Client.BadRequestError)
  expect(error?.status).toBe(400)
  expect(error?.message).toContain('\\"gpt-4o-mini\\"?')
})

test.each(majors)('%s can stop a stream in the middle', async (_major, Client) => {
  const { client } = await scene(Client, { text: 'one two three', pace: { tokensPerSecond: 0.001 } })
  const stream = await client.chat.completions.create({ ...hello, stream: true })
  let text = ''
  for await (const chunk of stream) {
    text += chunk.choices[0]?.delta.content ?? ''
    if (text !== '') stream.controller.abort()
  }
  expect(text).toBe('one')
})

test.each(majors)('%s can abort before the first word arrives', async (_major, Client) => {
  const { client } = await scene(Client, { pace: { firstTokenMs: 600_000 } })
  const controller = new AbortController()
  const stream = await client.chat.completions.create({ ...hello, stream: true }, { signal: controller.signal })
  const first = stream[Symbol.asyncIterator]().next()
  controller.abort()
  expect(await first).toEqual({ done: true, value: undefined })
})
