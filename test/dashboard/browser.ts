/** A real browser for the tests of the dashboard. */
import { once } from 'node:events'
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
import type { Until } from '../command.js'

/** Debian's Chromium; its headless shell opens a page in half the time. */
const executablePath = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync) ?? ''
const noBrowser = executablePath === ''
if (noBrowser) console.warn('Dashboard tests are skipped: there is no Chromium in /usr/bin.')

/** A test that needs a browser. */
export const inBrowser = test.skipIf(noBrowser)

const browserFlags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --process-per-site'
/** Fewer processes, which saves a tenth of the CPU time. */
const fewerProcesses = ['--in-process-gpu', '--enable-features=NetworkServiceInProcess2']
/** A name that foreign DNS points at this machine. */
export const REBOUND = 'rebound.example'
const browserArguments = [
  ...browserFlags.split(' '),
  ...fewerProcesses,
  `--host-resolver-rules=MAP ${REBOUND} 127.0.0.1`,
]

export const phone = { width: 360, height: 740 }
export const desktop = { width: 1440, height: 900 }
interface OpenedPage {
  readonly page: Page
  /** Every URL that it requested. */
  readonly asked: readonly string[]
  /** Console messages and errors, except those about failed requests. */
  readonly complaints: readonly string[]
}

/** What can be set for an opened page. */
interface Look {
  readonly viewport?: { readonly width: number; readonly height: number }
  readonly colorScheme?: 'light' | 'dark'
  readonly permissions?: readonly string[]
  /** Needs a context of its own. */
  readonly timezoneId?: string
  /** Whether the test controls the time, for what the page does every few seconds. Needs a context of its own. */
  readonly hasClock?: boolean
}

/** Playwright makes Chromium keep shared memory on disk. With room in /dev/shm, ignoring that argument saves CPU. */
const ignoreDefaultArgs = hasRoom('/dev/shm') ? ['--disable-dev-shm-usage'] : []

/** Containers often have only 64 MB there, with which Chromium crashes. */
function hasRoom(folder: string): boolean {
  if (!existsSync(folder)) return false
  const { bavail, bsize } = statfsSync(folder)
  return bavail * bsize > 1e9
}

interface SharedPage {
  readonly page: Page
  /** DevTools, for what Playwright has no method for. */
  readonly session: CDPSession
  isInUse: boolean
}

/** How Playwright starts the browser. */
export const launchOptions = { executablePath, args: browserArguments, ignoreDefaultArgs }

let launched: Promise<Browser> | undefined
let shared: Promise<SharedPage> | undefined

/** One browser for all tests of a worker; it ends with the worker. */
async function theBrowser(): Promise<Browser> {
  const before = await launched
  if (before?.isConnected()) return before
  shared = undefined
  launched = chromium.launch(launchOptions)
  return launched
}

async function newContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const browser = await theBrowser()
  const context = await browser.newContext({ reducedMotion: 'reduce', viewport: desktop, ...options })
  // Only a page that hangs takes this long; a slow machine with all cores busy may take a third of it.
  context.setDefaultTimeout(60_000)
  // An expression as text, because the tests have no DOM types.
  await context.addInitScript(
    `addEventListener('securitypolicyviolation', ({ violatedDirective: rule, blockedURI: what }) => console.error(rule, what))`,
  )
  return context
}

/** The page that most tests use in turn: starting a context, a page and a renderer takes longer than most tests. */
async function newSharedPage(): Promise<SharedPage> {
  const context = await newContext()
  const page = await context.newPage()
  return { page, session: await context.newCDPSession(page), isInUse: false }
}

/** Gives the shared page the appearance and permissions that a test wants. */
async function prepare({ page }: SharedPage, { viewport = desktop, colorScheme = 'light', permissions }: Look) {
  if (permissions) await page.context().grantPermissions([...permissions])
  await page.setViewportSize(viewport)
  await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
}

/** Returns the shared page to the state of a new one, without anything stored at these origins. */
async function resetPage({ page, session }: SharedPage, origins: ReadonlySet<string>): Promise<void> {
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
 * Opens pages without any stored state: the first page of a test is the shared one, others are in contexts of their
 * own. Call it once per test file.
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
      // A page that crashed, or that its test closed, is not used again.
      await resetPage(common, new Set(origins)).catch(async () => {
        shared = undefined
        await common.page.context().close()
      })
      common.isInUse = false
    })
    await prepare(common, look)
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

/** Collects the requests and complaints of pages, until `end` is called. */
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

/** Opens pages for programs: `GET /?ADDRESS` is answered with the title of that page, once it has one. Each would need seconds to start a browser. */
export async function browserForPrograms(until: Until): Promise<string> {
  const server = createServer(async ({ url = '' }, response) => {
    const context = await newContext()
    const closed = once(response, 'close').then(() => context.close())
    const page = await context.newPage()
    // The program may have been ended, and its page with it.
    await page.goto(url.slice('/?'.length), { waitUntil: 'networkidle' }).catch(() => {})
    await page.waitForFunction('document.title').catch(() => {})
    response.end(await page.title().catch(() => ''))
    await closed
  })
  until(() => {
    server.closeAllConnections()
    server.close()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
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

/** What a script on the page gets from fetch: the answer, or the browser's refusal. */
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

/** Goes to another address within the page without reloading it, as its links do. */
export const goWithin = (page: Page, address: string) =>
  page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)}); dispatchEvent(new PopStateEvent('popstate'))`)

/** Advances the clock of a page until the condition holds. */
export const later = (page: Page, condition: () => Promise<boolean>) =>
  vi.waitFor(
    async () => {
      await page.clock.fastForward(5000)
      expect(await condition()).toBe(true)
    },
    { timeout: 60_000 },
  )

/** Gives the page focus, as when the user returns from the terminal. */
export const comeBack = (page: Page) => page.evaluate("dispatchEvent(new Event('focus'))")

/** The text on the clipboard. */
export const clipboardOf = (page: Page) => page.evaluate<string>('navigator.clipboard.readText()')

/** Whether this element has the focus. */
export const hasFocus = async (page: Page, element: Locator) =>
  (await element.and(page.locator(':focus')).count()) === 1

/** How often Tab repeats before the focus is checked: a check takes longer than a press. */
const HELD = 8

/** Holds Tab down until this element has the focus. */
export async function tabTo(page: Page, element: Locator): Promise<void> {
  await element.waitFor()
  for (let presses = 0; presses < 80; presses += HELD) {
    // Looked up again each time, because the page may have replaced it.
    if (await element.evaluate(endTabAt)) return
    await Promise.all(Array.from({ length: HELD }, () => page.keyboard.down('Tab')))
    await page.keyboard.up('Tab')
  }
  throw new Error(`The keyboard cannot reach ${element}.`)
}

/** What it needs of the DOM, for which the tests have no types. */
interface PageNode {
  readonly ownerDocument: {
    readonly activeElement: unknown
    readonly defaultView: { onkeydown: ((key: { readonly key: string; preventDefault(): void }) => void) | null }
  }
}

/** Runs on the page: whether this element has the focus. If not yet, Tab goes no further than this element. */
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
