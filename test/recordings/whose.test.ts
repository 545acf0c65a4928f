/** A recording knows its test: what was recorded replays, whatever runs beside it, with a model that never says the same twice. */
import { readdirSync, readFileSync, renameSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createUsePlatform, type UsePlatformOptions } from '../../src/test-runner.js'
import { folderWith, startIn } from '../command.js'
import { liveKey, liveWith } from './live.js'

/** A model that says another name each time. If it has tools, it calls one first, with an id that it makes up. */
async function inventive() {
  let said = 0
  const live: Awaited<ReturnType<typeof liveWith>> = await liveWith((_request, response) => {
    const { messages, tools, stream } = JSON.parse(live.seen.at(-1)?.body ?? '')
    const id = `call_${++said}${'abcdefgh'.repeat(2)}`
    const message =
      tools && messages.at(-1).role === 'user'
        ? {
            role: 'assistant',
            tool_calls: [{ index: 0, id, type: 'function', function: { name: 'look_up', arguments: '{}' } }],
          }
        : { role: 'assistant', content: `Name ${said}` }
    const chunk = (delta: object, finish_reason: string | null) =>
      `data: ${JSON.stringify({ object: 'chat.completion.chunk', choices: [{ index: 0, delta, finish_reason }] })}\n\n`
    if (stream)
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .end(`${chunk(message, null)}${chunk({}, 'stop')}data: [DONE]\n\n`)
    else
      response
        .writeHead(200, { 'content-type': 'application/json' })
        .end(JSON.stringify({ object: 'chat.completion', choices: [{ index: 0, message, finish_reason: 'stop' }] }))
  })
  return live
}

interface Message {
  readonly role: string
  readonly content?: string
  readonly tool_calls?: readonly { readonly id: string }[]
}

type Chat = (
  messages: readonly Message[],
  more?: { readonly scope?: string; readonly [field: string]: unknown },
) => Promise<Message>

const user = (content: string): Message => ({ role: 'user', content })
const first = user('Give me a name')

/** What tests do, and return what the model said. */
const asks = (next: string) => async (chat: Chat) => {
  const one = await chat([first])
  const other = await chat([first, one, user(next)])
  return [one.content, other.content].join(', ')
}
const asksTwice = async (chat: Chat) => `${(await chat([first])).content}, ${(await chat([first])).content}`
const streams = async (chat: Chat) => (await chat([first], { stream: true })).content ?? ''
const callsTools = async (chat: Chat) => {
  const tools = [{ type: 'function', function: { name: 'look_up', parameters: { type: 'object', properties: {} } } }]
  const call = await chat([first], { tools })
  const result = { role: 'tool', tool_call_id: call.tool_calls?.[0]?.id, content: 'Ada' }
  return (await chat([first, call, result as Message], { tools })).content ?? ''
}

type Tests = Readonly<Record<string, (chat: Chat) => Promise<string>>>

