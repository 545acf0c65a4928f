/** Small suites for each runner, whose tests ask a model that never says the same twice, and what it said when they ran before. */
import type { Files } from '../command.js'

/** Asks, and compares the answer with that of an earlier run: a replay must say the same to each test. */
const asking = `import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'

const INSTRUCTIONS = process.env.INSTRUCTIONS ?? 'You are a bot.'

export async function ask(content, { url = process.env.OPENAI_BASE_URL, key = process.env.OPENAI_API_KEY, headers } = {}) {
  const messages = [{ role: 'system', content: INSTRUCTIONS }, { role: 'user', content }]
  const response = await fetch(url + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + key, 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages }),
  })
  const text = await response.text()
  assert.equal(response.status, 200, text)
  return JSON.parse(text).choices[0].message.content
}

/** The same question twice, and one of the test's own. */
export async function converse(test, options) {
  const said = [await ask('hello', options), await ask('hello', options), await ask('What about ' + test + '?', options)]
  mkdirSync('said', { recursive: true })
  const file = 'said/' + test + '.json'
  if (existsSync(file)) assert.deepEqual(said, JSON.parse(readFileSync(file, 'utf8')))
  else writeFileSync(file, JSON.stringify(said))
}

/** Two conversations at the same time, each in a scope of its own. */
export const converseInScopes = (tests, scope, url) =>
  Promise.all(tests.map(async test => converse(test, { url, key: (await scope(test)).apiKey })))

/** A reply that the test itself has prepared, as the first test of the README. */
export async function expectOwn(platform, options) {
  await platform.reply('Hi there!', { when: { user: /good morning/ } })
  assert.equal(await ask('good morning', options), 'Hi there!')
}
`

/** A suite of a runner. */
export interface Suite {
  readonly files: Files
  /** The arguments for Node. */
  command(workers: number, ...files: readonly string[]): readonly string[]
}

/** The files of a suite: two tests; two scopes in one test, and a test with a reply of its own. Each file costs a process in most runs. */
interface Texts {
  readonly ending: string
  readonly head: string
  test(title: string, body: string): string
  /** How a test asks. */
  readonly options: string
  /** What has the scopes. */
  readonly whole: string
  /** After three requests. */
  readonly check: string
  /** Before the test with a reply of its own, which then has a file of its own. */
  readonly ownServer?: string
}

function filesOf({ ending, head, test, options, whole, check, ownServer }: Texts): Files {
  const imports = `import { converse, converseInScopes, expectOwn } from '../ask.mjs'\n`
  const orders = ['orders one', 'orders two'].map(title =>
    test(title, `await converse('${title}'${options && `, ${options}`})${check}`),
  )
  const scoped = `await converseInScopes(['search one', 'search two'], one => ${whole}.scope(one)${options && `, ${whole}.url + '/v1'`})`
  const search = test('search', scoped)
  const own = test('has a reply of its own', `await expectOwn(platform${options && `, ${options}`})`)
  const files: Readonly<Record<string, readonly string[]>> = {
    orders,
    ...(ownServer === undefined ? { search: [search, own] } : { search: [search], own: [ownServer, own] }),
  }
  return {
    'ask.mjs': asking,
    ...Object.fromEntries(
      Object.entries(files).map(([name, parts]) => [`tests/${name}.${ending}`, head + imports + parts.join('')]),
    ),
  }
}

/** A program in any language would do the same: it names its tests by a header. The first test names nobody. */
const overHttp = `import { fork } from 'node:child_process'
import { once } from 'node:events'
import { converse, expectOwn } from './ask.mjs'

const tests = ['orders one', 'orders two', 'search one', 'search two']
const [workers, ...chosen] = process.argv.slice(2)
const scoped = name => ({ headers: name === 'orders one' ? {} : { 'x-standin-scope': name } })
const control = (method, path, body) =>
  fetch(process.env.PLATFORM_BASE_URL + '/__standin' + path, { method, headers: { 'content-type': 'application/json' }, body })

async function own() {
  const reply = (text, { when }) =>
    control('POST', '/replies?scope=own', JSON.stringify({ when: { user: when.user.source }, reply: { text } }))
  await expectOwn({ reply }, scoped('own'))
}

async function run(name) {
  await (name === 'own' ? own() : converse(name, scoped(name)))
  await control('DELETE', '/scopes/' + encodeURIComponent(name) + '?result=passed')
}

if (workers === 'worker') for (const name of chosen) await run(name)
else {
  const part = name => name === 'own' ? 'search' : name.split(' ')[0]
  const wanted = [...tests, 'own'].filter(name => chosen.length === 0 || chosen.includes(part(name)))
  const shares = Array.from({ length: Number(workers) }, (_, i) => wanted.filter((_name, n) => n % workers === i))
  const children = shares.map(share => fork('http.mjs', ['worker', ...share]))
  const ends = await Promise.all(children.map(child => once(child, 'exit')))
  process.exitCode = Math.max(...ends.map(([code]) => code ?? 1))
}
`

