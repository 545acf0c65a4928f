/** What the README shows works together: tests with a platform of their own, below `standin exec`, in every mode. */

import { once } from 'node:events'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { writeInto } from '../command.js'
import { type App, appsForAll } from '../package/apps.js'
import { REQUESTS, runners } from './runners.js'

const appFolder = appsForAll()

/** Does not occur in any other file. */
const LIVE_KEY = 'sk-live-Together0123456789abcdef'

/** A live platform that never says the same twice, and counts what it was asked. */
async function liveModel() {
  let asked = 0
  const server = createServer(async (request, response) => {
    for await (const _ of request);
    const { authorization } = request.headers
    if (authorization !== `Bearer ${LIVE_KEY}`) return void response.writeHead(401).end('{}')
    asked++
    const message = { role: 'assistant', content: `Answer ${asked}, ${Math.random()}`, refusal: null }
    const choices = [{ index: 0, message, logprobs: null, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    const head = { id: `chatcmpl-${asked}`, object: 'chat.completion', created: asked, model: 'gpt-4o-mini' }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ ...head, choices, usage }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked }
}

/** A project with the tests of a runner, and a live platform. */
async function project(runner: keyof typeof runners) {
  const app = await appFolder()
  for (const name of readdirSync(app.dir))
    if (name !== 'node_modules') rmSync(path.join(app.dir, name), { recursive: true })
  const live = await liveModel()
  const { files, command } = runners[runner]
  writeInto(app.dir, {
    ...files,
    'package.json': '{ "type": "module" }',
    'platform.config.yaml': `upstream: { baseUrl: '${live.url}', apiKey: ${LIVE_KEY} }\n`,
  })
  const standin = (...args: readonly string[]) => app.run('standin/dist/cli.js', ...args)
  const exec = (flags: readonly string[], { workers = 1, files = [] }: Run = {}) =>
    standin('exec', ...flags, '--', process.execPath, ...command(workers, ...files))
  return { app, live, standin, exec }
}

interface Run {
  readonly workers?: number
  readonly files?: readonly string[]
}

const recordingsOf = ({ dir }: App) =>
  readdirSync(path.join(dir, 'fixtures/recordings'), { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.yaml') && !name.startsWith('prompts'),
  )

test('what usePlatform records below exec replays below exec, to each test its own answers, in one summary', async () => {
  const { app, live, exec } = await project('vitest')
  const recorded = await exec(['--mode', 'record', '--summary', 'summary.md'], { workers: 3 })
  expect(recorded.code, recorded.output).toBe(0)
  expect(recorded.output).toContain(`${REQUESTS} forwarded to the live platform, ${REQUESTS} recorded.`)
  expect(live.asked()).toBe(REQUESTS)
  expect(readFileSync(path.join(app.dir, 'summary.md'), 'utf8')).toContain(
    `| \`POST /v1/chat/completions\` | ${REQUESTS} | 0 |`,
  )
  // The key goes from process to process, and nowhere else.
  const written = readdirSync(app.dir, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && !entry.parentPath.includes('node_modules'))
    .map(({ parentPath, name }) => path.join(parentPath, name))
  const withKey = written.filter(file => readFileSync(file, 'utf8').includes(LIVE_KEY))
  expect(withKey.map(file => path.basename(file))).toEqual(['platform.config.yaml'])

  const replayed = await exec(['--mode', 'replay', '--strict-unused'])
  expect(replayed.code, replayed.output).toBe(0)
  expect(replayed.output).toContain(`${REQUESTS} served, 0 missed, 0 unused, 0 forwarded to the live platform.`)
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
  await exec(['--mode', 'record'])
  const asked = live.asked()
  const file = path.join(app.dir, 'ask.mjs')
  writeInto(app.dir, { 'ask.mjs': readFileSync(file, 'utf8').replace('You are a bot.', 'You are brief.') })
  const missed = await exec(['--mode', 'replay', '--strict'])
  expect(missed.code).toBe(1)
  expect(missed.output).toContain('→ Only the prompt differs, so the recorded answers may do.')
  const nearest = await exec(['--mode', 'replay', '--on-miss', 'nearest'], { workers: 3 })
  expect(nearest.code, nearest.output).toBe(1)
  expect(nearest.output).toContain(`${REQUESTS} requests differ in messages[0].content`)
  expect(nearest.output.split('The nearest recordings answered changed requests:')).toHaveLength(2)
  const accepted = await standin('recordings', 'accept')
  expect(accepted.code, accepted.output).toBe(0)
  const replayed = await exec(['--mode', 'replay', '--strict-unused'])
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
  expect(none.output).toContain('usePlatform in tests/orders.test.mjs sets mode: "emulate" itself')
  expect(none.output).toContain('Nothing was recorded: 0 requests were forwarded to the live platform.')
  writeInto(app.dir, { 'platform.config.yaml': 'recordings: { budget: { calls: 1 } }\n' })
  const over = await exec([], { files: ['search'] })
  expect(over.code, over.output).toBe(1)
  expect(over.output).toMatch(/tests\/search\.test\.mjs > search one.* 3 calls/)
})

test('the adversary breaks the calls of tests with usePlatform', async () => {
  const { exec } = await project('vitest')
  const { code, output } = await exec(['--adversary', '--faults', 'status-400', '--max-runs', '1'], {
    files: ['orders'],
  })
  expect(code, output).toBe(0)
  expect(output).toMatch(/status-400 +handled/)
})
