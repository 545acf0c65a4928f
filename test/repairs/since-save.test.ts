/** What a save of rules or configuration changes: the requests before it are answered again, by the old rules and by the new ones. */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import type { ChangedAnswers } from '../../src/repairs/operations.js'
import type { SituationJson } from '../../src/situation/operations.js'
import { folderWith } from '../command.js'
import { hello } from '../scene.js'

const agent = `- name: counting
  when: { user: count }
  replies: [{ text: one }, { text: two }]
- name: order
  when: { user: order }
  reply: { text: "It left on Monday." }
- name: clock
  when: { user: time }
  reply: { text: "{{ now }}" }
- on: GET /orders/:number
  access: anyone
  reply: { json: { left: Monday } }
- on: tools/call get_weather
  reply: { text: sun }
`
const config = `port: 0\nstate: memory\nreplies: agent.yaml\nmcp: { tools: [{ name: get_weather }] }\n`

/** A platform whose files can be saved. */
async function scene() {
  const cwd = folderWith({ 'platform.config.yaml': config, 'agent.yaml': agent })
  const platform = await openPlatform({ cwd })
  onTestFinished(() => platform.stop())
  const headers = { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' }
  const ask = async (at: string, body?: object, more: object = {}) => {
    const init = body ? { method: 'POST', body: JSON.stringify(body) } : {}
    return (await fetch(platform.url + at, { headers: { ...headers, ...more }, ...init })).text()
  }
  const read = async <T>(at: string) => JSON.parse(await ask(`/__standin${at}`)) as T
  return {
    platform,
    ask,
    chat: (content: string) => ask('/v1/chat/completions', { ...hello, messages: [{ role: 'user', content }] }),
    callTool: () =>
      ask(
        '/mcp',
        { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'get_weather', arguments: {} } },
        { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
      ),
    async save(file: string, text: string) {
      writeFileSync(path.join(cwd, file), text)
      await platform.reload()
    },
    changed: () => read<ChangedAnswers>('/replies/changed'),
    saved: async () => (await read<SituationJson>('/situation')).saved,
    hits: async () =>
      (await read<{ data: readonly { answered: number }[] }>('/replies')).data.map(({ answered }) => answered),
  }
}

test('the last requests are answered again by the old rules and by the new ones, and only what differs is told', async () => {
  const { chat, ask, callTool, save, changed, saved, hits, platform } = await scene()
  expect([await changed(), await saved()]).toEqual([{ files: [], at: null, requests: 0, data: [] }, undefined])
  for (const said of ['count', 'count', 'Where is my order?', 'what time is it', 'anything else']) await chat(said)
  await ask('/orders/A-1042')
  await callTool()
  await ask('/v1/chat/completions', hello, { authorization: 'Bearer sk-wrong' })
  const [before, lastId] = [await hits(), platform.journal.lastId()]

  await save('agent.yaml', agent.replace('two', 'three').replace('{ left: Monday }', '{ left: Tuesday }'))
  const { data, ...rest } = await changed()
  expect(rest).toMatchObject({ files: ['agent.yaml'], requests: 7, at: (await saved())?.at })
  expect(data.map(({ title, before, after }) => [title, before.says, after.says])).toEqual([
    ['GET /orders/A-1042', expect.stringContaining('Monday'), expect.stringContaining('Tuesday')],
    ['count', 'two', 'three'],
  ])
  expect(data[1]).toMatchObject({
    before: { by: 'rule "counting" (2 of 2)' },
    after: { by: 'rule "counting" (2 of 2)' },
  })
  // Nothing was counted or journaled; edited rules start over.
  expect(await hits()).toEqual([0, ...before.slice(1, 3), 0, before[4]])
  expect(platform.journal.lastId()).toBe(lastId)

  // A file that is written as it was changes nothing, and later requests are answered by the new rules anyway.
  await chat('later')
  await platform.reload()
  expect(await changed()).toMatchObject({ requests: 7, data: [{}, {}] })
  platform.journal.clear()
  expect(await changed()).toMatchObject({ requests: 0, data: [] })
})

test('what no rule answers any more says what comes instead; the configuration counts, and secrets stay hidden', async () => {
  const { chat, callTool, save, changed } = await scene()
  await chat('Where is my order? My key is sk-proj-abcdefghijklmnopqrstuvwxyz012345')
  await callTool()
  await save('platform.config.yaml', `${config}strict: true\n`)
  expect(await changed()).toMatchObject({ files: ['platform.config.yaml'], requests: 2, data: [] })
  await save('agent.yaml', agent.replace('user: order', 'user: zebra').replace('text: sun', 'text: rain'))
  const { data } = await changed()
  expect(data).toMatchObject([
    { title: 'tools/call get_weather', before: { says: 'text sun' }, after: { says: 'text rain' } },
    { before: { says: 'It left on Monday.' }, after: { by: 'an error', says: expect.stringMatching(/^424 No rule/) } },
  ])
  expect(JSON.stringify(data)).not.toContain('sk-proj-abc')
})
