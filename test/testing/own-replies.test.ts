/** What a test has prepared itself answers in every mode, and the rest comes from where the mode says. */
import { expect, test } from 'vitest'
import { connect, type PlatformOptions, type RuleInput } from '../../src/index.js'
import { liveWith, saying, tape } from '../recordings/live.js'
import { hello } from '../scene.js'

const morning = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'good morning' }] }

const contentOf = async (response: Response) => {
  const { choices } = (await response.json()) as typeof spoken
  return choices[0]?.message.content
}

const spoken = { choices: [{ message: { role: 'assistant', content: 'Live.' } }] }

async function scene() {
  let asked = 0
  const live = await liveWith((request, response) => {
    asked++
    return saying(spoken)(request, response)
  })
  return { ...tape(live.url), upstream: { baseUrl: live.url, apiKey: 'sk-live' }, asked: () => asked }
}

test('a reply of the test answers while its run is recorded and replayed; it is not recorded, not a miss, and counted', async () => {
  const { recording, replaying, files, asked } = await scene()
  for (const start of [recording, replaying]) {
    const platform = await start()
    const reply = await platform.reply('Hi there!', { when: { user: /good morning/ } })
    expect(await contentOf(await platform.chat(morning))).toBe('Hi there!')
    expect(await contentOf(await platform.chat(hello))).toBe('Live.')
    expect(await reply.count).toBe(1)
    await platform.expectNoMisses()
    expect(await platform.receipt()).toMatchObject({ own: 1, missed: 0, unused: [] })
    await platform.stop()
  }
  expect(files()).toHaveLength(1)
  expect(asked()).toBe(1)
})

test.each(['reply', 'rules'])(
  'so does a reply for a path, by %s, beside what the live platform has there',
  async by => {
    const { recording, asked } = await scene()
    const rule: RuleInput = { on: 'POST /deploy', when: { body: { to: 'eu' } }, reply: { json: { by: 'test' } } }
    const options: PlatformOptions = by === 'rules' ? { rules: [rule] } : {}
    const platform = await recording(options)
    if (by === 'reply') await platform.reply(rule)
    const deploy = async (to: string) => {
      const headers = { 'content-type': 'application/json' }
      return (await platform.ask('/deploy', { method: 'POST', headers, body: JSON.stringify({ to }) })).json()
    }
    expect(await deploy('eu')).toEqual({ by: 'test' })
    expect(await deploy('us')).toEqual(spoken)
    expect(asked()).toBe(1)
    expect(await platform.receipt()).toMatchObject({ own: 1, passed: 1 })
  },
)

test('in mode proxy, rules in the options of a test answer, and their faults damage live answers', async () => {
  const { recording } = await scene()
  const rules: RuleInput[] = [
    { when: { user: 'good morning' }, reply: { text: 'Hi there!' } },
    { when: { user: 'hello' }, reply: { fault: { cutBytes: 5 } } },
  ]
  const platform = await recording({ mode: 'proxy', rules })
  expect(await contentOf(await platform.chat(morning))).toBe('Hi there!')
  const response = await platform.chat(hello)
  await expect(response.text()).rejects.toThrow()
})

test('replies for MCP are refused where no server is emulated, since sessions belong to the server that began them', async () => {
  const { recording } = await scene()
  const platform = await recording({ mcp: { '/mcp': { tools: [{ name: 'look' }] } } })
  const sentence =
    'the rule: Replies for MCP answer in mode emulate only, since a session belongs to the server that began it, and /mcp is in mode record. Set modes: { "/mcp": "emulate" }.'
  await expect(platform.mcp.tool('look').reply('Sunny.')).rejects.toThrow(sentence)
  await expect((await connect(platform.url)).mcp.tool('look').reply('Sunny.')).rejects.toThrow('answer in mode emulate')
  await platform.switchMode('record', { '/mcp': 'emulate' })
  const { count } = await platform.mcp.tool('look').reply('Sunny.')
  expect(await count).toBe(0)
})

test('the end of a scope tells what became of its test', async () => {
  const { recording } = await scene()
  const platform = await recording()
  const remote = await connect(platform.url)
  for (const result of ['passed', 'failed'] as const) {
    const scope = await remote.scope(`${result} test`)
    await platform.chat(hello, { bearer: scope.apiKey })
    await scope.close(result)
  }
  expect((await platform.receipt())?.tests).toMatchObject({
    'passed test': { result: 'passed' },
    'failed test': { result: 'failed' },
  })
})
