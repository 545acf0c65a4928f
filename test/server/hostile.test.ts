import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { hello, platformWith } from '../scene.js'

test('tools that are nested 6,000 levels deep are refused, and the server carries on', async () => {
  const { chat } = await platformWith()
  const parameters = `${'{"a":'.repeat(6000)}1${'}'.repeat(6000)}`
  const tools = [{ type: 'function', function: { name: 'deep', parameters: 'here' } }]
  const body = JSON.stringify({ ...hello, stream: true, tools }).replace('"here"', parameters)
  const refused = await chat({}, { body })
  expect(refused.status).toBe(400)
  expect(await refused.json()).toEqual({
    error: 'The request body has more than 1100 levels of objects and arrays.',
  })
  const deepest = await chat({}, { body: body.replace(parameters, `${'{"a":'.repeat(1090)}1${'}'.repeat(1090)}`) })
  expect(deepest.status).toBe(200)
  expect(await deepest.text()).toContain('[DONE]')
  expect((await chat(hello)).status).toBe(200)
})

test('what fails after the answer is reported once, and harms no request', async () => {
  const reported: unknown[] = []
  const platform = await openPlatform({
    ...{ cwd: import.meta.dirname, file: false, report: error => void reported.push(error) },
    flags: [{ path: ['port'], value: 0, origin: 'the test' }],
  })
  onTestFinished(() => platform.stop())
  const broken = new Error('The disk of the log is full.')
  platform.journal.follow(() => {
    throw broken
  })
  const seen: string[] = []
  platform.journal.follow((_exchange, id) => void seen.push(id))
  for (let i = 0; i < 3; i++)
    expect(await (await fetch(`${platform.url}/health`)).json()).toMatchObject({ status: 'ok' })
  expect(reported).toEqual([broken])
  expect(seen).toHaveLength(3)
})

test('a prompt of 125,000 magic words does what they say', async () => {
  const { chat } = await platformWith()
  const asking = (word: string) => ({ ...hello, messages: [{ role: 'user', content: `${word} `.repeat(125_000) }] })
  const said = await chat(asking('standin:json'))
  expect(said.status).toBe(200)
  expect(await said.json()).toMatchObject({
    choices: [{ message: { content: expect.stringMatching(/^\{"ok":true/) } }],
  })
  const unknown = await chat(asking('standin:nonsense'))
  expect(unknown.status).toBe(400)
  expect(((await unknown.json()) as { error: string }).error).toContain('standin:nonsense')
})
