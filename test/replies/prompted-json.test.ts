import { StructuredOutputParser } from '@langchain/core/output_parsers'
import type { ChatCompletion } from 'openai/resources/chat/completions'
import { expect, test } from 'vitest'
import { z } from 'zod/v4'
import { hello, platformWith } from '../scene.js'

/** The JSON with which a platform without rules answers a prompt. */
async function jsonFor(prompt: string, response_format: object = { type: 'json_object' }) {
  const { chat } = await platformWith()
  const response = await chat({ ...hello, messages: [{ role: 'user', content: prompt }], response_format })
  expect(response.status).toBe(200)
  const { choices } = (await response.json()) as ChatCompletion
  return JSON.parse(choices[0]?.message.content ?? '')
}

test('the JSON has the shape of the last example in the prompt', async () => {
  const json = await jsonFor(
    'Not {"a": 1} but {"mood": "good|bad", "marks": [{"of": "Bo", "mark": 2}], "sure": true, "why": "…"}, please.',
  )
  expect(json).toEqual({
    mood: expect.stringMatching(/^(good|bad)$/),
    marks: expect.arrayContaining([{ of: expect.any(String), mark: expect.any(Number) }]),
    sure: expect.any(Boolean),
    why: expect.any(String),
  })
})

test.each([
  ['a stray quote', 'On a 5" screen, so {"size":5}', ['size']],
  ['an example that is not finished', '{"a": {"x": 1}, "b": {"y": 2}, and so on', ['y']],
  ['an example that is no JSON', '{"name": "Ada"} or {"name": Ada, "age": 36}', ['name']],
])('%s does not hide the other examples', async (_, prompt, keys) => {
  expect(Object.keys(await jsonFor(`JSON: ${prompt}`))).toEqual(keys)
})

test('a prompt that only looks like JSON is read in one pass', async () => {
  const { chat } = await platformWith()
  const timeFor = async (part: string) => {
    const content = `JSON ${'{"a":1,'.repeat(45)}${part.repeat(20_000 / part.length)}`
    const start = performance.now()
    await chat({ ...hello, messages: [{ role: 'user', content }], response_format: { type: 'json_object' } })
    return performance.now() - start
  }
  await timeFor(' ')
  for (const part of ['\\"', '{"', '{"a":[', '{"{":1,', '{"a":"', '":{"', '{"a":{"b":1},', '{ '])
    expect(await timeFor(part)).toBeLessThan(1000)
})

test('the JSON has the keys that are quoted in the prompt', async () => {
  expect(Object.keys(await jsonFor('Answer as JSON with "name" and `age`.'))).toEqual(['name', 'age'])
})

test('a schema in the prompt is recognised even after an example of a schema', async () => {
  const schema = z.object({
    kind: z.enum(['cat', 'dog']),
    legs: z.number().int().min(3).max(4),
    owner: z.object({ email: z.email() }),
  })
  const parser = StructuredOutputParser.fromZodSchema(schema)
  const json = await jsonFor(`A pet, please.\n${parser.getFormatInstructions()}`)
  expect(schema.parse(json)).toEqual(json)
})

test('a schema in the prompt may leave out its type, as that of a Python library does', async () => {
  const schema = { properties: { mark: { type: 'integer', minimum: 1, maximum: 6 } }, required: ['mark'] }
  const { mark } = await jsonFor(`Here is the output schema:\n\`\`\`\n${JSON.stringify(schema)}\n\`\`\``)
  expect([1, 2, 3, 4, 5, 6]).toContain(mark)
})

test('a schema in the prompt that no value fits is still answered with JSON', async () => {
  const schema = {
    type: 'object',
    properties: { mark: { type: 'integer', minimum: 2, maximum: 1 } },
    required: ['mark'],
  }
  expect(await jsonFor(JSON.stringify(schema))).toEqual({ answer: expect.any(String) })
})
