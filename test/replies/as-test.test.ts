/** What the journal writes as a test runs as it is. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { hello, platformWith } from '../scene.js'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Runs the texts of tests with vitest, in a folder in which the package is installed. Returns what vitest says. */
function runAsTests(...texts: readonly string[]): string {
  mkdirSync(path.join(root, '.standin'), { recursive: true })
  const folder = mkdtempSync(path.join(root, '.standin/as-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  // Copied, since vitest transforms what is not in a folder node_modules.
  for (const name of ['dist', 'package.json'])
    cpSync(path.join(root, name), path.join(folder, 'node_modules/standin', name), { recursive: true })
  writeFileSync(path.join(folder, 'package.json'), '{"type":"module"}')
  for (const [i, text] of texts.entries()) writeFileSync(path.join(folder, `made-${i}.test.ts`), text)
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

test('a run of an agent, whole and streamed, and a refusal are tests that pass; one without a rule says why it is none', async () => {
  const platform = await platformWith({ rules })
  const textOf = async (of: string) => (await platform.ask(`/__standin/journal/${of}`)).text()
  const first = await platform.chat({ ...hello, tools, messages: [user], stream: true })
  const id = /"id":"(call_[^"]+)"/.exec(await first.text())?.[1]
  await platform.ask('/orders/A-1042')
  const calls = [{ id, type: 'function', function: { name: call.name, arguments: JSON.stringify(call.arguments) } }]
  const messages = [user, { role: 'assistant', tool_calls: calls }, { role: 'tool', tool_call_id: id, content: '{}' }]
  await (await platform.chat({ ...hello, tools, messages, stream: true })).text()
  const run = await textOf('1/test?run')
  expect(run.match(/await ask\(/g)).toHaveLength(3)

  await platform.chat({ ...hello, messages: [{ role: 'user', content: 'broken' }] })
  const refused = await textOf('4/test')
  expect(refused).toContain('toBe(429)')
  expect(runAsTests(run, refused)).toMatch(/Tests +2 passed/)

  await platform.ask('/health')
  const health = await platform.ask('/__standin/journal/5/test')
  expect([health.status, await health.text()]).toEqual([409, expect.stringContaining('the platform')])
})
