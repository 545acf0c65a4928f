/** Objects of the AI SDK, finish reasons and errors. */
import {
  APICallError,
  generateObject,
  generateText,
  jsonSchema,
  Output,
  RetryError,
  stepCountIs,
  streamObject,
  streamText,
  type ToolSet,
  tool,
} from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod/v4'
import type { RuleInput } from '../../src/index.js'
import { modelOf } from './clients.js'

const modelReplying = (reply: RuleInput['reply']) => modelOf({ rules: [{ reply }] })

const schema = z.object({
  recipe: z.object({
    name: z.string(),
    minutes: z.number().int().min(5).max(90),
    level: z.enum(['easy', 'hard']),
    steps: z.array(z.string()).min(2),
    note: z.string().optional(),
  }),
})

/** Without structured outputs the AI SDK relies on a schema in the prompt. */
const promptWithSchema = `A recipe for soup. JSON schema: ${JSON.stringify(z.toJSONSchema(schema))}`

test.each([
  ['as structured outputs', { supportsStructuredOutputs: true }, 'A recipe for soup.'],
  ['as JSON with the schema in the prompt', { supportsStructuredOutputs: false }, promptWithSchema],
])('generateObject and streamObject read generated objects %s', async (_what, settings, prompt) => {
  // OpenAI itself refuses a strict schema with an optional property.
  const request = { ...(await modelOf({ requests: 'warn' }, settings)), schema, prompt }
  const whole = await generateObject(request)
  expect(schema.parse(whole.object)).toEqual(whole.object)
  const streamed = streamObject(request)
  let partial: unknown
  for await (const object of streamed.partialObjectStream) partial = object
  expect(partial).toEqual(whole.object)
  expect(await streamed.object).toEqual(whole.object)
})

test('lists and choices are generated too', async () => {
  const model = await modelOf({})
  const list = await generateObject({
    ...model,
    output: 'array',
    schema: z.object({ name: z.string() }),
    prompt: 'Three.',
  })
  expect(list.object[0]).toEqual({ name: expect.any(String) })
  const choice = await generateObject({ ...model, output: 'enum', enum: ['yes', 'no'], prompt: 'Well?' })
  expect(['yes', 'no']).toContain(choice.object)
})

test('generateObject without a schema reads JSON', async () => {
  const { object } = await generateObject({
    ...(await modelOf({})),
    output: 'no-schema',
    prompt: 'JSON with a "name".',
  })
  expect(object).toEqual({ name: expect.anything() })
})

test('Output.object reads the JSON of a rule, whole, streamed and after a tool call', async () => {
  // The types of the AI SDK do not work with exactOptionalPropertyTypes.
  const weather = tool({ inputSchema: jsonSchema({ type: 'object' }), execute: async () => 'Rain' })
  const tools = { weather } as unknown as ToolSet
  const json = { recipe: { name: '{{user}}', minutes: 10, level: 'easy', steps: ['Cut', 'Cook'] } }
  const model = await modelOf({
    requests: 'warn',
    rules: [
      {
        when: { toolResult: false, user: 'weather' },
        reply: { toolCalls: [{ name: 'weather', arguments: { city: 'Oslo' } }] },
      },
      { reply: { json } },
    ],
  })
  const output = Output.object({ schema })
  const cooked = { ...json.recipe, name: 'Soup' }
  expect((await generateText({ ...model, output, prompt: 'Soup' })).output).toEqual({ recipe: cooked })
  expect(await streamText({ ...model, output, prompt: 'Soup' }).output).toEqual({ recipe: cooked })
  const afterTool = await generateText({
    ...model,
    output,
    tools,
    prompt: 'Soup for the weather',
    stopWhen: stepCountIs(3),
  })
  expect(afterTool.output.recipe.name).toBe('Soup for the weather')
})

test.each([
  ['length', { text: 'one two three four five' }, { maxOutputTokens: 2 }],
  ['content-filter', { text: 'one', finishReason: 'content_filter' as const }, {}],
  ['stop', { text: 'one' }, {}],
])('the AI SDK reports the finish reason %s, whole and streamed', async (finishReason, reply, more) => {
  const request = { ...(await modelReplying(reply)), ...more, prompt: 'count' }
  expect((await generateText(request)).finishReason).toBe(finishReason)
  expect(await streamText(request).finishReason).toBe(finishReason)
})

test('the AI SDK reads reasoning and its tokens, and streams it before the text', async () => {
  const thinking = { text: 'Four.', reasoning: 'Two and two.', usage: { promptTokens: 100, cachedTokens: 80 } }
  const cost = {
    inputTokenDetails: { cacheReadTokens: 80, noCacheTokens: 20 },
    outputTokens: 5,
    outputTokenDetails: { reasoningTokens: 3, textTokens: 2 },
  }
  const request = { ...(await modelReplying(thinking)), prompt: 'hello' }
  expect(await generateText(request)).toMatchObject({ text: 'Four.', reasoningText: 'Two and two.', usage: cost })
  const streamed = streamText(request)
  const parts: string[] = []
  for await (const part of streamed.fullStream) {
    if (part.type === 'reasoning-delta' || part.type === 'text-delta') parts.push(`${part.type} ${part.text}`)
  }
  expect(parts).toEqual(['reasoning-delta Two', 'reasoning-delta  and', 'reasoning-delta  two.', 'text-delta Four.'])
  expect(await streamed.usage).toMatchObject(cost)
})

const busy = { fault: { status: 503, message: 'busy', retryAfter: 0 } }

test('the AI SDK retries up to maxRetries, then throws a RetryError', async () => {
  const patient = await modelOf({ rules: [{ replies: [busy, { text: 'At last.' }] }] })
  expect((await generateText({ ...patient, maxRetries: 1, prompt: 'hi' })).text).toBe('At last.')
  const never = await modelReplying(busy)
  const error = await generateText({ ...never, maxRetries: 1, prompt: 'hi' }).catch(error => error)
  expect(RetryError.isInstance(error)).toBe(true)
  expect(error.lastError).toMatchObject({ statusCode: 503, isRetryable: true })
})

test('an error in the middle of a stream reaches onError', async () => {
  const model = await modelReplying({
    text: 'one two three',
    fault: { fail: 3, message: 'The model is gone.' },
  })
  const errors: unknown[] = []
  const { fullStream } = streamText({ ...model, prompt: 'count', onError: ({ error }) => void errors.push(error) })
  let text = ''
  for await (const part of fullStream) if (part.type === 'text-delta') text += part.text
  expect(text).toBe('one two')
  expect(errors).toEqual([expect.objectContaining({ message: 'The model is gone.' })])
})

test('a refused request throws an APICallError with status and body', async () => {
  const model = await modelReplying({ fault: { status: 400, message: 'Too odd.' } })
  const error = await generateText({ ...model, prompt: 'hi' }).catch(error => error)
  expect(APICallError.isInstance(error)).toBe(true)
  expect(error).toMatchObject({ statusCode: 400, isRetryable: false, responseBody: '{"error":"Too odd."}' })
})
