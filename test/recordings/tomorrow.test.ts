/** What will not match tomorrow, or elsewhere, is said on the day of recording. */
import { mkdtempSync, rmdirSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { hello } from '../scene.js'
import { liveWith, saying, tape } from './live.js'

const asking = (system: string, content = 'hello', more: object = {}) => ({
  ...hello,
  messages: [
    { role: 'system', content: system },
    { role: 'user', content },
  ],
  ...more,
})

/** What a run says that has recorded these requests, each in a test of its own. */
async function recorded(bodies: readonly object[], ignore: NonNullable<PlatformOptions['recordings']>['ignore'] = []) {
  const live = await liveWith(saying({ object: 'chat.completion', choices: [] }))
  const scene = tape(live.url)
  const { chat, receipt, stop } = await scene.recording({ recordings: { ignore } })
  for (const [i, body] of bodies.entries()) await chat(body, { headers: { 'x-standin-scope': `test ${i}` } })
  await stop()
  return { ...scene, remarks: (await receipt())?.remarks ?? [] }
}

test("prompts with today's date, the time or a folder of this machine are counted, and the line to add is printed", async () => {
  const now = new Date()
  const day = now.toISOString().slice(0, 10)
  const [inWords, time] = [now.toLocaleDateString('en', { dateStyle: 'long' }), now.toTimeString().slice(0, 5)]
  const bodies = [
    asking(`Today is ${day}.`),
    asking(`It is ${inWords}, ${time}.`),
    asking(`Working directory: ${process.cwd()}`),
    asking('You know version 2024-08-06, opened at 25:00 by /homework.'),
  ]
  const { remarks } = await recorded(bodies)
  expect(remarks).toEqual([
    "2 prompts contain today's date, 1 a time, 1 a folder of this machine: tomorrow, or elsewhere, they miss. Add to platform.config.yaml: recordings.ignore: [dates, times, paths]",
  ])
  expect((await recorded(bodies, ['dates', 'times', 'paths'])).remarks).toEqual([])
})

test('a process that changes its folder has the one counted that it is in', async () => {
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  for (const dir of ['/usr/lib', '/usr']) {
    process.chdir(dir)
    const { remarks } = await recorded([asking(`Working directory: ${dir}`)])
    expect(remarks).toEqual([
      expect.stringContaining('1 prompt contains a folder of this machine: elsewhere they miss'),
    ])
  }
})

test('a process whose folder was removed replays with paths ignored', async () => {
  const before = process.cwd()
  onTestFinished(() => process.chdir(before))
  const recording = await recorded([asking('Open /tmp/agent-17')], ['paths'])
  const replaying = await recording.replaying({ recordings: { ignore: ['paths'] } })
  const dir = mkdtempSync(path.join(tmpdir(), 'standin-test-'))
  process.chdir(dir)
  rmdirSync(dir)
  expect((await replaying.chat(asking('Open /tmp/agent-99'))).status).toBe(200)
})

test('prompts of a coding agent replay on another machine, in another folder, with paths ignored; without, the miss says that only a path differs', async () => {
  const here = asking(`Working directory: ${homedir()}/shop\nTemporary files: /tmp/agent-17`)
  const there = asking('Working directory: /Users/ada/projects/shop\nTemporary files: /var/folders/x1/agent-99')
  const { replaying } = await recorded([here])
  const platform = await replaying()
  const missed = await platform.chat(there)
  expect([missed.status, ((await missed.json()) as { error: string }).error]).toEqual([
    424,
    expect.stringContaining('Only a path differs. Add to platform.config.yaml: recordings.ignore: [paths]'),
  ])
  const ignoring = await recorded([here], ['paths'])
  expect((await (await ignoring.replaying({ recordings: { ignore: ['paths'] } })).chat(there)).status).toBe(200)
})

test('different requests of a test that count as one only because of what is ignored are named', async () => {
  const live = await liveWith(saying({ object: 'chat.completion', choices: [] }))
  const { chat, receipt, stop } = await tape(live.url).recording({ recordings: { ignore: ['ids'] } })
  for (const order of ['order_a81kd03jGk5Lw9Qz', 'order_b92le14kHl6Mx0Ra'])
    await chat(asking('Be brief.', `Where is ${order}?`))
  await stop()
  expect((await receipt())?.remarks).toEqual([
    expect.stringMatching(
      /^Different requests count as one only because of recordings\.ignore \(chat-completions\/.*\): messages\[1\]\.content is .*order_a81kd03jGk5Lw9Qz.*, and .*order_b92le14kHl6Mx0Ra/,
    ),
  ])
})

test('ids spare names of tools, keys of schemas and models, whatever they look like', async () => {
  const tool = (name: string) => ({
    tools: [
      {
        type: 'function',
        function: { name, parameters: { type: 'object', properties: { [name]: { type: 'string' } } } },
      },
    ],
  })
  const { replaying } = await recorded([asking('Be brief.', 'hello', tool('lookup_order2024status'))], ['ids'])
  const platform = await replaying({ recordings: { ignore: ['ids'] } })
  expect((await platform.chat(asking('Be brief.', 'hello', tool('lookup_order2025status')))).status).toBe(424)
  expect((await platform.chat(asking('Be brief.', 'hello', tool('lookup_order2024status')))).status).toBe(200)
})

test('with toolResults ignored, what a tool says does not decide which recording answers, and a difference is reported', async () => {
  const loop = (result: string) => ({
    ...hello,
    messages: [
      ...hello.messages,
      {
        role: 'assistant',
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: result },
    ],
  })
  const { replaying } = await recorded([loop('12 degrees')], ['toolResults'])
  const { chat, receipt } = await replaying({ recordings: { ignore: ['toolResults'] } })
  expect((await chat(loop('12 degrees'))).status).toBe(200)
  expect((await receipt())?.remarks).toEqual([])
  expect((await chat(loop('13 degrees'))).status).toBe(200)
  expect((await receipt())?.remarks).toEqual([
    expect.stringMatching(
      /^1 request was answered although a tool said something else \(.*\): messages\[2\]\.content was "12 degrees", and is "13 degrees"\.$/,
    ),
  ])
})
