/** A real browser for the tests of the dashboard. */
import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type ConsoleMessage,
  chromium,
  type Locator,
  type Page,
  type Request,
  type WebError,
} from 'playwright-core'
import { beforeAll, onTestFinished, test } from 'vitest'

/** Debian's Chromium; its headless shell opens a page in half the time. */
const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync)
const noBrowser = executablePath === undefined
if (noBrowser) console.warn('The tests of the dashboard are skipped: there is no Chromium in /usr/bin.')

/** A test that needs a browser. */
export const inBrowser = test.skipIf(noBrowser)

const browserFlags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --process-per-site'
/** A name that a foreign DNS points at this machine. */
export const REBOUND = 'rebound.example'
const browserArguments = [...browserFlags.split(' '), `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`]

export const phone = { width: 360, height: 740 }
export const desk = { width: 1440, height: 900 }
export interface OpenedPage {
  readonly page: Page
  /** Every address that it asked for. */
  readonly asked: readonly string[]
  /** What it or the browser complained about; answers that are refusals are no complaints. */
  readonly complaints: readonly string[]
}

/** What a page can be given after its context was made. */
interface Look {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  readonly permissions?: readonly string[]
  /** Only a context of its own has another time zone. */
  readonly timezoneId?: string
}

interface SharedContext {
  readonly context: BrowserContext
  isInUse: boolean
}

let launched: Promise<Browser> | undefined
let shared: Promise<SharedContext> | undefined

/** One for all tests of a worker; it ends with the worker. */
async function theBrowser(): Promise<Browser> {
  const before = await launched
  if (before?.isConnected()) return before
  shared = undefined
  launched = chromium.launch({ executablePath: executablePath as string, args: browserArguments })
  return launched
}

async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const browser = await theBrowser()
  const context = await browser.newContext({ reducedMotion: 'reduce', viewport: desk, ...options })
  // Only a page that hangs takes so long; a slow machine with all cores busy may take a third of it.
  context.setDefaultTimeout(60_000)
  // An expression as text: the tests know no DOM.
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', ({ violatedDirective: rule, blockedURI: what }) => console.error(rule, what))`,
  )
  return context
}

/**
 * The context of most tests, one after the other. Its pages share a renderer process, which the page that stays open keeps alive: to start
 * a context and a renderer for each test takes more time than most of the tests.
 */
async function newSharedContext(): Promise<SharedContext> {
  const context = await newContext()
  const page = await context.newPage()
  await page.route('**', route => route.fulfill({ contentType: 'text/html', body: '' }))
  await page.goto('http://127.0.0.1/')
  return { context, isInUse: false }
}

/** Opens the page of a test in the shared context, which forgets everything when the test is over. */
async function openIn({ context }: SharedContext, { viewport = desk, colorScheme = 'light', permissions }: Look) {
  if (permissions) await context.grantPermissions([...permissions])
  const page = await context.newPage()
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
  return page
}

/** Closes the pages of a test, and removes what they have stored at these origins. */
async function forget({ context }: SharedContext, origins: ReadonlySet<string>): Promise<void> {
  const [stays, ...pages] = context.pages()
  await Promise.all(pages.map(page => page.close()))
  const session = await context.newCDPSession(stays as Page)
  for (const origin of origins) await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await session.detach()
  await context.clearCookies()
  await context.clearPermissions()
}

/**
 * Opens pages, each in a browser that has seen nothing yet: the first page of a test in the shared context, others in contexts of their
 * own. To be called once in a file of tests.
 */
export function useBrowser(): (look?: Look) => Promise<OpenedPage> {
  beforeAll(async () => {
    if (!noBrowser) await theBrowser()
  }, 60_000)

  return async (look = {}) => {
    await theBrowser()
    shared ??= newSharedContext()
    const common = await shared
    const isOwn = common.isInUse || look.timezoneId !== undefined
    const context = isOwn ? await newContext(look as BrowserContextOptions) : common.context
    const asked: string[] = []
    const complaints: string[] = []
    const listeners = {
      request: (request: Request) => void asked.push(request.url()),
      console: (message: ConsoleMessage) => {
        if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text())
      },
      weberror: (webError: WebError) => void complaints.push(webError.error().message),
    }
    context.on('request', listeners.request).on('console', listeners.console).on('weberror', listeners.weberror)
    if (isOwn) {
      onTestFinished(() => context.close())
      return { page: await context.newPage(), asked, complaints }
    }
    common.isInUse = true
    onTestFinished(async () => {
      context.off('request', listeners.request).off('console', listeners.console).off('weberror', listeners.weberror)
      const origins = asked.filter(url => url.startsWith('http')).map(url => new URL(url).origin)
      await forget(common, new Set(origins))
      common.isInUse = false
    })
    return { page: await openIn(common, look), asked, complaints }
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

/** Goes to another address of the page without loading it again, as its links do. */
export const goWithin = (page: Page, address: string) =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`)

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
  // Looked up once: to find an element by its role and name takes far longer than a key press.
  let handle = await element.elementHandle()
  for (let i = 0; i < 80; i++) {
    const { isFocused, isGone } = (await handle?.evaluate(placeOf)) ?? { isGone: true }
    if (isFocused) return
    if (isGone) handle = await element.elementHandle()
    await page.keyboard.press('Tab')
  }
  throw new Error(`The keyboard does not get to ${element}.`)
}

/** Runs on the page. The tests know no DOM. */
const placeOf = (node: unknown) => {
  const element = node as { isConnected: boolean; ownerDocument: { activeElement: unknown } }
  return { isFocused: element.ownerDocument.activeElement === element, isGone: !element.isConnected }
}