const hooks = { options: '', whole: 'platform' }

/** The suites, whose requests and titles are the same. */
export const runners = {
  vitest: {
    files: {
      'vitest.config.ts': "export default { test: { include: ['tests/*.test.mjs'], testTimeout: 60_000 } }\n",
      ...filesOf({
        ...hooks,
        ending: 'test.mjs',
        head: `import { usePlatform } from 'standin/vitest'
import { expect, test } from 'vitest'

const platform = usePlatform({ env: true })
`,
        test: (title, body) => `test('${title}', async () => {\n  ${body}\n})\n`,
        check: `\n  await expect(platform).toHaveReceivedTimes(3, '/v1/chat/completions')`,
      }),
    },
    command: (workers, ...files) => ['node_modules/vitest/vitest.mjs', 'run', `--maxWorkers=${workers}`, ...files],
  },
  jest: {
    files: {
      'jest.config.json': '{ "testMatch": ["**/tests/*.test.mjs"], "transform": {}, "testTimeout": 60000 }\n',
      ...filesOf({
        ...hooks,
        ending: 'test.mjs',
        head: `import { usePlatform } from 'standin/jest'

const platform = usePlatform({ env: true })
`,
        test: (title, body) => `test('${title}', async () => {\n  ${body}\n})\n`,
        check: `\n  await expect(platform).toHaveReceivedTimes(3, '/v1/chat/completions')`,
      }),
    },
    command: (workers, ...files) => [
      '--experimental-vm-modules',
      'node_modules/jest/bin/jest.js',
      `--maxWorkers=${workers}`,
      ...files,
    ],
  },
  'node:test': {
    files: filesOf({
      ...hooks,
      ending: 'test.mjs',
      head: `import { after, afterEach, before, beforeEach, test } from 'node:test'
import { assertReceived, createUsePlatform } from 'standin/test-runner'

const platform = createUsePlatform({ beforeAll: before, beforeEach, afterEach, afterAll: after })({ env: true })
`,
      test: (title, body) => `test('${title}', async () => {\n  ${body}\n})\n`,
      check: `\n  assertReceived(platform, '/v1/chat/completions', { times: 3 })`,
    }),
    command: (workers, ...files) => [
      '--test',
      `--test-concurrency=${workers}`,
      ...(files.length > 0 ? files.map(file => `tests/${file}.test.mjs`) : ['tests/*.test.mjs']),
    ],
  },
  Playwright: {
    files: {
      'playwright.config.mjs':
        "export default { testDir: 'tests', testMatch: '*.e2e.mjs', fullyParallel: true, reporter: 'list' }\n",
      ...filesOf({
        ending: 'e2e.mjs',
        head: `import { expect, test } from 'standin/playwright'
`,
        test: (title, body) => `test('${title}', async ({ platform, standin }) => {\n  ${body}\n})\n`,
        options: "{ url: standin.url + '/v1', key: platform.apiKey }",
        whole: 'standin',
        check: `\n  await expect(platform).toHaveReceivedTimes(3, '/v1/chat/completions')`,
        // The other files share the one that runs already, below \`standin exec\`.
        ownServer: 'test.use({ standinOptions: { seed: 2 } })\n',
      }),
    },
    command: (workers, ...files) => ['node_modules/@playwright/test/cli.js', 'test', `--workers=${workers}`, ...files],
  },
  HTTP: {
    files: { 'ask.mjs': asking, 'http.mjs': overHttp },
    command: (workers, ...files) => ['http.mjs', String(workers), ...files],
  },
} as const satisfies Readonly<Record<string, Suite>>

/** How many requests a suite sends to the model. */
export const REQUESTS = 12
/** Those, and the one that is answered by a reply of its test. */
export const ALL_REQUESTS = REQUESTS + 1
