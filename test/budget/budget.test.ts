import { type ChildProcess, fork, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, onTestFinished, test } from 'vitest'
import { developmentApiKey } from '../../src/core/secrets.js'
import { type Files, folderWith } from '../command.js'

// What a request and a start may cost, in figures that do not depend on how busy the machine is. If one of them is exceeded for a good reason,
// say so in the commit, and raise it.

interface Started {
  readonly port: number
  readonly loaded: readonly { readonly url: string; readonly length: number }[]
}

/** Enough room for everything that is allocated during a test, so that nothing is collected. */
const roomy = ['--min-semi-space-size=256', '--max-semi-space-size=256']

/** The built command in a temporary folder. */
async function started(
  files: Files = {},
  flags: readonly string[] = roomy,
): Promise<Started & { readonly child: ChildProcess }> {
  const watch = path.join(import.meta.dirname, 'watch-start.mjs')
  const child = fork(
    path.join(import.meta.dirname, '../../dist/cli.js'),
    ['dev', '--port', '0', '--quiet', '--state', 'memory'],
    {
      cwd: folderWith(files),
      execArgv: [...flags, '--import', watch],
      env: { ...process.env, NODE_OPTIONS: '' },
      stdio: 'ignore',
    },
  )
  onTestFinished(() => void child.kill('SIGKILL'))
  const [report] = (await once(child, 'message')) as [Started]
  return { ...report, child }
}

async function memoryOf(child: ChildProcess): Promise<{ readonly heapBytes: number; readonly youngBytes: number }> {
  child.send('')
  const [memory] = (await once(child, 'message')) as [{ heapBytes: number; youngBytes: number }]
  return memory
}

const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What is new?' }] })

async function ask(port: number, agent: Agent, times: number): Promise<void> {
  const headers = { authorization: `Bearer ${developmentApiKey}`, 'content-type': 'application/json' }
  for (let i = 0; i < times; i++) {
    const sent = request({ port, host: '127.0.0.1', agent, method: 'POST', path: '/v1/chat/completions', headers })
    const answered = once(sent, 'response')
    sent.end(body)
    const [answer] = await answered
    expect(answer.statusCode).toBe(200)
    await text(answer)
  }
}

// 8 kB of it are the names of an app's variables, which the option env has, and dotenv. 120 kB are the recognition of secrets by their names,
// which the journal needs, the old names of faults, tables' options, and repairs.
test('a start without a configuration loads at most 1,100 kB of ASCII, and no package beside its own bundle, before its port is open', async () => {
  const { loaded } = await started()
  expect(loaded.length).toBeGreaterThan(0)
  expect(loaded.filter(({ url }) => url.includes('node_modules'))).toEqual([])
  expect(loaded.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(1_100_000)
  // A single other character would double the memory that a file takes.
  for (const { url } of loaded) expect(readFileSync(new URL(url), 'utf8')).toMatch(/^[\0-\x7f]*$/)
})

test("a start does not load node's own fetch, which an import of node:http does", async () => {
  const { loaded } = await started()
  expect(loaded.map(({ url }) => url).filter(url => url.includes('undici'))).toEqual([])
})

test('a chat request that a rule answers allocates less than 17 kB', async () => {
  const { port, child } = await started({
    'fixtures/replies/new.yaml': '- when: { user: new }\n  reply: { text: Nothing much. }\n',
  })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  onTestFinished(() => agent.destroy())
  await ask(port, agent, 2000)
  const { heapBytes: before } = await memoryOf(child)
  await ask(port, agent, 2000)
  // Bare node:http takes 8 kB of them.
  const bytes = ((await memoryOf(child)).heapBytes - before) / 2000
  expect(bytes).toBeGreaterThan(0)
  expect(bytes).toBeLessThan(17_000)
})

test("after a load, V8's space for new objects has 8 MB, not the 64 MB to which a journal makes it grow", async () => {
  const { port, child } = await started({}, [])
  const agent = new Agent({ keepAlive: true, maxSockets: 8 })
  onTestFinished(() => agent.destroy())
  await Promise.all(Array.from({ length: 8 }, () => ask(port, agent, 1250)))
  const { youngBytes } = await memoryOf(child)
  expect(youngBytes).toBeGreaterThan(4_000_000)
  expect(youngBytes).toBeLessThan(20_000_000)
})

// Five of the functions tell the journal that the request is in flight.
test('a chat request runs through at most 28 files and 85 functions', async () => {
  const root = path.join(import.meta.dirname, '../..')
  const child = spawn(process.execPath, ['--import', 'tsx', path.join(import.meta.dirname, 'one-chat.ts')], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const files = JSON.parse(await text(child.stdout)) as Readonly<Record<string, readonly string[]>>
  const walk = Object.entries(files).map(([file, functions]) => `${file}: ${functions.join(' ')}`)
  expect(walk.length, walk.join('\n')).toBeLessThanOrEqual(28)
  expect(Object.values(files).flat().length, walk.join('\n')).toBeLessThanOrEqual(85)
})
