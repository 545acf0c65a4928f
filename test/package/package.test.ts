import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { startPlatform } from '../../src/index.js'
import { type Files, forAll, writeInto } from '../command.js'
import { platformWith } from '../scene.js'
import { type App, appsForAll, asking, hasPackage } from './apps.js'
import { filesOf, page, remote } from './pages.js'

const appFolder = appsForAll()

/** The TypeScript tests on these pages, which send requests through the module of the app. */
const testsOn = (...names: readonly string[]): Files => {
  const blocks = names.flatMap(name => [...page(name).matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code))
  return Object.fromEntries(blocks.map((code, i) => [`pages/${i}.spec.ts`, code]))
}

/** All tests of the app, the pages and the app with projects, including those that fail, in one run: starting another one takes longer than the tests. */
const ranApp = forAll(async until => {
  const app = await appFolder(until)
  const onPages = testsOn('README.md', 'docs/coming-from.md', 'docs/testing.md', 'skills/standin/SKILL.md')
  cpSync(path.join(import.meta.dirname, 'builder'), app.dir, { recursive: true })
  writeInto(app.dir, { ...onPages, 'src/ask.js': asking })
  const flags = ['--reporter=default', '--reporter=json', '--outputFile=outcome.json']
  const { code, output } = await app.run('vitest/vitest.mjs', 'run', ...flags)
  return { app, code, output, countsIn: countsOf(app) }
})

/** How many tests passed, and how many did not, in files whose names start with a prefix. */
function countsOf({ dir }: App) {
  const { testResults } = JSON.parse(readFileSync(path.join(dir, 'outcome.json'), 'utf8')) as Outcome
  return (start: string) => {
    const files = testResults.filter(({ name }) => path.relative(dir, name).startsWith(start))
    const statuses = files.flatMap(({ assertionResults }) => assertionResults.map(({ status }) => status))
    const passed = statuses.filter(status => status === 'passed').length
    return { files: files.length, passed, others: statuses.length - passed }
  }
}

/** What vitest writes with `--reporter=json`. */
interface Outcome {
  readonly testResults: readonly {
    readonly name: string
    readonly assertionResults: readonly { readonly status: string }[]
  }[]
}

test('the tests of an app pass in parallel files', async () => {
  const { countsIn } = await ranApp()
  expect(countsIn('tests/')).toEqual({ files: 4, passed: 16, others: 0 })
})

test('the tests in the README, on the pages and in the skill pass in parallel files', async () => {
  const { countsIn } = await ranApp()
  expect(countsIn('pages/')).toEqual({ files: 5, passed: 7, others: 0 })
})

test('the files of a globalSetup in the documentation pass', async () => {
  const app = await appFolder()
  writeInto(app.dir, remote)
  const { code, output } = await app.run('vitest/vitest.mjs', 'run', '--config=remote/vitest.config.ts', '--root=.')
  expect(output).toMatch(/Tests {2}2 passed/)
  expect(code).toBe(0)
})

test('an app with users and projects passes its tests, and is recorded and replayed', async () => {
  const { app, countsIn } = await ranApp()
  expect(countsIn('tests/app.spec.js')).toEqual({ files: 1, passed: 3, others: 0 })
  const live = await startPlatform({ config: path.join(app.dir, 'platform.config.yaml'), rules: [liveProjects] })
  onTestFinished(() => live.stop())
  const upstream = `upstream: { baseUrl: '${live.url}', apiKey: ${live.apiKey} }`
  const config = readFileSync(path.join(app.dir, 'platform.config.yaml'), 'utf8')
  writeInto(app.dir, { 'recorded.yaml': `${config}${upstream}\n` })
  const main = ['--config', 'recorded.yaml', '--state', 'memory', '--port', '0', '--', 'node', 'src/main.js']
  for (const mode of [['record'], ['replay', '--strict']]) {
    const { output } = await app.run('standin/dist/cli.js', 'exec', '--mode', ...mode, ...main)
    expect(output).toMatch(/name: 'Live'.*building atlas\ndeployed/s)
  }
})

test('the agent example in the documentation passes its tests', async () => {
  const app = await appFolder()
  const config = "export default { test: { include: ['tests/agent.spec.js'] } }"
  cpSync(path.join(import.meta.dirname, 'agent'), app.dir, { recursive: true })
  writeInto(app.dir, { ...filesOf('mcp.md'), 'agent.config.js': config })
  const { output } = await app.run('vitest/vitest.mjs', 'run', '--config=agent.config.js')
  expect(output).toMatch(/Tests {2}2 passed/)
})

/** Users of the live platform have their own rows, so a rule stands in for them. */
const liveProjects = { on: 'GET /builder/projects', reply: { json: [{ id: 'live', name: 'Live' }] } } as const

