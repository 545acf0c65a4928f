/** What `standin exec` says of tests with a platform of their own: of a changed prompt, and of what a test sets itself. */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { writeInto } from '../command.js'
import { projects } from './project.js'
import { runners } from './runners.js'

const project = projects()

test('a changed prompt is answered by the nearest recordings below exec, said once, and accepted offline', async () => {
  const { app, live, exec, standin } = await project('node:test')
  const files = ['orders', 'search']
  await exec(['--mode', 'record'], { files })
  const asked = live.asked()
  const file = path.join(app.dir, 'ask.mjs')
  writeInto(app.dir, { 'ask.mjs': readFileSync(file, 'utf8').replace('You are a bot.', 'You are brief.') })
  const missed = await exec(['--mode', 'replay', '--strict'], { files: ['orders'] })
  expect(missed.code).toBe(1)
  expect(missed.output).toContain('→ Only the prompt differs, so the recorded answers may do.')
  const nearest = await exec(['--mode', 'replay', '--on-miss', 'nearest'], { workers: 2, files })
  expect(nearest.code, nearest.output).toBe(1)
  expect(nearest.output).toContain('12 requests differ in messages[0].content')
  expect(nearest.output.split('The nearest recordings answered changed requests:')).toHaveLength(2)
  const accepted = await standin('recordings', 'accept')
  expect(accepted.code, accepted.output).toBe(0)
  const replayed = await exec(['--mode', 'replay', '--strict-unused'], { files })
  expect(replayed.code, replayed.output).toBe(0)
  expect(live.asked()).toBe(asked)
})

test('budget, misses and what a test sets itself are said by exec, and a record run that records nothing fails', async () => {
  const { app, exec } = await project('node:test')
  const name = 'tests/orders.test.mjs'
  const text = runners['node:test'].files[name] ?? ''
  writeInto(app.dir, { [name]: text.replace('env: true', "env: true, mode: 'emulate'") })
  const none = await exec(['--mode', 'record'], { files: ['orders'] })
  expect(none.code, none.output).toBe(1)
  expect(none.output).toContain('tests/orders.test.mjs sets mode: "emulate", which comes before the command line.')
  expect(none.output).toContain('Nothing was recorded: 0 requests were forwarded to the live platform.')
  writeInto(app.dir, { [name]: text, 'platform.config.yaml': 'recordings: { budget: { calls: 1 } }\n' })
  const over = await exec([], { files: ['orders'] })
  expect(over.code, over.output).toBe(1)
  expect(over.output).toMatch(/tests\/orders\.test\.mjs > orders one.* 3 calls/)
})
