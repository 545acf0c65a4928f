/** A real browser for the tests of the dashboard. */
import { existsSync, statfsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type CDPSession,
  type ConsoleMessage,
  chromium,
  type Locator,
  type Page,
  type Request,
  type WebError,
} from 'playwright-core'
import { beforeAll, expect, onTestFinished, test, vi } from 'vitest'

/** Debian's Chromium; its headless shell opens a page in half the time. */
const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync)
const noBrowser = executablePath === undefined
if (noBrowser) console.warn('The tests of the dashboard are skipped: there is no Chromium in /usr/bin.')

/** A test that needs a browser. */
export const inBrowser = test.skipIf(noBrowser)

const browserFlags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --process-per-site'
/** Fewer processes, and with them a tenth less CPU. */
const fewerProcesses = ['--in-process-gpu', '--enable-features=NetworkServiceInProcess2']
/** A name that a foreign DNS points at this machine. */
export const REBOUND = 'rebound.example'
const browserArguments = [
  ...browserFlags.split(' '),
  ...fewerProcesses,
  `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`,
]

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
  /** Whether time passes as the test says, for what the page does every few seconds. Only a context of its own has a clock. */
  readonly hasClock?: boolean
}

/** Playwright has Chromium share memory in files on the disk. Where there is room in memory, that saves CPU. */
const ignoreDefaultArgs = hasRoom('/dev/shm') ? ['--disable-dev-shm-usage'] : []

/** Containers often have 64 MB there, in which Chromium crashes. */
function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > 1e9
}

interface SharedPage {
  readonly page: Page
  /** To the page's browser, for what Playwright has no word for. */
  readonly session: CDPSession
  isInUse: boolean
}

let launched: Promise<Browser> | undefined
let shared: Promise<SharedPage> | undefined

/** One for all tests of a worker; it ends with the worker. */
async function theBrowser(): Promise<Browser> {
  const before = await launched
  if (before?.isConnected()) return before
  shared = undefined
  launched = chromium.launch({ executablePath: executablePath as string, args: browserArguments, ignoreDefaultArgs })
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

/** The page of most tests, one after the other: to start a context, a page and a renderer for each takes more time than most of the tests. */
async function newSharedPage(): Promise<SharedPage> {
  const context = await newContext()
  const page = await context.newPage()
  return { page, session: await context.newCDPSession(page), isInUse: false }
}

/** Gives the shared page the look that a test asks for. */
async function show({ page }: SharedPage, { viewport = desk, colorScheme = 'light', permissions }: Look) {
  if (permissions) await page.context().grantPermissions([...permissions])
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
}

/** Leaves the shared page as a new one, without what it has stored at these origins. */
async function forget({ page, session }: SharedPage, origins: ReadonlySet<string>): Promise<void> {
  const context = page.context()
  await Promise.all(context.pages().map(other => other !== page && other.close()))
  page.removeAllListeners('request')
  await page.unrouteAll({ behavior: 'ignoreErrors' })
  await page.goto('about:blank')
  for (const origin of origins) await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' })
  await context.clearCookies()
  await context.clearPermissions()
}

/**
 * Opens pages, each in a browser that has seen nothing yet: the first page of a test is the shared one, others are in contexts of their
 * own. To be called once in a file of tests.
 */
export function useBrowser(): (look?: Look) => Promise<OpenedPage> {
  beforeAll(async () => {
    if (!noBrowser) await theBrowser()
  }, 60_000)

  return async (look = {}) => {
    await theBrowser()
    shared ??= newSharedPage()
    const common = await shared
    if (common.isInUse || look.timezoneId !== undefined || look.hasClock) return openOwn(look)
    common.isInUse = true
    const { asked, complaints, end } = listenTo(common.page.context())
    onTestFinished(async () => {
      end()
      const origins = asked.filter(url => url.startsWith('http')).map(url => new URL(url).origin)
      // A page that has crashed, or that its test has closed, is not used again.
      await forget(common, new Set(origins)).catch(async () => {
        shared = undefined
        await common.page.context().close()
      })
      common.isInUse = false
    })
    await show(common, look)
    return { page: common.page, asked, complaints }
  }
}

/** Opens a page in a context of its own, which ends with the test. */
async function openOwn({ hasClock, ...look }: Look): Promise<OpenedPage> {
  const context = await newContext(look as BrowserContextOptions)
  onTestFinished(() => context.close())
  if (hasClock) await context.clock.install()
  const { asked, complaints } = listenTo(context)
  return { page: await context.newPage(), asked, complaints }
}

/** Collects what pages ask for and complain about, until the end. */
function listenTo(context: BrowserContext) {
  const asked: string[] = []
  const complaints: string[] = []
  const request = (request: Request) => void asked.push(request.url())
  const message = (message: ConsoleMessage) => {
    if (!message.text().startsWith('Failed to load resource')) complaints.push(message.text())
  }
  const weberror = (webError: WebError) => void complaints.push(webError.error().message)
  context.on('request', request).on('console', message).on('weberror', weberror)
  const end = () => context.off('request', request).off('console', message).off('weberror', weberror)
  return { asked, complaints, end }
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

/** Lets time pass on a page that has a clock, until this is so. */
export const later = (page: Page, isSo: () => Promise<boolean>) =>
  vi.waitFor(
    async () => {
      await page.clock.fastForward(5000)
      expect(await isSo()).toBe(true)
    },
    { timeout: 60_000 },
  )

/** Comes back to the page, as from the terminal. */
export const comeBack = (page: Page) => page.evaluate("dispatchEvent(new Event('focus'))")

/** What the clipboard holds. */
export const clipboardOf = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

/** Whether the keyboard is at this element. */
export const hasFocus = async (page: Page, element: Locator) =>
  (await element.and(page.locator(':focus')).count()) === 1

/** How often Tab repeats before it is looked where the keyboard is: each look takes longer than a press. */
const HELD = 8

/** Holds Tab down until the keyboard is at this element. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor()
  for (let presses = 0; presses < 80; presses += HELD) {
    // Found again each time, since the page may have drawn another in its place.
    if (await element.evaluate(endTabAt)) return
    await Promise.all(Array.from({ length: HELD }, () => page.keyboard.down('Tab')))
    await page.keyboard.up('Tab')
  }
  throw new Error(`The keyboard does not get to ${element}.`)
}

/** What it needs of the DOM, which the tests do not know. */
interface PageNode {
  readonly ownerDocument: {
    readonly activeElement: unknown
    readonly defaultView: { onkeydown: ((key: { readonly key: string; preventDefault(): void }) => void) | null }
  }
}

/** Runs on the page: whether the keyboard is at this element. If not yet, Tab goes no further than to it. */
function endTabAt(node: unknown): boolean {
  const { ownerDocument } = node as PageNode
  const isThere = () => ownerDocument.activeElement === node
  ownerDocument.defaultView.onkeydown = isThere()
    ? null
    : pressed => {
        if (pressed.key === 'Tab' && isThere()) pressed.preventDefault()
      }
  return isThere()
}
