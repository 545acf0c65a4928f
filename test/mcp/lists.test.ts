/** Changes what servers offer while clients listen. */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/index.js'
import { openPlatform } from '../../src/platform.js'
import { control } from '../http/controlled.js'
import { platformWith, type Scene } from '../scene.js'
import { didYouMean } from '../sentences.js'
import { connected } from './everything.js'

const weather = { name: 'get_weather', description: 'The weather in a city.' }
const time = { name: 'get_time', description: 'The time of day.' }

const withTools = (mcp: object = { tools: [weather] }) => platformWith({ mcp })

const namesOf = (tools: readonly { readonly name: string }[] | null) => tools?.map(({ name }) => name)

/** A client that is notified of changes, and the list of tools that it then reads. */
async function listener({ url, apiKey }: Pick<Scene, 'url' | 'apiKey'>, mode: 'auto' | 'legacy') {
  let notify: (names: readonly string[] | undefined) => void
  const changed = new Promise<readonly string[] | undefined>(resolve => {
    notify = resolve
  })
  const client = new Client(
    { name: 'test', version: '1.0.0' },
    { versionNegotiation: { mode }, listChanged: { tools: { onChanged: (_, tools) => notify(namesOf(tools)) } } },
  )
  onTestFinished(() => client.close())
  const requestInit = { headers: { authorization: `Bearer ${apiKey}` } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${url}/mcp`), { requestInit }))
  return { client, changed }
}

test.each(['legacy', 'auto'] as const)('a client in mode %s is notified of a new tool', async mode => {
  const options = { mcp: { tools: [weather] }, port: 0, state: 'memory' }
  const flags = Object.entries(options).map(([name, value]) => ({ path: [name], value, origin: 'test' }))
  const platform = await openPlatform({ cwd: '.', file: false, flags })
  onTestFinished(() => platform.stop())
  const { client, changed } = await listener({ url: platform.url, apiKey: platform.apiKey ?? '' }, mode)
  // In a session, the client opens its stream for notifications once it has connected.
  await expect.poll(() => platform.forTests.traffic.pending()).toBeGreaterThan(0)
  const lists = await platform.mcp()
  await lists.change('/mcp', { tools: [{ ...time, inputSchema: { type: 'object' } }] }, '')
  expect(await changed).toEqual(['get_weather', 'get_time'])
  expect(await client.callTool({ name: 'get_time' })).toMatchObject({ content: [{ text: 'get_time({})' }] })
})

test('items are replaced in place, added and removed, and a reset restores them', async () => {
  const platform = await withTools({
    tools: [weather, time],
    resources: [{ uri: 'docs://readme', text: 'Read me.' }],
    prompts: [{ name: 'greet' }],
  })
  await platform.mcp.change({
    tools: [{ ...weather, description: 'Changed.' }],
    resources: [{ uri: 'docs://more', text: 'More.' }],
    remove: { tools: ['get_time'], prompts: ['greet'] },
  })
  const { client } = await connected(platform)
  expect((await client.listTools()).tools).toMatchObject([{ name: 'get_weather', description: 'Changed.' }])
  expect(await client.readResource({ uri: 'docs://more' })).toMatchObject({ contents: [{ text: 'More.' }] })
  expect((await client.listPrompts()).prompts).toEqual([])
  await platform.reset()
  expect(await platform.mcp.server()).toMatchObject({ tools: [weather, time], prompts: [{ name: 'greet' }] })
})

test('a scope has its own changes', async () => {
  const platform = await withTools()
  const scope = platform.scope('one')
  await platform.mcp.change({ tools: [time] })
  await scope.mcp.change({ remove: { tools: ['get_weather'] } })
  expect(namesOf((await platform.mcp.server()).tools)).toEqual(['get_weather', 'get_time'])
  expect(namesOf((await scope.mcp.server()).tools)).toEqual(['get_time'])
  await scope.reset()
  expect(namesOf((await scope.mcp.server()).tools)).toEqual(['get_weather', 'get_time'])
})

test('changes work from another process, and can be undone for one server', async () => {
  const scene = await withTools({ '/one': { tools: [weather] }, '/two': {} })
  const platform = await connect(scene.url)
  await platform.mcp.change({ tools: [time] }, '/two')
  expect(namesOf((await platform.mcp.server('/two')).tools)).toEqual(['get_time'])
  await expect(platform.mcp.change({})).rejects.toThrow('Name the MCP server. Known: /one, /two.')
  expect(await control(scene, 'POST /mcp/%2Ftwo/restore')).toMatchObject({ status: 200, body: { tools: [] } })
  expect((await platform.mcp.server('/two')).tools).toEqual([])
})

test.each([
  [{ tools: [{ ...weather, nam: 'x' }] }, /tools\[0\]\.nam .*"name"\?/],
  [{ tools: [weather, weather] }, /a list without two tools of the same name/],
  [{ tools: [{ ...weather, reply: { text: 'Hi.' } }] }, /reply is not known here\. To set an answer, add a rule/],
  [{ tools: [{ ...weather, inputSchema: { type: 'object', pattern: '(' } }] }, /inputSchema of the tool get_weather/],
  [{ remove: { tools: ['get_wether'] } }, / tool "get_wether"\..* "get_weather"\?/],
])('%j is refused, and changes nothing', async (changes, sentence) => {
  const platform = await withTools()
  await expect(platform.mcp.change(changes as never)).rejects.toThrow(sentence)
  await expect((await connect(platform.url)).mcp.change(changes as never)).rejects.toThrow(sentence)
  expect((await platform.mcp.server()).tools).toMatchObject([weather])
})

test('changing an unknown server is refused', async () => {
  const platform = await withTools()
  const there = `There is no MCP server at "/mpc".${didYouMean('/mcp')}`
  await expect(platform.mcp.change({ tools: [time] }, '/mpc')).rejects.toThrow(there)
})
