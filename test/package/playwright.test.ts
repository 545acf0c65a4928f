import { readFileSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { forAll, writeInto } from '../command.js'
import { inBrowser, launchOptions } from '../dashboard/browser.js'
import { freePort } from '../free-port.js'
import { appsForAll, playwrightFiles } from './apps.js'

const appFolder = appsForAll()

/** The app with the configuration of the documentation, on free ports and with the browser of this machine. */
const appForPlaywright = forAll(async until => {
  const app = await appFolder(until)
  const { 'playwright.config.ts': documented = '', ...files } = playwrightFiles()
  const [port, standinPort] = [await freePort(), await freePort()]
  const node = JSON.stringify(process.execPath).slice(1, -1)
  const config = documented
    .replaceAll(':3000', `:${port}`)
    .replaceAll('4100', String(standinPort))
    .replace('npx standin', `${node} node_modules/standin/dist/cli.js`)
    .replace('npm run dev', `${node} server.js`)
  const here = `import documented from './documented.config.ts'
export default {
  ...documented,
  reporter: [['line'], ['json', { outputFile: 'outcome.json' }]],
  use: { ...documented.use, launchOptions: ${JSON.stringify(launchOptions)} },
  webServer: { ...documented.webServer, env: { PORT: '${port}' } },
}`
  writeInto(app.dir, { ...files, 'documented.config.ts': config, 'here.config.ts': here })
  return app
})

/** Runs `playwright test`, and returns the errors of each test by its title. */
async function runPlaywright(...args: readonly string[]) {
  const app = await appForPlaywright()
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
  readonly errors: readonly { readonly message: string }[]
  readonly attachments: readonly { readonly name: string; readonly body?: string }[]
}

interface TitledResult extends Result {
  readonly title: string
}

const resultsIn = ({ suites = [], specs = [] }: Suite): readonly TitledResult[] => [
  ...specs.flatMap(({ title, tests }) => tests.flatMap(({ results }) => results.map(result => ({ ...result, title })))),
  ...suites.flatMap(resultsIn),
]

inBrowser('the tests of the documentation pass, and eight workers do not get answers of one another', async () => {
  const { code, output, results } = await runPlaywright('--repeat-each=3')
  expect(code, output).toBe(0)
  expect(results.filter(({ title }) => title.includes('while seven others'))).toHaveLength(24)
})
