/** A real browser for the tests of the dashboard. */
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { beforeAll, onTestFinished, test } from 'vitest'

const executablePath = '/usr/bin/chromium'
const noBrowser = !existsSync(executablePath)
if (noBrowser) console.warn(`The tests of the dashboard are skipped: there is no ${executablePath}.`)

/** A test that needs a browser. */
export const inBrowser = test.skipIf(noBrowser)

const browserFlags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'
/** A name that somebody else's DNS says is this machine. */
export const REBOUND = 'rebound.example'
const browserArguments = [...browserFlags.split(' '), `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`]

export const phone = { width: 360, height: 740 }
export const desk = { width: 1440, height: 900 }
/** Each device with its first colours; axe looks at the other ones as well. */
export const looks = [
  ['phone', 'light', phone],
  ['desk', 'dark', desk],
] as const

export interface OpenedPage {
  readonly page: Page
  /** Every address that it asked for. */
  readonly asked: readonly string[]
  /** What it or the browser complained about; answers that are refusals are no complaints. */
  readonly complaints: readonly string[]
}

let launched: Promise<Browser> | undefined

/** One for all tests of a worker; it ends with the worker. */
async function theBrowser(): Promise<Browser> {
  const before = await launched
  if (before?.isConnected()) return before
  launched = chromium.launch({ executablePath, args: browserArguments })
  return launched
}

/** Opens pages, each in a browser that has seen nothing yet. To be called once in a file of tests. */
export function useBrowser(): (look?: BrowserContextOptions) => Promise<OpenedPage> {
  beforeAll(async () => {
    if (!noBrowser) await theBrowser()
  }, 60_000)

  return async (look = {}) => {
    const browser = await theBrowser()
    const context = await browser.newContext({ reducedMotion: 'reduce', viewport: desk, ...look })
    onTestFinished(() => context.close())
    context.setDefaultTimeout(20_000)
    const asked: string[] = []
    const complaints: string[] = []
    context.on('request', request => asked.push(request.url()))
    context.on('console', message => {
      if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text())
    })
    context.on('weberror', ({ error }) => complaints.push(error().message))
    // An expression as text: the tests know no DOM.
    await context.addInitScript(
      `addEventListener('securitypolicyviolation', ({ violatedDirective: rule, blockedURI: what }) => console.error(rule, what))`,
    )
    return { page: await context.newPage(), asked, complaints }
  }
}

/** A web page of another origin, such as an app in development. */
export async function appElsewhere(): Promise<string> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><link rel="icon" href="data:,"><p>An app.</p>')
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

/** What a script on the page gets from a fetch: the answer, or the browser's refusal. */
export const fetchOn = (
  page: Page,
  url: string,
  init: { method?: string; headers?: Record<string, string>; body?: string } = {},
) =>
  page.evaluate(
    ([url, init]) =>
      fetch(url, init).then(
        async response => ({ status: response.status, body: await response.json() }),
        (error: Error) => ({ refused: error.message }),
      ),
    [url, init] as const,
  )

/** Comes back to the page, as from the terminal. */
export const comeBack = (page: Page) => page.evaluate("dispatchEvent(new Event('focus'))")

/** What the clipboard holds. */
export const clipboardOf = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

/** Whether the keyboard is at this element. */
export const hasFocus = async (page: Page, element: Locator) =>
  (await element.and(page.locator(':focus')).count()) === 1

/** Presses Tab until the keyboard is at this element. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor()
  for (let i = 0; i < 80; i++) {
    if (await hasFocus(page, element)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`The keyboard does not get to ${element}.`)
}
