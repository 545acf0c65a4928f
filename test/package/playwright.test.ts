import { readFileSync } from 'node:fs'
import path from 'node:path'
import { chromium } from 'playwright-core'
import { expect } from 'vitest'
import { forAll, writeInto } from '../command.js'
import { inBrowser, launchOptions } from '../dashboard/browser.js'
import { freePort } from '../free-port.js'
import { appsForAll, playwrightFiles } from './apps.js'

const appFolder = appsForAll()

/** One browser for all workers: starting several takes longer than the tests. */
const browserAddress = forAll(async until => {
  const server = await chromium.launchServer(launchOptions)
  until(() => server.close())
  return server.wsEndpoint()
})

/** Runs `playwright test` in the app, with the configuration of the documentation. Returns what became of each test. */
async function runPlaywright(...args: readonly string[]) {
  const app = await appFolder()
  const { 'playwright.config.ts': config = '', ...files } = playwrightFiles()
  const [port, standinPort] = [await freePort(), await freePort()]
  const node = JSON.stringify(process.execPath).slice(1, -1)
  const documented = config
    .replaceAll(':3000', `:${port}`)
    .replaceAll('4100', String(standinPort))
    .replace('npx standin', `${node} node_modules/standin/dist/cli.js`)
    .replace('npm run dev', `${node} server.js`)
  const here = `import documented from './documented.config.ts'
export default {
  ...documented,
  // Loading Playwright takes most of the time of a worker.
  workers: 4,
  reporter: [['line'], ['json', { outputFile: 'outcome.json' }]],
  use: { ...documented.use, connectOptions: { wsEndpoint: '${await browserAddress()}' } },
  webServer: { ...documented.webServer, env: { PORT: '${port}' } },
}`
  // A project that has been used with the live platform.
  const live = { '.env.local': 'VITE_SUPABASE_URL=https://abc.supabase.co\n' }
  writeInto(app.dir, { ...files, ...live, 'documented.config.ts': documented, 'here.config.ts': here })
  const { code, output } = await app.run('@playwright/test/cli.js', 'test', '--config=here.config.ts', ...args)
  const outcome: Suite = JSON.parse(readFileSync(path.join(app.dir, 'outcome.json'), 'utf8'))
  return { code, output, results: resultsIn(outcome) }
}

/** What Playwright's reporter writes: suites, down to each run of each test. */
interface Suite {
  readonly suites?: readonly Suite[]
  readonly specs?: readonly {
    readonly title: string
    readonly tests: readonly { readonly results: readonly Result[] }[]
  }[]
}

interface Result {
  readonly status: string
  readonly errors: readonly { readonly message: string }[]
  readonly attachments: readonly { readonly name: string; readonly body?: string }[]
}

/** All runs with the titles of their tests. */
const resultsIn = ({ suites = [], specs = [] }: Suite): readonly (Result & { readonly title: string })[] => [
  ...specs.flatMap(({ title, tests }) => tests.flatMap(({ results }) => results.map(result => ({ ...result, title })))),
  ...suites.flatMap(resultsIn),
]

inBrowser('the tests of the documentation pass, and four workers do not get answers of one another', async () => {
  const { code, output, results } = await runPlaywright('chat', 'crowd', 'workers')
  expect(code, output).toBe(0)
  expect(results.filter(({ title }) => title.includes('while three others'))).toHaveLength(4)
})

inBrowser('without scopes they would, and a test fails by what it did not prepare or did not reach', async () => {
  const { results, output } = await runPlaywright('failing')
  const alone = results.filter(({ title }) => title.endsWith('has no scope'))
  expect(alone.map(({ status }) => status).toSorted(), output).toEqual(['failed', 'failed', 'passed'])
  const failureOf = (wanted: string) => {
    const found = results.find(({ title }) => title === wanted)
    const attached = found?.attachments.find(({ name }) => name === 'standin')?.body ?? ''
    const requests = Buffer.from(attached, 'base64').toString()
    return { errors: found?.errors.map(({ message }) => message).join('\n') ?? '', requests }
  }
  const hold = failureOf('holds what nobody asks for')
  expect(hold.errors).toContain('No request reached hold "the answer about tides" on chat completions')
  expect(hold.requests).toBe('No request has arrived.')
  const model = failureOf('expects another model')
  expect(model.errors).toContain("No exchange matches { model: 'gpt-4o' }.")
  expect(model.requests).toContain('POST /v1/chat/completions 200 · gpt-4o-mini · "hello"')
  expect(failureOf('asks in other words than prepared').errors).toContain('user does not match /weather/.')
  const miss = failureOf('sends what no rule answers')
  expect(miss.errors).toContain(
    'A request had no prepared answer.\n\nPOST /v1/chat/completions, "When do you open?": No rule matches',
  )
  expect(failureOf('sends what no rule answers, and may')).toEqual({ errors: '', requests: '' })
  expect(failureOf('signs in on no page').errors).toContain('set baseURL in playwright.config.ts, or open a page first')
})
