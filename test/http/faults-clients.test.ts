import OpenAI from 'openai'
import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'
import { all, streams, type Way, wholes, words } from './answers.js'

/** What the client gets from an answer with this fault: the text, and the error that it throws. */
async function clientResult(fault: string, { options, isStream }: Way, settings: { timeout?: number } = {}) {
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

test.each(all)("statuses, resets and hangs become the client's own errors: %s", async (_name, way) => {
  const limited = await clientResult('status=429; message=Slow down.', way)
  expect(limited.error).toBeInstanceOf(OpenAI.RateLimitError)
  expect(limited.error).toMatchObject({ status: 429, error: 'Slow down.' })
  expect((await clientResult('status=503', way)).error).toBeInstanceOf(OpenAI.InternalServerError)
  expect((await clientResult('reset=before', way)).error).toBeInstanceOf(OpenAI.APIConnectionError)
  const late = await clientResult('hang', way, { timeout: 100 })
  expect(late.error).toBeInstanceOf(OpenAI.APIConnectionTimeoutError)
})

test.each(streams)('a stream that fails throws after the text before it: %s', async (_name, way) => {
  const failures = [
    ['errorAfterChunks=3; message=Out of memory.', OpenAI.APIError, 'Out of memory.'],
    ['cutAfterChunks=3', Error, 'terminated'],
    ['stallAfterChunks=3; stallMs=20; cutAfterChunks=3', Error, 'terminated'],
    ['malformedChunk=4', SyntaxError, expect.any(String)],
  ] as const
  for (const [fault, type, message] of failures) {
    const { text, error } = await clientResult(fault, way)
    expect([fault, text, error?.message]).toEqual([fault, 'one two', message])
    expect(error).toBeInstanceOf(type)
  }
  expect(await clientResult('done=missing', way)).toEqual({ text: words, error: undefined })
  expect(await clientResult('done=double', way)).toEqual({ text: words, error: undefined })
})

test.each(wholes)('truncated JSON throws, and text/plain is no completion: %s', async (_name, way) => {
  expect((await clientResult('truncate', way)).error).toBeInstanceOf(SyntaxError)
  expect((await clientResult('contentType=text/plain', way)).error).toBeInstanceOf(TypeError)
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
