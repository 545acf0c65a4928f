/** `toHaveCalledTools`: which tools an app has called, over chat, MCP and paths, and in which order. */
import { expect, test } from 'vitest'
import type { RuleInput } from '../../src/index.js'
import { connect } from '../../src/index.js'
import '../../src/vitest.js'
import { connected } from '../mcp/everything.js'
import { platformWith } from '../scene.js'
import { openaiFor } from './asking.js'

const calling = (name: string, given: Record<string, unknown>) => ({ toolCalls: [{ name, arguments: given }] })

/** The model looks at the weather, orders, and answers. */
const rules: RuleInput[] = [
  { when: { user: 'coat', toolResult: false }, reply: calling('mcp__weather__get_weather', { city: 'Oslo' }) },
  { when: { toolResult: { tool: 'mcp__weather__get_weather' } }, reply: calling('order', { what: 'coat' }) },
  { when: { toolResult: { tool: 'order' } }, reply: { text: 'Ordered.' } },
  { when: { user: 'delete' }, reply: calling('delete_order', { id: 1 }) },
  { on: 'tools/call get_weather', reply: { text: 'snow' } },
  { on: 'POST /orders/:what', reply: { json: { ok: true } } },
]

const weather = { name: 'get_weather', inputSchema: { type: 'object' as const } }

/** An app whose agent looks at the weather over MCP, orders over HTTP, and tells the model both. */
async function agent() {
  const platform = await platformWith({ mcp: { tools: [weather] }, rules })
  const { client } = await connected(platform)
  const tool = (name: string, run: (given: Record<string, string>) => unknown) => ({
    type: 'function' as const,
    function: {
      name,
      description: name,
      parameters: { type: 'object' },
      parse: JSON.parse,
      function: async (given: Record<string, string>) => JSON.stringify(await run(given)),
    },
  })
  const tools = [
    tool('mcp__weather__get_weather', given => client.callTool({ name: 'get_weather', arguments: given })),
    tool('order', async ({ what }) => (await platform.ask(`/orders/${what}`, { method: 'POST' })).json()),
  ]
  const answer = (content: string) =>
    openaiFor(platform)
      .chat.completions.runTools({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }], tools })
      .finalContent()
  return { platform, answer }
}

/** The message of a check that fails. */
const failing = async (check: () => unknown): Promise<string> => {
  try {
    await check()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('The check passed.')
}

test('the tools of an agent are checked as it calls them: over MCP, over HTTP, and by itself', async () => {
  const { platform, answer } = await agent()
  expect(await answer('a coat')).toBe('Ordered.')
  for (const one of [platform, await connect(platform.url)]) {
    await expect(one).toHaveCalledTools(['order', 'get_weather'])
    await expect(one).toHaveCalledTools(['mcp__weather__get_weather', 'order'], { order: true, never: ['*'] })
    await expect(one).toHaveCalledTools(['get_*', 'POST /orders/*', 'order'], { order: true })
    await expect(one).not.toHaveCalledTools(['order', 'order'])
    const order = await failing(() => expect(one).toHaveCalledTools(['order', 'get_weather'], { order: true }))
    expect(order).toBe(
      `expect(platform).toHaveCalledTools(…)

Missing in the order 'order', 'get_weather': get_weather.

Calls:
  1. get_weather { city: 'Oslo' } · MCP
  2. order { what: 'coat' } · chat`,
    )
    const never = await failing(() => expect(one).toHaveCalledTools(['order'], { never: ['get_*', '/orders/*'] }))
    expect(never).toContain('Called, but must never be: get_weather, POST /orders/coat.\n')
  }
})

test('a call counts once, however often its conversation is sent, and again if the model asks again', async () => {
  const { platform, answer } = await agent()
  await platform.failNext({ status: 503 }, { when: { toolResult: { tool: 'order' } } })
  await expect(answer('a coat')).rejects.toThrow()
  await expect(platform).toHaveCalledTools(['get_weather', 'order'], { never: ['*'] })
  await answer('a coat')
  await expect(platform).toHaveCalledTools(['get_weather', 'order', 'get_weather', 'order'], {
    order: true,
    never: ['*'],
  })
})

test('a call that the model asked for and the app did not make is not made, and the message says so', async () => {
  const { platform } = await agent()
  const messages = [{ role: 'user' as const, content: 'delete it' }]
  await expect(platform).not.toHaveCalledTools(['delete_order'])
  await openaiFor(platform).chat.completions.create({ model: 'gpt-4o-mini', messages })
  await expect(platform).toHaveCalledTools([], { never: ['delete_*'] })
  const message = await failing(() => expect(platform).toHaveCalledTools(['delete_order']))
  expect(message).toMatch(
    /Missing: delete_order\.\nThe model asked for delete_order, and no request has the result\.\n\nNo tool was called\.\n\nReceived:\n[\s\S]*POST \/v1\/chat\/completions 200/,
  )
  const wrong = await failing(() => expect(platform).toHaveCalledTools([], { nevr: ['x'] } as object))
  expect(wrong).toContain('nevr')
})
