import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'
import { all, streams, type Way, wholes, words } from './answers.js'

/** What the client makes of an answer with this fault: its text, or the error that it throws. */
async function clientMeets(fault: string, { options, isStream }: Way, settings: { timeout?: number } = {}) {
  const { url, apiKey } = await platformWith(await options())
  const defaultHeaders = { 'x-standin-fault': fault }
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0, defaultHeaders, ...settings })
  const request = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'hello' }] }
  let text = ''
  try {
    if (!isStream) {
      const { choices } = await openai.chat.completions.create(request)
      text = choices[0]?.message.content ?? ''
    } else {
      for await (const chunk of await openai.chat.completions.create({ ...request, stream: true })) {
        text += chunk.choices[0]?.delta?.content ?? ''
      }
    }
    return { text, error: undefined }
  } catch (error) {
    return { text, error: error as InstanceType<typeof OpenAI.APIError> }
  }
}

test.each(all)("a status is the client's error of that status: %s", async (_name, way) => {
  const limited = await clientMeets('status=429; message=Slow down.', way)
  expect(limited.error).toBeInstanceOf(OpenAI.RateLimitError)
  expect(limited.error).toMatchObject({ status: 429, error: 'Slow down.' })
  const gone = await clientMeets('status=503', way)
  expect(gone.error).toBeInstanceOf(OpenAI.InternalServerError)
})

test.each(all)('a connection that is reset is a connection error: %s', async (_name, way) => {
  const { error } = await clientMeets('reset=before', way)
  expect(error).toBeInstanceOf(OpenAI.APIConnectionError)
})

test.each(all)('an answer that never comes is a timeout: %s', async (_name, way) => {
  const { error } = await clientMeets('hang', way, { timeout: 100 })
  expect(error).toBeInstanceOf(OpenAI.APIConnectionTimeoutError)
})

test.each(streams)(
  'an error event is thrown in mid-stream, after the text that came before: %s',
  async (_name, way) => {
    const { text, error } = await clientMeets('errorAfterChunks=3; message=Out of memory.', way)
    expect(text).toBe('one two')
    expect(error).toBeInstanceOf(OpenAI.APIError)
    expect(error?.message).toBe('Out of memory.')
  },
)

test.each(streams)('a stream that is cut is thrown after the text that came before: %s', async (_name, way) => {
  for (const fault of ['cutAfterChunks=3', 'stallAfterChunks=3; stallMs=20; cutAfterChunks=3']) {
    const { text, error } = await clientMeets(fault, way)
    expect(text).toBe('one two')
    expect(error?.message).toBe('terminated')
  }
})

test.each(streams)('a malformed chunk is thrown where it stands: %s', async (_name, way) => {
  const { text, error } = await clientMeets('malformedChunk=4', way)
  expect(text).toBe('one two')
  expect(error).toBeInstanceOf(SyntaxError)
})

test.each(streams)('the client can do without [DONE], and with two of them: %s', async (_name, way) => {
  expect(await clientMeets('done=missing', way)).toEqual({ text: words, error: undefined })
  expect(await clientMeets('done=double', way)).toEqual({ text: words, error: undefined })
})

test.each(wholes)('JSON that ends in its middle is thrown: %s', async (_name, way) => {
  expect((await clientMeets('truncate', way)).error).toBeInstanceOf(SyntaxError)
})

test.each(wholes)('an answer that says it is text is taken for one: %s', async (_name, way) => {
  const { error } = await clientMeets('contentType=text/plain', way)
  expect(error).toBeInstanceOf(TypeError)
})

test('the client retries, and waits for as long as Retry-After says', async () => {
  const { url, apiKey, failNext } = await platformWith({ rules: [{ reply: { text: 'At last.' } }] })
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 2 })
  failNext({ status: 429, retryAfter: 1 })
  const startMs = performance.now()
  const messages = [{ role: 'user' as const, content: 'hello' }]
  const { choices } = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages })
  expect(choices[0]?.message.content).toBe('At last.')
  expect(performance.now() - startMs).toBeGreaterThan(999)
})

test('the client gives up after its retries', async () => {
  const { url, apiKey, failNext } = await platformWith()
  const openai = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 1 })
  failNext({ status: 500, retryAfter: 0 }, { times: 2 })
  await expect(openai.models.list()).rejects.toThrow(OpenAI.InternalServerError)
  expect((await openai.models.list()).data.length).toBeGreaterThan(0)
})