/** A folder with the files of tests, a package.json and recordings. */
function project(...testFiles: readonly string[]) {
  const dir = folderWith({ 'package.json': '{}', ...Object.fromEntries(testFiles.map(file => [file, ''])) })
  const recordings = path.join(dir, 'fixtures/recordings')
  /** Runs the tests of a file with usePlatform, as a runner does. Returns what each of them was told, and the receipt. */
  async function run(file: string, tests: Tests, options: UsePlatformOptions, hasFailed: unknown = false) {
    const hooks: Record<string, (context?: unknown) => Promise<void>> = {}
    let currentTestName: string | undefined
    const set = (name: string) => (work: (context?: unknown) => Promise<void>) =>
      void Object.assign(hooks, { [name]: work })
    const platform = createUsePlatform({
      beforeAll: set('beforeAll'),
      beforeEach: set('beforeEach'),
      afterEach: set('afterEach'),
      afterAll: set('afterAll'),
      testState: () => ({ currentTestName, testPath: path.join(dir, file) }),
    })({ ...options, recordings: { dir: recordings, ...options.recordings } })
    const chat: Chat = async (messages, { scope, ...more } = {}) => {
      const response = await fetch(`${platform.url}/v1/chat/completions`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${platform.apiKey}`,
          'content-type': 'application/json',
          ...(scope && (await platform.scope(scope)).headers),
        },
        body: JSON.stringify({ model: 'gpt-4o', messages, ...more }),
      })
      const text = await response.text()
      if (!response.ok) throw new Error(text)
      return text.startsWith('data:')
        ? JSON.parse(text.slice(6, text.indexOf('\n'))).choices[0].delta
        : JSON.parse(text).choices[0].message
    }
    const told: Record<string, string> = {}
    await hooks.beforeAll?.()
    for (const [name, body] of Object.entries(tests)) {
      currentTestName = name
      await hooks.beforeEach?.()
      told[name] = await body(chat)
      await hooks.afterEach?.(hasFailed)
    }
    const receipt = await platform.receipt()
    await hooks.afterAll?.()
    return { told, receipt }
  }
  /** The texts of all recordings, by name. */
  const files = () => {
    const all = readdirSync(recordings, { recursive: true, encoding: 'utf8' }).filter(file => file.endsWith('.yaml'))
    return Object.fromEntries(all.sort().map(file => [file, readFileSync(path.join(recordings, file), 'utf8')]))
  }
  return { dir, run, files }
}

/** An app that gives each scope two names, and prints them. */
const app = `for (const scope of process.argv.slice(2)) {
  const ask = async (...messages) => {
    const response = await fetch(process.env.OPENAI_BASE_URL + '/chat/completions', {
      method: 'POST',
      headers: { authorization: 'Bearer ' + process.env.OPENAI_API_KEY, 'content-type': 'application/json', 'x-standin-scope': scope },
      body: JSON.stringify({ model: 'gpt-4o', messages }),
    })
    return (await response.json()).choices[0].message
  }
  const first = { role: 'user', content: 'Give me a name' }
  const one = await ask(first)
  const other = await ask(first, one, { role: 'user', content: 'Another one' })
  console.log(scope, one.content, other.content)
}`

test('files of usePlatform replay what they recorded, in any order and all at once: the same request in each test, twice in one, a stream, a loop of tools', async () => {
  const live = await inventive()
  const { run } = project('a.test.ts', 'b.test.ts')
  const files = {
    'a.test.ts': { greets: asks('thanks'), 'goes on': asks('another one'), insists: asksTwice },
    'b.test.ts': { greets: asks('thanks'), streams, 'looks up': callsTools },
  }
  const upstream = { baseUrl: live.url, apiKey: liveKey }
  const recorded: Record<string, object> = {}
  for (const [file, tests] of Object.entries(files))
    recorded[file] = (await run(file, tests, { mode: 'record', upstream })).told
  await live.close()

  const together = Object.entries(files)
    .toReversed()
    .map(async ([file, tests]) => [file, await run(file, tests, { mode: 'replay' })] as const)
  for (const [file, { told, receipt }] of await Promise.all(together)) {
    expect(told).toEqual(recorded[file])
    expect(receipt).toMatchObject({ missed: 0, others: 0, unused: [] })
  }
})

test('a test that is recorded again alone replaces its own answers, drops what it no longer asks for, and leaves those of others', async () => {
  const live = await inventive()
  const { run, files } = project('a.test.ts', 'b.test.ts')
  const upstream = { baseUrl: live.url, apiKey: liveKey }
  const tests = { greets: asks('thanks'), 'goes on': asks('another one') }
  await run('a.test.ts', tests, { mode: 'record', upstream })
  const { told } = await run('b.test.ts', tests, { mode: 'record', upstream })
  const before = files()

  const warn = vi.spyOn(console, 'warn').mockReturnValue()
  onTestFinished(() => warn.mockRestore())
  const again = await run('a.test.ts', { greets: asks('thanks') }, { mode: 'record', upstream })
  // What the model says first is part of the second request.
  expect(warn.mock.calls.flat()).toEqual(['1 recording that these tests no longer ask for was removed.'])
  const isOfA = (text: string) => text.includes('test: a.test.ts > greets\n')
  const others = (all: Readonly<Record<string, string>>) => Object.entries(all).filter(([, text]) => !isOfA(text))
  expect(others(files())).toEqual(others(before))
  expect(Object.values(files()).filter(isOfA)).toHaveLength(2)
  await live.close()
  expect((await run('a.test.ts', { greets: asks('thanks') }, { mode: 'replay' })).told).toEqual(again.told)
  expect((await run('b.test.ts', tests, { mode: 'replay' })).told).toEqual(told)
})

test('a test that failed, or of which nobody knows how it ended, loses no recording', async () => {
  const live = await inventive()
  const { run, files } = project('a.test.ts')
  const upstream = { baseUrl: live.url, apiKey: liveKey }
  await run('a.test.ts', { greets: asks('thanks') }, { mode: 'record', upstream })
  const before = Object.keys(files())
  for (const hasFailed of [true, 'nobody knows'])
    await run('a.test.ts', { greets: asks('thanks') }, { mode: 'record', upstream }, hasFailed)
  expect(Object.keys(files())).toEqual(expect.arrayContaining(before))
})

test('a test that moved takes the answers of the one that is gone, a new one those of anybody, and the receipt counts them', async () => {
  const live = await inventive()
  const { dir, run } = project('old.test.ts', 'other.test.ts')
  const upstream = { baseUrl: live.url, apiKey: liveKey }
  await run('other.test.ts', { greets: asks('thanks') }, { mode: 'record', upstream })
  const { told } = await run('old.test.ts', { greets: asks('thanks') }, { mode: 'record', upstream })
  await live.close()
  renameSync(path.join(dir, 'old.test.ts'), path.join(dir, 'new.test.ts'))

  const moved = await run('new.test.ts', { greets: asks('thanks') }, { mode: 'replay' })
  expect(moved.told).toEqual(told)
  expect(moved.receipt).toMatchObject({ served: 2, others: 2, missed: 0 })
})

test('tests of one file that run at the same time are told to have scopes, and with scopes each replays its own', async () => {
  const live = await inventive()
  const { run } = project('a.test.ts')
  const upstream = { baseUrl: live.url, apiKey: liveKey }
  const atOnce = (scoped: boolean): Tests => ({
    all: async chat => {
      const names = ['one', 'two', 'three']
      const each = names.map(name =>
        asks(name)((messages, more) => chat(messages, { ...more, ...(scoped && { scope: name }) })),
      )
      return (await Promise.all(each)).join('; ')
    },
  })
  const { receipt } = await run('a.test.ts', atOnce(false), { mode: 'record', upstream, reset: false })
  expect(receipt?.remarks.join()).toContain(
    'Requests of concurrent tests in a.test.ts cannot be told apart. Give each test a scope',
  )
  const recorded = await run('a.test.ts', atOnce(true), { mode: 'record', upstream, reset: false })
  expect(recorded.receipt?.remarks).toEqual([])
  await live.close()
  const replayed = await run('a.test.ts', atOnce(true), { mode: 'replay', reset: false })
  expect(replayed.told).toEqual(recorded.told)
})

test('below exec, scopes of two shards that record at once into one folder replay with --strict-unused, together and each alone', async () => {
  const live = await inventive()
  const dir = folderWith({ 'app.mjs': app })
  const env = { STANDIN_UPSTREAM_BASE_URL: live.url, STANDIN_UPSTREAM_API_KEY: liveKey }
  const exec = (flags: readonly string[], ...scopes: readonly string[]) =>
    startIn(dir, ['exec', ...flags, '--', process.execPath, 'app.mjs', ...scopes], { env }).ended
  const [one, two] = await Promise.all([exec(['--mode', 'record'], 'a', 'b'), exec(['--mode', 'record'], 'c', 'd')])
  expect([one.code, two.code]).toEqual([0, 0])
  await live.close()

  const replay = ['--mode', 'replay', '--strict-unused']
  const all = await exec([...replay, '--whole'], 'a', 'b', 'c', 'd')
  expect(all).toMatchObject({ code: 0, stdout: one.stdout + two.stdout })
  expect(await exec(replay, 'd')).toMatchObject({
    code: 0,
    stderr: expect.stringContaining('2 served, 0 missed, 0 unused'),
  })
  expect(await exec([...replay, '--whole'], 'd')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('6 unused'),
  })
})

test('a name of 300 characters, with slashes and emoji, equal in two files, is a test like any other', async () => {
  const live = await inventive()
  const { run, files } = project('a.test.ts', 'b.test.ts')
  const odd = { [`${'x'.repeat(280)} / ../.. 🙂: "quoted" # > `]: asks('thanks') }
  const upstream = { baseUrl: live.url, apiKey: liveKey }
  const told = []
  for (const file of ['a.test.ts', 'b.test.ts']) told.push((await run(file, odd, { mode: 'record', upstream })).told)
  await live.close()
  expect(Object.keys(files())).toHaveLength(4)
  for (const [i, file] of ['a.test.ts', 'b.test.ts'].entries())
    expect((await run(file, odd, { mode: 'replay' })).told).toEqual(told[i])
})
