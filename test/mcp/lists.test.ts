/** What servers offer changes with the configuration, while clients listen. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { folderWith } from '../command.js'
import { control } from '../http/controlled.js'
import { platformWith, type Scene } from '../scene.js'

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

const config = (...tools: readonly string[]) =>
  `port: 0\nstate: memory\nmcp: { tools: [${tools.map(name => `{ name: ${name} }`).join(', ')}] }\n`

test.each(['legacy', 'auto'] as const)(
  'a client in mode %s is notified of a tool that a reload has added',
  async mode => {
    const dir = folderWith({ 'platform.config.yaml': config('get_weather') })
    const platform = await openPlatform({ cwd: dir })
    onTestFinished(() => platform.stop())
    const { client, changed } = await listener({ url: platform.url, apiKey: platform.apiKey ?? '' }, mode)
    // In a session, the client opens its stream for notifications once it has connected.
    await expect.poll(() => platform.forTests.traffic.pending()).toBeGreaterThan(0)
    writeFileSync(path.join(dir, 'platform.config.yaml'), config('get_weather', 'get_time'))
    await platform.reload()
    expect(await changed).toEqual(['get_weather', 'get_time'])
    expect(await client.callTool({ name: 'get_time' })).toMatchObject({ content: [{ text: 'get_time({})' }] })
  },
)

test('the control API lists servers with what they offer', async () => {
  const platform = await platformWith({ mcp: { '/one': { tools: [{ name: 'look' }] }, '/two': {} } })
  expect((await control(platform, 'GET /mcp')).body).toMatchObject({
    data: [
      { path: '/one', name: 'standin', tools: [{ name: 'look' }], prompts: [] },
      { path: '/two', tools: [], resources: [], resourceTemplates: [] },
    ],
  })
})
