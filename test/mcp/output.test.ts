/** Results of tools that do not fit their outputSchema are reported, in checks of the rules and in the log. */
import { expect, test } from 'vitest'
import { assertReceived } from '../../src/test-runner.js'
import { runInProcess } from '../command.js'
import { platformWith } from '../scene.js'
import { post, session } from './by-hand.js'
import { connected } from './everything.js'

const schema = { type: 'object', properties: { celsius: { type: 'number' } }, required: ['celsius'] }
const tools = [{ name: 'measure', outputSchema: schema }]
const call = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'measure' } }

const NO_CONTENT = 'The result of measure has no structuredContent, which its outputSchema asks for: clients refuse it.'
const NO_FIT = 'The result of measure does not fit its outputSchema: celsius is missing.'

test.each<[reply: Readonly<Record<string, unknown>>, remark: string | null]>([
  [{ text: 'cold' }, NO_CONTENT],
  [{ text: '{"celsius":1}' }, NO_CONTENT],
  [{ content: [{ type: 'text', text: 'cold' }] }, NO_CONTENT],
  [{ structuredContent: { kelvin: 270 } }, NO_FIT],
  [{ structuredContent: { celsius: '{{ arguments.none }}' } }, NO_FIT],
  [{ structuredContent: { celsius: -3 } }, null],
  [{ text: 'broken', isError: true }, null],
])('the result %j is remarked on in the journal: %s', async (reply, remark) => {
  const platform = await platformWith({ mcp: { tools }, rules: [{ on: 'tools/call measure', reply }] })
  const { headers } = await session(platform)
  await (await post(platform, call, headers)).text()
  expect((await platform.journal.last())?.remark).toBe(remark)
})

test('an official client refuses such a result, and one of a version without structured content has no remark', async () => {
  const platform = await platformWith({ mcp: { tools }, rules: [{ on: 'tools/call *', reply: { text: 'cold' } }] })
  const { client } = await connected(platform)
  await client.listTools()
  await expect(client.callTool({ name: 'measure' })).rejects.toThrow(/structured content/)
  const { headers } = await session(platform, '2025-03-26')
  await (await post(platform, call, headers)).text()
  expect((await platform.journal.last())?.remark).toBeNull()
})

test('the remark on a made-up result says which rule is nearest, and a failed test shows it', async () => {
  const rules = [{ on: 'tools/call measure', when: { arguments: { at: 'sea' } }, reply: { text: 'cold' } }]
  const platform = await platformWith({ mcp: { tools: [{ name: 'measure' }] }, rules })
  const { headers } = await session(platform)
  await (await post(platform, call, headers)).text()
  const nearest = 'The nearest is rule "rules[0]": arguments.at is not "sea".'
  expect((await platform.journal.last())?.remark).toBe(nearest)
  await expect(assertReceived(platform, '/health')).rejects.toThrow(`\n    → ${nearest}`)
})

test('config check names the rules and replies that never fit', async () => {
  const tool = (name: string, reply = '') => `{ name: ${name}, outputSchema: ${JSON.stringify(schema)}${reply} }`
  const files = {
    'platform.config.yaml': `replies: rules.yaml\nmcp:\n  tools:\n    - ${tool('measure')}\n    - ${tool('guess', ', reply: { text: warm }')}\n`,
    'rules.yaml': `- on: tools/call meas*
  replies: [{ structuredContent: { celsius: 1 } }, { text: cold }, { error: { code: -1, message: no } }]
- { on: tools/call measure, when: { server: /other }, reply: { text: cold } }
- { on: tools/call measure, reply: { text: '{{ arguments.x }}' } }
`,
  }
  const { stderr } = await runInProcess(['config', 'check'], { files })
  expect(stderr).toContain(`rules.yaml:1: ${NO_CONTENT}\n`)
  expect(stderr).toContain('platform.config.yaml:5: The result of guess has no structuredContent')
})

test('an outputSchema that cannot be used is refused at the start', async () => {
  const broken = { ...tools[0], outputSchema: { $ref: '#/$defs/none' } }
  await expect(platformWith({ mcp: { tools: [broken as never] } })).rejects.toThrow(
    'The outputSchema of the tool measure cannot be used: it refers to "#/$defs/none"',
  )
})
