/** What the README shows works together: tests with a platform of their own, below `standin exec`, in every mode. */

import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { writeInto } from '../command.js'
import { LIVE_KEY, projects, recordingsOf } from './project.js'
import { ALL_REQUESTS, REQUESTS, runners } from './runners.js'

const project = projects()

test('what usePlatform records below exec replays below exec, to each test its own answers, in one summary', async () => {
  const { app, live, exec } = await project('vitest')
  const recorded = await exec(['--mode', 'record', '--summary', 'summary.md'], { workers: 3 })
  expect(recorded.code, recorded.output).toBe(0)
  expect(recorded.output).toContain(
    `${REQUESTS} forwarded to the live platform, ${REQUESTS} recorded, 1 answered by the tests' own replies.`,
  )
  expect(live.asked()).toBe(REQUESTS)
  expect(readFileSync(path.join(app.dir, 'summary.md'), 'utf8')).toContain(
    `| \`POST /v1/chat/completions\` | ${ALL_REQUESTS} | 0 |`,
  )
  // The key goes from process to process, and nowhere else.
  const written = readdirSync(app.dir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map(({ parentPath, name }) => path.join(parentPath, name))
  const withKey = written.filter(file => readFileSync(file, 'utf8').includes(LIVE_KEY))
  expect(withKey.map(file => path.basename(file))).toEqual(['platform.config.yaml'])

  const replayed = await exec(['--mode', 'replay', '--strict-unused'])
  expect(replayed.code, replayed.output).toBe(0)
  expect(replayed.output).toContain(`${REQUESTS} served, 0 missed, 0 unused, 0 forwarded to the live platform, `)
  expect(live.asked()).toBe(REQUESTS)

  // A part of the tests judges its own recordings, and --whole all of them.
  const part = await exec(['--mode', 'replay', '--strict-unused'], { files: ['orders'] })
  expect(part.code, part.output).toBe(0)
  const whole = await exec(['--mode', 'replay', '--strict-unused', '--whole'], { files: ['orders'] })
  expect(whole.code, whole.output).toBe(1)
  expect(whole.output).toContain('6 served, 0 missed, 12 unused')
  expect(recordingsOf(app)).toHaveLength(REQUESTS)
})

test('a changed prompt is answered by the nearest recordings below exec, said once, and accepted offline', async () => {
  const { app, live, exec, standin } = await project('vitest')
  const files = ['orders', 'refunds']
  await exec(['--mode', 'record'], { files })
  const asked = live.asked()
  const file = path.join(app.dir, 'ask.mjs')
  writeInto(app.dir, { 'ask.mjs': readFileSync(file, 'utf8').replace('You are a bot.', 'You are brief.') })
  const missed = await exec(['--mode', 'replay', '--strict'], { files })
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
  const { app, exec } = await project('vitest')
  const [test] = Object.keys(runners.vitest.files).filter(name => name.endsWith('orders.test.mjs'))
  const text = runners.vitest.files[test as keyof typeof runners.vitest.files]
  writeInto(app.dir, { 'tests/orders.test.mjs': text.replace('env: true', "env: true, mode: 'emulate'") })
  const none = await exec(['--mode', 'record'], { files: ['orders'] })
  expect(none.code, none.output).toBe(1)
  expect(none.output).toContain('tests/orders.test.mjs sets mode: "emulate", which comes before the command line.')
  expect(none.output).toContain('Nothing was recorded: 0 requests were forwarded to the live platform.')
  writeInto(app.dir, { 'platform.config.yaml': 'recordings: { budget: { calls: 1 } }\n' })
  const over = await exec([], { files: ['refunds'] })
  expect(over.code, over.output).toBe(1)
  expect(over.output).toMatch(/tests\/refunds\.test\.mjs > refunds one.* 3 calls/)
})

test('the adversary breaks the calls of tests with usePlatform', async () => {
  const { exec } = await project('vitest')
  const { code, output } = await exec(['--adversary', '--faults', 'status-400', '--max-runs', '1'], {
    files: ['orders'],
  })
  expect(code, output).toBe(0)
  expect(output).toMatch(/status-400 +handled/)
})
