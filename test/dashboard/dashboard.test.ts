import { existsSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { platformWith } from '../scene.js'

const executablePath = '/usr/bin/chromium'
const noBrowser = !existsSync(executablePath)
if (noBrowser) console.warn(`The tests of the dashboard are skipped: there is no ${executablePath}.`)
const inBrowser = test.skipIf(noBrowser)

const browserFlags =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync'

let browser: Browser
beforeAll(async () => {
  if (!noBrowser) browser = await chromium.launch({ executablePath, args: browserFlags.split(' ') })
}, 60_000)
afterAll(() => browser?.close())

const phone = { width: 360, height: 740 }
const desk = { width: 1280, height: 800 }

/** A page of a browser that has seen nothing yet, and everything that it asks for or complains about. */
async function openPage(look: { viewport?: typeof phone; colorScheme?: 'light' | 'dark' } = {}) {
  const context = await browser.newContext(look)
  onTestFinished(() => context.close())
  const page = await context.newPage()
  const asked: string[] = []
  const complaints: string[] = []
  page.on('request', request => asked.push(request.url()))
  page.on('console', message => complaints.push(message.text()))
  page.on('pageerror', error => complaints.push(error.message))
  page.on('requestfailed', request => complaints.push(`${request.url()} failed`))
  return { page, asked, complaints }
}

/** A web page of another origin, such as an app in development. */
async function openPageElsewhere(): Promise<Page> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end('<!doctype html><link rel="icon" href="data:,"><p>An app.</p>')
  })
  await new Promise<void>(listening => server.listen(0, '127.0.0.1', listening))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { page } = await openPage()
  await page.goto(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  return page
}

/** What a script on the page gets from a fetch: the answer, or the browser's refusal. */
const fetchOn = (
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

inBrowser('the start page shows where to point an app, the endpoints and the models', async () => {
  const { url, dashboardUrl } = await platformWith({ models: [{ id: 'model-one' }, { id: 'vendor/model-two' }] })
  const { page } = await openPage()
  expect((await page.goto(dashboardUrl))?.status()).toBe(200)
  expect(await page.title()).toBe('Standin')
  const connect = page.getByRole('region', { name: 'Connect an app' })
  expect(await connect.locator('dd').allInnerTexts()).toEqual([url, `${url}/v1`, url])
  expect(await page.getByRole('row').allInnerTexts()).toEqual([
    'Method\tPath\tCredential',
    'GET\t/health\tnone',
    'GET\t/api/v1\tanon, service, user',
    'GET\t/v1/models\tapiKey, user',
    'POST\t/v1/chat/completions\tapiKey, user',
  ])
  expect(await page.getByRole('listitem').allInnerTexts()).toEqual(['model-one', 'vendor/model-two'])
  expect(await page.locator('pre').first().textContent()).toContain(`curl ${url}/v1/chat/completions`)
})

inBrowser('the start page loads nothing from elsewhere and complains of nothing', async () => {
  const { url, dashboardUrl } = await platformWith()
  const { page, asked, complaints } = await openPage()
  await page.goto(dashboardUrl, { waitUntil: 'networkidle' })
  expect(asked).toContain(`${url}/dashboard/style.css`)
  expect(asked.filter(address => new URL(address).origin !== url)).toEqual([])
  expect(complaints).toEqual([])
})

inBrowser('no key stands anywhere in the page', async () => {
  const { dashboardUrl, apiKey, anonKey, serviceKey } = await platformWith({
    upstream: { apiKey: 'sk-live-secret', anonKey: 'live-anon-secret' },
  })
  const { page } = await openPage()
  await page.goto(dashboardUrl)
  const source = await page.content()
  expect(source).toContain('</html>')
  for (const key of [apiKey, anonKey, serviceKey, 'sk-live-secret', 'live-anon-secret']) {
    expect(source).not.toContain(key)
  }
})

inBrowser('what stands in the configuration is shown as text, whatever it is', async () => {
  const id = `<img src=x onerror="alert(1)">&amp;'"`
  const { dashboardUrl } = await platformWith({ models: [{ id }] })
  const { page, complaints } = await openPage()
  await page.goto(dashboardUrl, { waitUntil: 'networkidle' })
  expect(await page.getByRole('listitem').allInnerTexts()).toEqual([id])
  expect(await page.locator('img').count()).toBe(0)
  expect(complaints).toEqual([])
})

inBrowser.each([
  ['phone', 'light', phone],
  ['phone', 'dark', phone],
  ['desk', 'light', desk],
  ['desk', 'dark', desk],
] as const)('the start page fits a %s in %s colours', async (_device, colorScheme, viewport) => {
  const models = [{ id: 'a_model_with_a_name_that_is_longer_than_a_phone_is_wide_and_never_breaks' }]
  const { dashboardUrl } = await platformWith({ models: [...models, { id: 'short' }] })
  const { page } = await openPage({ viewport, colorScheme })
  await page.goto(dashboardUrl)
  const colour = (name: string) => page.evaluate<string>(`getComputedStyle(document.body).${name}`)
  expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(viewport.width)
  const [paper, text] = colorScheme === 'light' ? [240, 60] : [60, 240]
  expect(Math.abs(brightness(await colour('backgroundColor')) - paper)).toBeLessThan(60)
  expect(Math.abs(brightness(await colour('color')) - text)).toBeLessThan(60)
})

inBrowser('the start page can be used with a keyboard: what scrolls can be reached', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage({ viewport: phone })
  await page.goto(dashboardUrl)
  // An expression as text: the tests know no DOM.
  const scrolling = await page.evaluate(
    `[...document.querySelectorAll('*')].filter(element => getComputedStyle(element).overflowX === 'auto')
      .map(({ tagName, tabIndex }) => ({ tagName, tabIndex }))`,
  )
  expect(scrolling).toEqual([
    { tagName: 'DIV', tabIndex: 0 },
    { tagName: 'PRE', tabIndex: 0 },
    { tagName: 'PRE', tabIndex: 0 },
  ])
})

