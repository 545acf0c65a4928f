import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { createUsePlatform } from '../../src/test-runner.js'
import { completion, liveThat } from '../cli/drifting.js'
import { folderWith, start } from '../command.js'
import { runHere } from '../run-here.js'
import { platformWith } from '../scene.js'
import { liveKey } from './live.js'

const order = { name: 'get_order', description: 'Finds an order.', parameters: { type: 'object', properties: {} } }

/** A request of an agent, with its instructions. */
const asking = (
  question: string,
  instructions = 'You are the agent of a shop.\nAnswer briefly.',
  more: object = {},
) => ({
  model: 'gpt-4o-mini',
  temperature: 0,
  messages: [
    { role: 'system', content: instructions },
    { role: 'user', content: question },
  ],
  tools: [{ type: 'function', function: order }],
  ...more,
})

/** A project with a live platform, and its file of prompts. */
async function scene(answer: Parameters<typeof liveThat>[0] = () => ({ body: completion('Sure.') })) {
  const live = await liveThat(answer)
  const dir = folderWith()
  const file = path.join(dir, 'fixtures/prompts.yaml')
  expect(await runHere(['recordings', 'repair', '--prompts'], { dir, env: {}, input: undefined })).toMatchObject({
    code: 0,
    stdout: 'fixtures/prompts.yaml: begun, 0 definitions\n1 file repaired.\n',
  })
  const platform = ({ recordings, ...more }: PlatformOptions = {}) =>
    platformWith({
      mode: 'record',
      upstream: { baseUrl: live.url, apiKey: liveKey },
      recordings: { dir: path.join(dir, 'fixtures/recordings'), ...recordings },
      ...more,
    })
  /** Sends each request in its scope, and stops. */
  const sending = async (requests: readonly (readonly [scope: string, body: object])[], options?: PlatformOptions) => {
    const { chat, stop } = await platform(options)
    const headers = (scope: string) => (scope === '' ? {} : { headers: { 'x-standin-scope': scope } })
    await Promise.all(requests.map(async ([scope, body]) => (await chat(body, headers(scope))).text()))
    await stop()
  }
  return { live, dir, file, platform, sending, text: () => readFileSync(file, 'utf8') }
}

