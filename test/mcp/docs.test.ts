import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { folderWith } from '../command.js'
import { platformWith } from '../scene.js'
import { connected } from './everything.js'

/** The YAML of docs/mcp.md, in its order. */
const blocks = [
  ...readFileSync(new URL('../../docs/mcp.md', import.meta.url), 'utf8').matchAll(/^```yaml\n(.*?)^```/gms),
].map(([, yaml = '']) => yaml)

test('the example of the documentation works with a client', async () => {
  const [config = '', ...rules] = blocks
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
})
