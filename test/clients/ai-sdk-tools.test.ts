/** Tool loops of the AI SDK. */
import { generateText, jsonSchema, stepCountIs, streamText, type ToolSet, tool } from 'ai'
import { expect, test } from 'vitest'
import type { RuleInput } from '../../src/index.js'
import { modelOf } from './clients.js'

const rules: RuleInput[] = [
  {
    when: { user: 'weather', toolResult: false },
    reply: {
      text: 'Let me see.',
      toolCalls: [
        { name: 'weather', arguments: { city: 'Oslo' } },
        { name: 'time', arguments: { zone: 'Europe/Oslo' } },
      ],
    },
  },
  {
    when: { toolResult: { contains: '12:00' } },
    reply: { toolCalls: [{ name: 'weather', arguments: { city: 'Rome' } }] },
  },
  { when: { toolResult: { tool: 'weather' } }, reply: { text: '{{tool.content.sky}} in {{tool.content.city}}.' } },
]

/** Two tools, and the calls they got; the types of the AI SDK do not work with exactOptionalPropertyTypes. */
function noting() {
  const asked: unknown[] = []
  const one = (name: string, of: string, result: (input: Record<string, string>) => unknown) =>
    tool({
      description: `Tells the ${name}`,
      inputSchema: jsonSchema<Record<string, string>>({
        type: 'object',
        properties: { [of]: { type: 'string' } },
        required: [of],
        additionalProperties: false,
      }),
      execute: async input => {
        asked.push([name, input])
        return result(input)
      },
    })
  const weather = one('weather', 'city', ({ city }) => ({ city, sky: 'Rain' }))
  return { asked, tools: { weather, time: one('time', 'zone', () => '12:00') } as unknown as ToolSet }
}

const allCalls = [
  ['weather', { city: 'Oslo' }],
  ['time', { zone: 'Europe/Oslo' }],
  ['weather', { city: 'Rome' }],
]

test('generateText runs a whole tool loop: two tools at once, one more, an answer', async () => {
  const { asked, tools } = noting()
  const model = await modelOf({ rules })
  const { text, steps, finishReason } = await generateText({
    ...{ ...model, tools, prompt: 'What is the weather?' },
    stopWhen: stepCountIs(5),
  })
  expect(text).toBe('Rain in Rome.')
  expect(asked).toEqual(allCalls)
  expect(steps.map(({ finishReason }) => finishReason)).toEqual(['tool-calls', 'tool-calls', 'stop'])
  expect(finishReason).toBe('stop')
})

test('streamText runs a whole tool loop without errors', async () => {
  const { asked, tools } = noting()
  const model = await modelOf({ rules })
  const { fullStream, text, totalUsage } = streamText({
    ...{ ...model, tools, prompt: 'What is the weather?' },
    stopWhen: stepCountIs(5),
  })
  const parts: string[] = []
  for await (const { type } of fullStream) if (parts.at(-1) !== type) parts.push(type)
  expect(asked).toEqual(allCalls)
  expect(await text).toBe('Rain in Rome.')
  expect(parts.filter(type => type === 'finish-step')).toHaveLength(3)
  expect(parts).toContain('tool-input-delta')
  expect(parts).not.toContain('error')
  expect((await totalUsage).inputTokens).toBeGreaterThan(0)
})

test.each([
  ['none', 'none' as const, []],
  ['required', 'required' as const, ['weather', 'time']],
  ['a named tool', { type: 'tool' as const, toolName: 'time' }, ['time']],
])('toolChoice %s decides which tools are called', async (_what, toolChoice, called) => {
  const { tools } = noting()
  const { toolCalls } = await generateText({ ...(await modelOf({ rules })), tools, toolChoice, prompt: 'weather' })
  expect(toolCalls.map(({ toolName }) => toolName)).toEqual(called)
})

test('a required tool is called without a rule, with arguments that fit its schema', async () => {
  const { asked, tools } = noting()
  const { toolCalls } = await generateText({
    ...{ ...(await modelOf({})), tools, prompt: 'What is the time?' },
    toolChoice: 'required',
  })
  expect(toolCalls).toMatchObject([{ toolName: 'time', input: { zone: expect.any(String) } }])
  expect(asked).toHaveLength(1)
})