describe('the file of prompts', () => {
  test('has what each test tells the model, shared texts once, and nothing that users say', async () => {
    const { sending, text } = await scene()
    const schema = { type: 'json_schema', json_schema: { name: 'verdict', schema: { type: 'object' } } }
    await sending([
      ['refund', asking('Where is order 7?')],
      ['refund', asking('And order 8?')],
      ['verdict', asking('Is it late?', undefined, { response_format: schema, user: 'u-17' })],
    ])
    expect(text().replace(/^#.*\n/gm, '')).toBe(`tests:
  refund:
    calls: 2
    system: 2
    tool get_order: 2
    parameters: 2
  verdict:
    calls: 1
    system: 1
    tool get_order: 1
    schema verdict: 1
    parameters: 1
definitions:
  system:
    tokens: 15
    text: |-
      You are the agent of a shop.
      Answer briefly.

  tool get_order:
    tokens: 25
    json:
      description: Finds an order.
      name: get_order
      parameters:
        properties: {}
        type: object

  schema verdict:
    tokens: 12
    json:
      name: verdict
      schema:
        type: object

  parameters:
    json:
      model: gpt-4o-mini
      temperature: 0
`)
  })

  test('stays the same whatever users say, in any order, recorded or replayed, with ignored dates and after retries', async () => {
    let refusals = 1
    const { sending, text } = await scene(() =>
      refusals-- > 0 ? { status: 429, body: { error: 'Slow.' } } : { body: completion('Sure.') },
    )
    const recordings = { ignore: ['/\\d{4}-\\d\\d-\\d\\d/'] }
    const day = (date: string) => `Today is ${date}. Answer briefly.`
    await sending([['late', asking('Hello?', day('2026-01-01'))]], { recordings })
    await sending(
      [
        ['late', asking('Hello?', day('2026-01-01'))],
        ['other', asking('One.')],
      ],
      { recordings },
    )
    const first = text()
    expect(first).toContain('Answer briefly.')
    await sending(
      [
        ['other', asking('Two.')],
        ['late', asking('Hi!', day('2026-01-02'))],
      ],
      { recordings },
    )
    expect(text()).toBe(first)
    await sending(
      [
        ['other', asking('Two.')],
        ['late', asking('Hi!', day('2026-01-03'))],
      ],
      { recordings, mode: 'replay' },
    )
    expect(text()).toBe(first)
  })

  test('a changed sentence changes its text, and no line of the tests that use it', async () => {
    const { sending, text } = await scene()
    const all = ['a', 'b', 'c'] as const
    await sending(all.map(scope => [scope, asking(scope, scope === 'c' ? 'Translate.' : undefined)] as const))
    const before = text().split('\n')
    await sending(
      all.map(scope => [scope, asking(scope, scope === 'c' ? 'Translate.' : 'Answer in one sentence.')] as const),
    )
    const after = text().split('\n')
    expect(after.filter(line => !before.includes(line))).toEqual([
      '    tokens: 10',
      '    text: Answer in one sentence.',
    ])
    expect(after.slice(0, after.indexOf('definitions:'))).toEqual(before.slice(0, before.indexOf('definitions:')))
  })

  test('a part of the tests leaves the entries of the others, and so does a test with a miss', async () => {
    const { sending, text } = await scene()
    await sending([
      ['a', asking('One.')],
      ['b', asking('Two.', 'Translate.')],
      ['b', asking('Three.', 'Translate.')],
    ])
    const all = text()
    await sending([['a', asking('One.')]], { mode: 'replay' })
    expect(text()).toBe(all)
    await sending(
      [
        ['b', asking('Two.', 'Translate.')],
        ['b', asking('Four.', 'Translate.')],
      ],
      { mode: 'replay' },
    )
    expect(text()).toBe(all)
  })

  test('requests of no test count as their recordings do, so that a part of a run changes nothing', async () => {
    const { sending, text } = await scene()
    await sending([
      ['', asking('One.')],
      ['', asking('Two.', 'Translate.')],
    ])
    const all = text()
    expect(all).toMatch(/^tests:\n {2}no test:\n {4}calls: 2\n/m)
    await sending([['', asking('One.')]], { mode: 'replay' })
    expect(text()).toBe(all)
  })

  test('has no secrets, and is written neither by emulation nor where nobody has begun it', async () => {
    const { sending, text, file } = await scene()
    const secret = 'sk-proj-Zx81Kq0Lm2Np4Rs6Tu8Vw0Yb1Cd3Ef5'
    const begun = text()
    await sending([['a', asking('One.')]], { mode: 'emulate' })
    expect(text()).toBe(begun)
    rmSync(file)
    await sending([['a', asking('One.')]])
    expect(existsSync(file)).toBe(false)
    writeFileSync(file, begun)
    await sending([['a', asking('One.', `Use ${secret}.`)]])
    expect(text()).toMatch(/Use \[[a-z0-9-]+\]\./)
    expect(text()).not.toContain(secret)
  })

  test('that two branches have changed is not replaced by a run, and written again by recordings repair', async () => {
    const { sending, text, file, dir } = await scene()
    await sending([['a', asking('One.')]])
    const before = text()
    writeFileSync(file, `<<<<<<< HEAD\n${before}=======\n>>>>>>> theirs\n`)
    const damaged = text()
    const warn = vi.spyOn(console, 'error').mockReturnValue()
    onTestFinished(() => warn.mockRestore())
    await sending([['a', asking('One.')]], { mode: 'replay' })
    expect(warn.mock.lastCall?.[0]).toMatch(
      /prompts\.yaml:1:1: has Git's conflict markers\..* Write it again: standin recordings repair\.$/,
    )
    expect(text()).toBe(damaged)
    expect(await runHere(['recordings', 'repair'], { dir, env: {}, input: undefined })).toMatchObject({ code: 0 })
    expect(text()).toBe(before)
  })
})

const app = `
const ask = scope => fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
  method: 'POST',
  headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json', 'x-standin-scope': scope },
  body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'system', content: 'Text of ' + scope }, { role: 'user', content: 'Hi' }] }),
})
for (const scope of process.argv.slice(2)) await ask(scope)
`

test('processes that end at the same time lose no part, and leave nothing behind', async () => {
  const { live, dir, file } = await scene()
  const config = `upstream: { baseUrl: ${live.url}, apiKey: ${liveKey} }\n`
  writeFileSync(path.join(dir, 'platform.config.yaml'), config)
  writeFileSync(path.join(dir, 'app.mjs'), app)
  const cli = path.resolve('dist/cli.js')
  const workers = ['a', 'b', 'c', 'd', 'e', 'f'].map(name =>
    spawn(process.execPath, [cli, 'exec', '--mode', 'record', '--', process.execPath, 'app.mjs', name], {
      ...{ cwd: dir, env: { PATH: process.env.PATH }, stdio: 'ignore' },
    }),
  )
  onTestFinished(() => workers.forEach(worker => void worker.kill('SIGKILL')))
  await Promise.all(workers.map(worker => once(worker, 'close')))
  const tests = readFileSync(file, 'utf8').match(/^ {2}[a-f]:$/gm)
  expect(tests).toEqual(['  a:', '  b:', '  c:', '  d:', '  e:', '  f:'])
  expect(readFileSync(file, 'utf8').match(/text: Text of \w/g)).toHaveLength(6)
  expect(readdirSync(path.dirname(file)).toSorted()).toEqual(['prompts.yaml', 'recordings'])
})

/** The number of a process that has just begun, and does nothing. */
function sleeping(): number {
  const child = spawn('sleep', ['60'], { stdio: 'ignore' })
  onTestFinished(() => void child.kill())
  return child.pid ?? expect.fail()
}

// Long before the lock is too old for anybody.
test.each([
  ['the process itself, as in a container that was started again', () => '$$'],
  ['another process that has just begun', sleeping],
])(
  'a lock of a process that is gone is no lock, although %s has its number now',
  async (_who, numberOf) => {
    const { dir, file, sending } = await scene()
    await sending([['a', asking('One.')]])
    const lock = `${file}.lock`
    const script = `echo ${numberOf()} > ${lock}; touch -d '10 seconds ago' ${lock}; exec "$0" "$@"`
    const command = [process.execPath, path.resolve('dist/cli.js'), 'recordings', 'repair']
    const child = spawn('sh', ['-c', script, ...command], { cwd: dir, stdio: 'ignore' })
    onTestFinished(() => void child.kill('SIGKILL'))
    expect(await once(child, 'close')).toEqual([0, null])
    expect(existsSync(lock)).toBe(false)
  },
  40_000,
)

test('recordings repair writes the file from recordings, removes tests whose prompts are gone, and leaves a file of the app', async () => {
  const { sending, dir, file, text } = await scene()
  await sending([
    ['kept', asking('One.')],
    ['gone', asking('Two.', 'Translate.')],
  ])
  const before = text()
  for (const name of readdirSync(path.join(dir, 'fixtures/recordings/chat-completions'))) {
    const recording = path.join(dir, 'fixtures/recordings/chat-completions', name)
    if (readFileSync(recording, 'utf8').includes('Translate.')) rmSync(recording)
  }
  const repair = (...flags: readonly string[]) =>
    runHere(['recordings', 'repair', ...flags], { dir, env: {}, input: undefined })
  const written = 'fixtures/prompts.yaml: written anew, 3 definitions\n'
  expect(await repair('--dry-run')).toMatchObject({ code: 0, stdout: `${written}1 file would be repaired.\n` })
  expect(text()).toBe(before)
  expect(await repair()).toMatchObject({ code: 0, stdout: `${written}1 file repaired.\n`, stderr: '' })
  expect(before).toMatch(/^ {2}gone:$/m)
  expect(text()).not.toMatch(/^ {2}gone:$|Translate\./m)
  expect(text()).toMatch(/^ {2}kept:$/m)
  expect(await repair()).toMatchObject({ code: 0, stdout: '0 files repaired.\n' })
  const own = 'greeting: Say hello.\n'
  writeFileSync(file, own)
  expect(await repair()).toMatchObject({ code: 0, stdout: '0 files repaired.\n' })
  expect(await repair('--prompts')).toMatchObject({
    code: 2,
    stderr: 'fixtures/prompts.yaml: is not a file of Standin, which writes one here: move it.\n',
  })
  expect(text()).toBe(own)
  rmSync(file)
  mkdirSync(file)
  expect(await repair()).toMatchObject({ code: 0, stdout: '0 files repaired.\n' })
})

describe('the budget', () => {
  const config = 'recordings: { budget: { promptTokens: 30, calls: 2 } }\n'
  const files = { 'platform.config.yaml': config, 'app.mjs': app }
  const node = ['exec', '--', process.execPath, 'app.mjs']

  test('makes exec exit with 1 and the numbers that grew', async () => {
    expect(await start([...node, 'small', 'big', 'big', 'big'], { files }).ended).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /^scope "big": \d\d prompt tokens in 3 calls; the budget is 30 prompt tokens and 2 calls\. The largest call: 1\d prompt tokens, of them messages\[0\] \d\.\n$/m,
      ),
    })
    expect(await start([...node, 'small', 'other'], { files }).ended).toMatchObject({ code: 0, stderr: '' })
  })

  test('fails the test that exceeded it, by its name, and no other', async () => {
    const runner = testRunner()
    const platform = createUsePlatform(runner)({ recordings: { budget: { calls: 1 } } })
    const ask = () =>
      fetch(`${platform.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' },
        body: JSON.stringify(asking('Hi')),
      }).then(answer => answer.text())
    expect(await runner.run('frugal', ask)).toBe('passed')
    expect(await runner.run('wasteful', () => Promise.all([ask(), ask()]))).toMatch(
      /^test\/shop\.test\.ts > wasteful: \d+ prompt tokens in 2 calls; the budget is 1 call\. The largest call: /,
    )
    expect(await runner.run('frugal again', ask)).toBe('passed')
    await runner.end()
  })
})

/** Hooks as a test runner has them. */
function testRunner() {
  const hooks: Record<'beforeAll' | 'beforeEach' | 'afterEach' | 'afterAll', (() => Promise<void>)[]> = {
    beforeAll: [],
    beforeEach: [],
    afterEach: [],
    afterAll: [],
  }
  let currentTestName: string | undefined
  const call = async (name: keyof typeof hooks) => {
    for (const hook of hooks[name]) await hook()
  }
  return {
    beforeAll: (work: () => Promise<void>) => hooks.beforeAll.push(work),
    beforeEach: (work: () => Promise<void>) => hooks.beforeEach.push(work),
    afterEach: (work: () => Promise<void>) => hooks.afterEach.push(work),
    afterAll: (work: () => Promise<void>) => hooks.afterAll.push(work),
    testState: () => ({ testPath: path.resolve('test/shop.test.ts'), currentTestName }),
    async run(name: string, body: () => Promise<unknown>): Promise<string> {
      if (currentTestName === undefined) await call('beforeAll')
      currentTestName = name
      await call('beforeEach')
      await body()
      return call('afterEach').then(
        () => 'passed',
        ({ message }: Error) => message,
      )
    },
    end: () => call('afterAll'),
  }
}