inBrowser('an app of another origin calls the platform with its key', async () => {
  const { url, apiKey } = await platformWith({ models: [{ id: 'model-one' }] })
  const page = await openPageElsewhere()
  const authorization = `Bearer ${apiKey}`
  expect(await fetchOn(page, `${url}/v1/models`, { headers: { authorization } })).toMatchObject({
    status: 200,
    body: { data: [{ id: 'model-one' }] },
  })
  const body = JSON.stringify({ model: 'model-one', messages: [{ role: 'user', content: 'hello' }] })
  const headers = { authorization, 'content-type': 'application/json', 'x-stainless-lang': 'js' }
  expect(await fetchOn(page, `${url}/v1/chat/completions`, { method: 'POST', headers, body })).toMatchObject({
    status: 200,
    body: { object: 'chat.completion' },
  })
})

inBrowser('an app of another origin can read what was wrong', async () => {
  const { url } = await platformWith()
  const page = await openPageElsewhere()
  const headers = { authorization: 'Bearer nothing' }
  expect(await fetchOn(page, `${url}/nowhere`, { headers })).toEqual({
    status: 404,
    body: { error: 'Not found.', path: '/nowhere' },
  })
  expect(await fetchOn(page, `${url}/v1/models`, { headers })).toEqual({
    status: 401,
    body: { error: 'The API key is not known.' },
  })
  expect(await fetchOn(page, `${url}/v1/models`, { method: 'POST', headers })).toMatchObject({ status: 405 })
})

inBrowser("a page of another origin cannot read Standin's own pages", async () => {
  const { url } = await platformWith()
  const page = await openPageElsewhere()
  for (const path of ['/dashboard', '/dashboard/style.css', '/__standin/ready']) {
    expect(await fetchOn(page, url + path)).toEqual({ refused: 'Failed to fetch' })
  }
  expect(await fetchOn(page, `${url}/health`)).toMatchObject({ status: 200 })
})

inBrowser('a page of another origin cannot frame the dashboard', async () => {
  const { dashboardUrl } = await platformWith()
  const page = await openPageElsewhere()
  const refused = page.waitForEvent('console', message => message.text().includes('frame-ancestors'))
  await page.evaluate(`document.body.append(
    Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(dashboardUrl)} }),
  )`)
  expect((await refused).type()).toBe('error')
})

/** From 0, black, to 255, white. */
function brightness(rgb: string): number {
  const [red = 0, green = 0, blue = 0] = rgb.match(/\d+/g)?.map(Number) ?? []
  return (red + green + blue) / 3
}
