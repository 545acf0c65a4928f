import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { APICallError, generateText, streamText } from 'ai'
import { expect, test } from 'vitest'
import { platformWith } from '../scene.js'
import { KEY_UNKNOWN } from '../sentences.js'

/** A request with a model of the AI SDK, on a platform that replies "Hi there!". */
async function scene({ apiKey = '', model = 'gpt-4o-mini', pace = {} } = {}) {
  const rules = [{ when: { user: 'hello' }, reply: { text: 'Hi there!' }, pace }]
  const platform = await platformWith({ requests: 'strict', rules })
  const provider = createOpenAICompatible({
    name: 'standin',
    baseURL: `${platform.url}/v1`,
    apiKey: apiKey || platform.apiKey,
    includeUsage: true,
  })
  return { model: provider(model), prompt: 'hello', maxRetries: 0 }
}

test('generateText gets a whole reply', async () => {
  const { text, finishReason, usage, response } = await generateText(await scene())
  expect(text).toBe('Hi there!')
  expect(finishReason).toBe('stop')
  expect(usage).toMatchObject({ inputTokens: 9, outputTokens: 3, totalTokens: 12 })
  expect(response.modelId).toBe('gpt-4o-mini')
})

test('generateText with instructions, a temperature and a seed gets a reply', async () => {
  const { text } = await generateText({ ...(await scene()), system: 'Be brief.', temperature: 0.5, seed: 3, topP: 0.9 })
  expect(text).toBe('Hi there!')
})

test('streamText gets the reply in pieces', async () => {
  const { textStream, finishReason, usage } = streamText(await scene())
  const pieces: string[] = []
  for await (const piece of textStream) pieces.push(piece)
  expect(pieces).toEqual(['Hi', ' there!'])
  expect(await finishReason).toBe('stop')
  expect(await usage).toMatchObject({ inputTokens: 9, outputTokens: 3, totalTokens: 12 })
})

test('streamText can be aborted before the first word arrives', async () => {
  const stop = new AbortController()
  const aborts: unknown[] = []
  const { fullStream } = streamText({
    ...(await scene({ pace: { firstTokenMs: 600_000 } })),
    abortSignal: stop.signal,
    onAbort: event => void aborts.push(event),
  })
  for await (const part of fullStream) {
    expect(part.type).not.toBe('text-delta')
    if (part.type === 'start') stop.abort()
  }
  expect(aborts).toHaveLength(1)
})

test.each([
  ['a wrong key', { apiKey: 'sk-local-nobody-made-this' }, 401, KEY_UNKNOWN],
  ['an unknown model', { model: 'gpt-4o-mimi' }, 400, '\\"gpt-4o-mini\\"?'],
])('the AI SDK gets the reason for %s, in an error that is not retryable', async (_what, wrong, status, sentence) => {
  const error = await generateText(await scene(wrong)).catch(error => error)
  expect(APICallError.isInstance(error)).toBe(true)
  expect(error).toMatchObject({ statusCode: status, isRetryable: false })
  expect(error.responseBody).toContain(sentence)
})
