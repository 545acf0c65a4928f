/** What the journal writes as a test runs as it is. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { hello, platformWith } from '../scene.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs the text of a test with vitest, in a folder in which the package is installed. Returns what vitest says. */
function runAsTest(text: string): string {
  mkdirSync(path.join(root, '.standin'), { recursive: true })
  const folder = mkdtempSync(path.join(root, '.standin/as-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  mkdirSync(path.join(folder, 'node_modules'))
  symlinkSync(root, path.join(folder, 'node_modules/standin'))
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
  writeFileSync(path.join(folder, 'made.test.ts'), text)
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
  const env = { PATH: process.env.PATH, NO_COLOR: '1' }
  return execFileSync(process.execPath, [vitest, 'run', '--root', folder], { cwd: folder, env, encoding: 'utf8' })
}

const call = { name: 'find_order', arguments: { number: 'A-1042' } }
const rules = [
  { when: { toolResult: true }, reply: { text: 'It left "on Monday".' } },
  { when: { user: 'order' }, reply: { toolCalls: [call] } },
  { on: 'GET /orders/:number', reply: { json: { left: 'Monday' } } },
  { when: { user: 'broken' }, reply: { fault: { status: 429, retryAfter: 2 } } },
]
const tools = [{ type: 'function', function: { name: 'find_order', parameters: { type: 'object' } } }]
const user = { role: 'user', content: 'Where is my order? My key is sk-proj-Zk3v9Qx7Lm2Tn8Rb5Wd1Yc6Hf4Js0Pg.' }

test('a run of an agent, whole and streamed, is a test that passes', async () => {
  const platform = await platformWith({ rules })
  const first = await platform.chat({ ...hello, tools, messages: [user], stream: true })
  const id = /"id":"(call_[^"]+)"/.exec(await first.text())?.[1]
  await platform.ask('/orders/A-1042')
  const calls = [{ id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } }]
  const messages = [user, { role: 'assistant', tool_calls: calls }, { role: 'tool', tool_call_id: id, content: '{}' }]
  await (await platform.chat({ ...hello, tools, messages, stream: true })).text()
  const text = await (await platform.ask('/__standin/journal/1/test?run')).text()
  expect(text.match(/await ask\(/g)).toHaveLength(3)
  expect(runAsTest(text)).toMatch(/Tests +1 passed/)
})

test('a refused request is a test of its refusal, and one without a rule says why it is none', async () => {
  const platform = await platformWith({ rules })
  await platform.chat({ ...hello, messages: [{ role: 'user', content: 'broken' }] })
  await platform.ask('/health')
  const refused = await (await platform.ask('/__standin/journal/1/test')).text()
  expect(refused).toContain('toBe(429)')
  expect(runAsTest(refused)).toMatch(/Tests +1 passed/)
  const health = await platform.ask('/__standin/journal/2/test')
  expect([health.status, await health.text()]).toEqual([409, expect.stringContaining('the platform')])
})