test('a test with node:test connects to a platform in another process', async () => {
  const app = await appFolder()
  const { url } = await platformWith()
  const file = path.join(app.dir, 'weather.test.mjs')
  writeFileSync(file, readFileSync(file, 'utf8').replace('process.env.STANDIN_URL', JSON.stringify(url)))
  expect((await app.run('--test-reporter=tap', 'weather.test.mjs')).output).toMatch(/^ok 1 - the bot greets$/m)
})

test('failures show the expected request and the nearest one', async () => {
  const { code, output, countsIn } = await ranApp()
  expect(code).toBe(1)
  expect(countsIn('failing/failing.spec.ts')).toEqual({ files: 1, passed: 1, others: 6 })
  const failureOf = (of: string) => {
    const from = output.indexOf(` FAIL  failing/${of}`)
    return output.slice(from, output.indexOf('⎯⎯⎯', from))
  }
  expect(failureOf('failing.spec.ts > sends a request that no rule answers')).toContain(
    'Error: A request had no prepared answer.\n\n' +
      'POST /v1/chat/completions, "When do you open?": No rule matches this request, and strict is on. ' +
      'The only rule for such requests is rule "hours" (rules[0]): user does not contain "opening hours".',
  )
  const came = 'POST /v1/chat/completions 200 · gpt-4o-mini · "Tell me your opening hours" · rule "hours"'
  const model = failureOf('failing.spec.ts > expects another model')
  expect(model).toContain('The nearest is POST /v1/chat/completions, 200:')
  expect(model).toMatch(/^- +"model": "gpt-5",\n\+ +"model": "gpt-4o-mini",$/m)
  expect(model.match(/^[-+] {2,}/gm)).toHaveLength(2)
  expect(model).toContain(`Received:\n  ${came}`)
  expect(failureOf('failing.spec.ts > expects no request')).toContain("One exchange matches { path: '/v1/*' }.")
  expect(failureOf('failing.spec.ts > expects more requests')).toContain(
    "One exchange matches { model: 'gpt-4o-mini' }, but 2 should.",
  )
  expect(failureOf('failing.spec.ts > expects on something that is not a platform')).toContain(
    'This matcher needs a platform or one of its scopes',
  )
  expect(output).toMatch(
    /The platform advises on "sends a key of somebody else":\n {2}GET \/v1\/models 401 .*\n {4}→ Send the OPENAI_API_KEY/,
  )
  expect(failureOf('early.spec.ts')).toContain(
    'The platform starts before the tests. Use its url in a test or in a hook',
  )
})

test('a failed test says why the reply that it prepared did not answer, also among tests that run at the same time', async () => {
  const { output } = await ranApp()
  expect(output).toMatch(
    /"one after the other > asks in other words than prepared":\n.*\n {4}→ .*: user does not match \/weather\/\.$/m,
  )
  expect(output).toMatch(/POST \/deploy 404 .*\n {4}→ The nearest is rule "rules\[0\]": body\.to is not "eu"\.$/m)
  expect(output).toMatch(/"storms" · canned reply\n {4}→ .*: user does not contain "winds"\.$/m)
  expect(output).not.toContain('passing weather')
})

test('the same with node:test', async () => {
  const { output } = await (await appFolder()).run('--test-reporter=tap', 'failing/prepared.mjs')
  expect(output).toMatch(/The platform advises on this test:.*user does not match \/weather\/\./s)
  expect(output).not.toContain('passing weather')
})

test('failures show the same with node:test', async () => {
  const { code, output } = await (await appFolder()).run('--test-reporter=tap', 'tests/plain.mjs')
  expect(code).toBe(1)
  expect(output).toMatch(/^ok 1 - the model greets$/m)
  expect(output).toMatch(/^not ok 2 - sends a request that no rule answers$/m)
  expect(output).toContain(
    '"hello": No rule matches this request, and strict is on. There are no rules for such requests.',
  )
  expect(output).toMatch(/^not ok 3 - expects another model$/m)
  expect(output).toMatch(/expected { model: 'gpt-5' }\n +received { model: 'gpt-4o-mini' }/)
})

test.runIf(hasPackage('jest'))('failures show the same with jest', async () => {
  const { code, output } = await (await appFolder()).runJest()
  expect(code).toBe(1)
  expect(output).toMatch(/^ +✓ a question is answered/m)
  expect(output).toMatch(/^ +✓ the platform works the same over HTTP/m)
  expect(output).toMatch(/^ +✓ nothing is left over from other tests/m)
  expect(output).toMatch(/^ +✕ expects another model/m)
  expect(output).toMatch(/"asks in other words than prepared":\n.*\n +→ .*: user does not match \/weather\/\.$/m)
  expect(output).toMatch(/"reads what it has not prepared":\n.*\n +→ .*: user does not match \/tides\/\.$/m)
  expect(output).not.toContain('passing weather/.')
  expect(output).toMatch(/^ +- +"model": "gpt-5",\n +\+ +"model": "gpt-4o-mini",$/m)
})
