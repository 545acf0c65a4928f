import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test, vi } from 'vitest'
import { commandFor } from '../../src/adversary/test-files.js'
import { folderWith, start } from '../command.js'
import { freePort } from '../free-port.js'
import { adversary, verdictsIn } from './apps.js'

/** Sends a prompt to the model, and tells which test it is from. */
const asking = (prompt: string, test = '') => `
const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json', 'x-standin-scope': '${test}' },
  body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: '${prompt}' }] }),
})
if (!response.ok) throw new Error('status ' + response.status)
await response.text()
`

test('the estimate says how many runs there will be, and how many at once', async () => {
  const flags = ['--faults', 'status-400,status-401', '--jobs', '2']
  const { stderr } = await adversary(
    `${asking('one')}{${asking('two').replace('const response', 'var other').replaceAll('response', 'other')}}`,
    { flags },
  )
  expect(stderr).toMatch(/^2 calls × 2 faults: 4 runs, about \d+ s with 2 at once\.$/m)
})

test('a command that listens on a fixed port runs alone', async () => {
  const port = 20_000 + ((await freePort()) % 10_000)
  const app = `
import { createServer } from 'node:http'
const server = createServer().listen(${port}, '127.0.0.1')
${asking('hello')}
setTimeout(() => server.close(), 4000)
`
  const { stderr, stdout } = await adversary(app, { flags: ['--faults', 'status-400'] })
  expect(stderr).toContain(`one at a time because of port ${port}.`)
  expect(stdout).toContain('handled')
})

test('--jobs is refused where all runs share something', async () => {
  const flags = ['--jobs', '2', '--state', 'file:state.db']
  const { stderr, code } = await adversary(asking('hello'), { flags })
  expect(stderr).toContain('--jobs 2 is not possible, since all runs share a state that is configured.')
  expect(code).toBe(2)
})

test('nothing that a run has started stays behind: no daemon in a session of its own, and nothing below timeout', async () => {
  const app = `
import { spawn } from 'node:child_process'
import { appendFileSync } from 'node:fs'
${asking('hello')}
const daemon = spawn(process.execPath, ['daemon.mjs'], { detached: true, stdio: 'ignore' })
appendFileSync('pids', daemon.pid + '\\n')
daemon.unref()
process.exit(0)
`
  const files = { 'app.mjs': app, 'daemon.mjs': 'setInterval(() => {}, 1000)' }
  const { dir, ended } = start(
    ['exec', '--adversary', '--faults', 'status-400,status-401', '--', 'timeout', '60', process.execPath, 'app.mjs'],
    { files },
  )
  const { stdout } = await ended
  expect(stdout).toContain('2 runs with a fault')
  const pids = readFileSync(path.join(dir, 'pids'), 'utf8').trim().split('\n').map(Number)
  expect(pids).not.toEqual([])
  // The system may need a while to forget a process that has ended.
  const isForgotten = (pid: number) => expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  for (const pid of pids) await vi.waitFor(() => isForgotten(pid), { timeout: 60_000 })
})

test('a fault repeats only the test file that made the call; --all repeats every file', async () => {
  const testFile = (name: string) => `
import { test } from 'node:test'
import { appendFileSync } from 'node:fs'
test('asks', async () => {
  appendFileSync('ran', '${name} ')
  ${asking(name, `test/${name}.test.mjs > asks`)}
})
`
  const files = {
    'package.json': '{ "type": "module" }',
    'test/one.test.mjs': testFile('one'),
    'test/two.test.mjs': testFile('two'),
  }
  const ranFiles = async (...flags: readonly string[]) => {
    const { dir, ended } = start(
      ['exec', '--adversary', '--jobs', '1', '--faults', 'status-400', ...flags, '--', process.execPath, '--test'],
      { files },
    )
    const { stdout } = await ended
    expect(stdout).toContain('2 runs with a fault')
    return readFileSync(path.join(dir, 'ran'), 'utf8').trim().split(' ').sort()
  }
  expect(await ranFiles()).toEqual(['one', 'one', 'two', 'two'])
  expect(await ranFiles('--all')).toEqual(['one', 'one', 'one', 'two', 'two', 'two'])
})

const scripts = {
  test: 'vitest run',
  unit: 'tsc --noEmit && cross-env CI=1 jest --silent',
  e2e: 'playwright test',
  native: 'node --import tsx --test',
  some: 'node --test "test/*.test.js"',
  piped: 'vitest run | tee log',
  other: 'mocha',
}

