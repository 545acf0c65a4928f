import { readFileSync } from 'node:fs'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import '../../src/vitest.js'
import { folderWith } from '../command.js'
import { platformWith } from '../scene.js'
import { connected } from './everything.js'

/** The page without the agent, whose files are tested in an app. */
const [page = ''] = readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8').split(
  '\n## An agent with tools\n',
)

/** The examples in a language, in order. */
const blocksOf = (language: 'yaml' | 'ts') =>
  [...page.matchAll(/^```(\w+)\n(.*?)^```/gms)].flatMap(([, name, text = '']) => (name === language ? [text] : []))

test('the example in docs/mcp.md works with a client', async () => {
  const [config = '', ...rules] = blocksOf('yaml')
  const dir = folderWith({ 'platform.config.yaml': config, 'fixtures/replies/mcp.yaml': rules.join('\n') })
  const platform = await platformWith({ config: `${dir}/platform.config.yaml`, port: 0, state: 'memory' })
  const { client } = await connected(platform, { capabilities: { elicitation: {} } })
  const weather = (city: string) => client.callTool({ name: 'get_weather', arguments: { city } })

  expect(client.getInstructions()).toBe('Ask get_weather before you talk about the weather.')
  expect(await weather('Oslo')).toEqual({
    structuredContent: { celsius: -3 },
    content: [{ type: 'text', text: '{"celsius":-3}' }],
  })
  expect(await weather('Bergen')).toMatchObject({ structuredContent: { celsius: 9 } })
  expect(await weather('Bergen')).toMatchObject({
    isError: true,
    content: [{ text: 'Too many questions about Bergen.' }],
  })
  expect(await weather('Rome')).toMatchObject({ structuredContent: { celsius: expect.any(Number) } })
  const { messages } = await client.getPrompt({ name: 'greet', arguments: { who: 'Ada' } })
  expect(messages).toEqual([{ role: 'user', content: { type: 'text', text: 'Say hello to Ada.' } }])
  const ref = { type: 'ref/prompt', name: 'greet' } as const
  const { completion } = await client.complete({ ref, argument: { name: 'who', value: 'g' } })
  expect(completion.values).toEqual(['Grace'])

  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    expect(params.message).toBe('Which city?')
    return { action: 'accept', content: { name: 'Lima' } }
  })
  expect(await weather('somewhere')).toMatchObject({ content: [{ text: 'It is 21 degrees in Lima.' }] })
})

test('the examples for tests in docs/mcp.md pass', async () => {
  const [config = ''] = blocksOf('yaml')
  const dir = folderWith({ 'platform.config.yaml': config })
  const platform = await platformWith({ config: `${dir}/platform.config.yaml`, port: 0, state: 'memory' })
  const { client } = await connected(platform)
  const call = async () => client.callTool({ name: 'get_weather', arguments: { city: 'Oslo' } })
  const AsyncFunction = call.constructor as FunctionConstructor
  const [calling, ...others] = blocksOf('ts')
  expect(calling).toContain('// …')
  for (const snippet of [calling?.replace('// …', 'await call()') ?? '', ...others])
    await new AsyncFunction('platform', 'expect', 'call', snippet)(platform, expect, call)
})