test.each([
  ['npx vitest run', 'npx vitest run app/[id].test.ts'],
  ['npm test', 'npm test -- app/[id].test.ts'],
  ['npm run test -- --silent', 'npm run test -- --silent app/[id].test.ts'],
  ['pnpm unit', 'pnpm unit app/\\[id\\]\\.test\\.ts'],
  ['yarn run e2e', 'yarn run e2e app/\\[id\\]\\.test\\.ts'],
  ['npm run native', 'npm run native -- app/[id].test.ts'],
  ['node node_modules/vitest/vitest.mjs run', 'node node_modules/vitest/vitest.mjs run app/[id].test.ts'],
  ['node --test', 'node --test app/[id].test.ts'],
  ['npm run some', undefined],
  ['npm run piped', undefined],
  ['npm run other', undefined],
  ['node app.mjs', undefined],
  ['sh run.sh vitest', undefined],
])('%s for one file is %s', (command, expected) => {
  const dir = folderWith({ 'package.json': JSON.stringify({ scripts }) })
  expect(commandFor(command.split(' '), ['app/[id].test.ts'], dir)?.join(' ')).toBe(expected)
})

const shell = (command: string) => `
- when: { user: '${command}', toolResult: true }
  reply: { text: Done. }
- when: { user: '${command}' }
  reply: { toolCalls: [{ name: sh, arguments: { command: 'delete the folder /srv/build/output of yesterday' } }] }
`

/** An agent that does what \`handle\` makes of the id and the arguments that arrived: the last messages of its next request. */
const agent = (name: string, handle: string) => `
{
  const url = process.env.OPENAI_BASE_URL + '/chat/completions'
  const headers = { 'content-type': 'application/json', authorization: 'Bearer ' + process.env.OPENAI_API_KEY }
  const tools = [{ type: 'function', function: { name: 'sh', parameters: { type: 'object', properties: { command: { type: 'string' } } } } }]
  const messages = [{ role: 'user', content: '${name}' }]
  const told = (id, args, content) => [
    { role: 'assistant', content: null, tool_calls: [{ id, type: 'function', function: { name: 'sh', arguments: args } }] },
    { role: 'tool', tool_call_id: id, content },
  ]
  const handle = ${handle}
  for (let turn = 0; turn < 3; turn++) {
    const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages, tools }) })
    let id, args = '', isWhole = false
    for (const line of (await response.text()).split('\\n')) {
      if (!line.startsWith('data: {')) continue
      const [choice] = JSON.parse(line.slice(6)).choices
      const call = choice?.delta?.tool_calls?.[0]
      isWhole ||= Boolean(choice?.finish_reason)
      if (call) { id ??= call.id; args += call.function?.arguments ?? '' }
    }
    if (!id) break
    messages.push(...(isWhole ? told(id, args, 'did it') : handle(id, args, told)))
  }
}
`

const closed = `(args.endsWith('"}') ? args : args + '"}')`

test('half of a tool call that ran is found, whatever came of it; one that did not run is not', async () => {
  const agents = {
    'ran it': `(id, args, told) => told(id, ${closed}, 'did: ' + args)`,
    'ran and failed': `(id, args, told) => told(id, ${closed}, 'sh: delete: not found (exit code 127)')`,
    'sent none': `(id, args, told) => told(id, '{}', 'did nothing')`,
    'said why': `(id, args, told) => told(id, args, 'Error: the arguments are not JSON.')`,
    'closed and said why': `(id, args, told) => told(id, ${closed}, 'The call is incomplete. It was not run.')`,
    'asked again': `(id, args, told) => []`,
  }
  const app = Object.entries(agents).map(([name, handle]) => agent(name, handle))
  const rules = Object.keys(agents).map(shell)
  const end = await adversary(app.join(''), {
    flags: ['--json', '--faults', 'end'],
    files: { 'fixtures/replies/rules.yaml': rules.join('') },
  })
  const verdicts = verdictsIn(end)
  const ran = verdicts.filter(({ sentence }) => sentence.includes('the tool ran with it'))
  expect(ran.map(({ code, call }) => `${code} ${call.title.slice(call.title.indexOf('"'))}`)).toEqual([
    'truncation-accepted "ran it"',
    'truncation-accepted "ran and failed"',
  ])
  const others = verdicts.filter(one => !ran.includes(one) && !one.call.title.includes('tool result'))
  expect(others).toEqual([])
})

test('a run that passes without any answer of its model gets a note', async () => {
  const app = `try { ${asking('hello')} } catch {}`
  const { stdout, code } = await adversary(app, { flags: ['--faults', 'status-400,outage'] })
  expect(stdout.match(/≠ \S+ +failure-swallowed/g)).toHaveLength(2)
  expect(code).toBe(0)
})
