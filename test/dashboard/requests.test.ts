import type { Page } from 'playwright-core'
import { expect, onTestFinished, vi } from 'vitest'
import { startPlatform } from '../../src/index.js'
import { folderWith } from '../command.js'
import { liveWith, proxyTo } from '../http/live.js'
import { expectAccessible } from './axe.js'
import { clipboardOf, desktop, goWithin, hasFocus, inBrowser, phone, tabTo, useBrowser } from './browser.js'
import { ada, openSignedIn } from './people.js'
import { hello, platformWith, type Scene } from './scene.js'
import { addressOfThisMachine } from './this-machine.js'

const openPage = useBrowser()

const rules = [{ name: 'greeting', when: { user: 'hello' }, reply: { text: 'Hi there, and welcome to our shop.' } }]
const pace = { firstTokenMs: 5, tokensPerSecond: 200 }
const weather = { ...hello, messages: [{ role: 'user', content: 'How is the weather?' }] }

const rowsOf = (page: Page) => page.getByRole('list', { name: 'Requests, the newest first' }).getByRole('listitem')
const row = (page: Page, text: string) => rowsOf(page).filter({ hasText: text }).first()
const state = (page: Page) => page.locator('.list-state p')
const says = (page: Page, text: string | RegExp) => state(page).filter({ hasText: text }).waitFor()
const pathsOn = async (page: Page) => rowsOf(page).locator('.request-what').allInnerTexts()

/** Opens the filters. */
const filters = (page: Page) => page.locator('summary', { hasText: 'Filters' }).click()

const visit = async ({ ask }: Scene, ...paths: readonly string[]) => {
  for (const path of paths) await (await ask(path)).text()
}

/** Opens the requests of a platform. */
async function openRequests(platform: Scene, look = {}, query = '') {
  const opened = await openPage(look)
  await opened.page.goto(`${platform.dashboardUrl}/requests${query}`)
  await opened.page.getByRole('heading', { name: 'Requests', exact: true }).waitFor()
  await state(opened.page).or(opened.page.getByLabel('Service key')).first().waitFor()
  return opened
}

inBrowser('requests appear as they arrive, newest first, with caller, request, decision and times', async () => {
  const platform = await platformWith({ rules, pace })
  const { page, complaints } = await openRequests(platform)
  await page.getByText('No requests yet').waitFor()
  await visit(platform, '/health', '/v1/models')
  await (await platform.chat({ ...hello, stream: true })).text()
  await (await platform.chat(weather)).text()
  await platform.ask('/v1/models', { bearer: null })
  await says(page, '5 requests')
  const texts = await rowsOf(page).allInnerTexts()
  expect(texts.map(text => text.replace(/\s+/g, ' '))).toEqual([
    expect.stringMatching(/401 GET \/v1\/models no credential No credential was sent/),
    expect.stringMatching(
      /200 How is the weather\? POST \/v1\/chat\/completions gpt-4o-mini key development No rule matched: /,
    ),
    expect.stringMatching(
      /200 hello POST .* gpt-4o-mini stream .* rule "greeting" tokens: \d+ \+ \d+ .*headers after .*, first token after .*, \d+ pieces?, complete after/,
    ),
    expect.stringMatching(/200 GET \/v1\/models key development/),
    expect.stringMatching(/200 GET \/health not identified/),
  ])
  expect(complaints).toEqual([])
})

inBrowser(
  'an exchange is shown in full: the conversation, the decision, the assembled answer, and its curl command',
  async () => {
    // Slow enough that pieces are not sent together when the process is busy.
    const platform = await platformWith({ rules, pace: { firstTokenMs: 5, tokensPerSecond: 20 } })
    await (await platform.chat({ ...hello, stream: true, top_k: 5 })).text()
    const { page } = await openRequests(platform, { permissions: ['clipboard-read', 'clipboard-write'] })
    expect(await row(page, '/v1/chat/completions').innerText()).toContain('OpenAI refuses this · rule "greeting"')
    await row(page, '/v1/chat/completions').click()
    const one = page.getByRole('complementary', { name: 'POST /v1/chat/completions' })
    expect(await hasFocus(page, one.getByRole('heading', { name: 'POST /v1/chat/completions' }))).toBe(true)
    expect(new URL(page.url()).search).toBe('?id=1')
    const part = (name: string) => one.getByRole('region', { name, exact: true })
    expect(await part('Why this response').innerText()).toContain('rule "greeting"')
    const refusal = 'OpenAI refuses this with 400: Unrecognized request argument supplied: top_k'
    expect(await part('Why this response').innerText()).toContain(refusal)
    expect(await part('Request').innerText()).toMatch(/user\s+hello/)
    expect(await part('Response').innerText()).toMatch(/assistant\s+Hi there, and welcome to our shop\./)
    await part('Response').getByRole('tab', { name: 'Events' }).click()
    expect(await part('Response').getByRole('tabpanel').innerText()).toContain('data: [DONE]')
    expect(await part('Time and size').innerText()).toMatch(
      /Headers\s+[\d.]+ ms.*First token\s+[\d.]+ ms.*Tokens\s+\d+ prompt, \d+ completion.*\d+ pieces, the longest pause/s,
    )
    await part('Request').locator('summary', { hasText: 'headers' }).click()
    expect(await part('Request').innerText()).toContain('[authorization]')
    expect(await one.innerText()).not.toContain(platform.apiKey)
    await one.getByRole('button', { name: 'Copy as curl' }).click()
    await one.getByRole('button', { name: 'Copied as curl' }).waitFor()
    expect(await clipboardOf(page)).toContain(`curl -N '${platform.url}/v1/chat/completions'`)
    await one.getByRole('button', { name: 'Copy link' }).click()
    await one.getByRole('button', { name: 'Copied link' }).waitFor()
    await page.goto(await clipboardOf(page))
    await one.waitFor()
  },
)

inBrowser('a refused request shows its body, its size and which credential was tried', async () => {
  const platform = await platformWith()
  const { accessToken } = await platform.signIn()
  const keys = { bearer: accessToken, headers: { 'content-type': 'application/json' } }
  const made = await platform.ask('/dashboard/api/keys', { ...keys, method: 'POST', body: '{"name":"old laptop"}' })
  const { id, key } = (await made.json()) as { readonly id: string; readonly key: string }
  await platform.ask(`/dashboard/api/keys/${id}`, { ...keys, method: 'DELETE' })
  await (await platform.chat(hello, { bearer: key })).text()
  await (await platform.chat(hello, { bearer: 'sk-of-another-platform' })).text()
  await (await platform.chat(hello, { bearer: null })).text()
  const { page } = await openRequests(platform, {}, '?caller=refused')
  await says(page, '2 requests')
  await row(page, 'revoked key old laptop').click()
  const one = page.getByRole('complementary')
  await one.getByText(/caller: revoked key old laptop/).waitFor()
  const text = await one.innerText()
  expect(text).toMatch(/user\s+hello/)
  expect(text).toContain(`Request size\n${JSON.stringify(hello).length} bytes`)
  expect(text).not.toMatch(/No request body|Create rule/)
  await page.goto(`${platform.dashboardUrl}/requests`)
  await row(page, 'unknown key (sk-of-').waitFor()
  await row(page, 'no credential').waitFor()
})

inBrowser('a fault is named as the cause of its effect', async () => {
  const platform = await platformWith({ rules, pace })
  await platform.chat(hello, { headers: { 'x-standin-fault': 'reset=before' } }).catch(() => {})
  const cut = await platform.chat({ ...hello, stream: true }, { headers: { 'x-standin-fault': 'cutAfterChunks=2' } })
  await cut.text().catch(() => {})
  const { page } = await openRequests(platform)
  await row(page, 'Cut off: fault cutAfterChunks=2').waitFor()
  await row(page, 'No response: fault reset=before').click()
  const one = page.getByRole('complementary')
  await one.getByText('No response was sent because of a fault.').waitFor()
  expect(await one.innerText()).not.toContain('client disconnected')
})

inBrowser('an exchange without a rule was answered by Standin, with an error only if there was one', async () => {
  const platform = await platformWith()
  await visit(platform, '/health', '/nope')
  const { page } = await openRequests(platform, {}, '?id=1')
  const by = (text: string) =>
    page
      .getByRole('complementary')
      .locator('dl div', { hasText: 'Answered by' })
      .getByText(text, { exact: true })
      .waitFor()
  await by('Standin')
  await page.keyboard.press('k')
  await by('Standin, with an error')
})

inBrowser(
  'a request is sent again unchanged or opened in the playground, and actions that cannot work are not offered',
  async () => {
    const platform = await platformWith({ rules })
    await (await platform.chat(hello)).text()
    await visit(platform, '/nope')
    const { page } = await openRequests(platform, {}, '?id=2')
    const one = page.getByRole('complementary')
    await one.getByRole('button', { name: 'Send again' }).waitFor()
    expect(await one.getByRole('button', { name: /^Create/ }).count()).toBe(0)
    expect(await one.getByRole('link', { name: 'Open in playground' }).count()).toBe(0)
    await page.keyboard.press('j')
    await one.getByRole('button', { name: 'Create rule' }).waitFor()
    await one.getByRole('button', { name: 'Send again' }).click()
    await page.waitForURL(/id=3/)
    await one.getByText('caller: key development').waitFor()
    await one.getByRole('link', { name: 'Open in playground' }).click()
    await page.getByRole('heading', { name: 'Playground' }).waitFor()
    await expect.poll(() => page.getByLabel('Message', { exact: true }).inputValue()).toBe('hello')
  },
)

inBrowser('with an exchange open on a laptop the list still shows ten requests', async () => {
  const platform = await platformWith()
  await visit(platform, ...Array.from({ length: 20 }, (_, i) => `/path-${i}`))
  const { page } = await openRequests(platform, { viewport: { width: 1280, height: 800 } }, '?id=20')
  await page.getByRole('heading', { name: 'Time and size' }).waitFor()
  const boxes = await Promise.all((await rowsOf(page).all()).map(row => row.boundingBox()))
  expect(boxes.filter(box => box && box.y + box.height <= 800).length).toBeGreaterThanOrEqual(10)
})

inBrowser('an exchange shows where a live answer breaks the contract', async () => {
  const live = await liveWith((_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"status":"fine","version":"1.2.3"}')
  })
  const platform = await proxyTo(live.url)
  await (await platform.ask('/health')).text()
  await platform.violations()
  const { page } = await openRequests(platform)
  await row(page, '/health').click()
  const table = page.getByRole('table', { name: 'Where the answer breaks the contract' })
  expect(await table.innerText()).toMatch(/status\s+status must be "ok"\.\s+critical, documented/)
})

inBrowser('a miss shows the nearest rule, or the nearest recording field by field', async () => {
  const live = await platformWith({ rules })
  const platform = await platformWith({
    ...{ rules, mode: 'record', recordings: { dir: folderWith({}) } },
    upstream: { baseUrl: live.url, apiKey: live.apiKey },
  })
  await (await platform.chat(hello)).text()
  platform.switchMode('replay')
  await (await platform.chat(weather)).text()
  platform.switchMode('emulate')
  await (await platform.chat(weather)).text()
  const { page } = await openRequests(platform)
  await filters(page)
  await page.getByLabel('Only misses and errors').check()
  await says(page, '2 requests')
  const one = page.getByRole('complementary')
  await row(page, 'No rule matched').click()
  await one.getByText('The only rule for such requests is rule "greeting"').waitFor()
  await one.getByRole('link', { name: 'Older' }).click()
  const table = one.getByRole('table', { name: /^Differs from the nearest recording/ })
  await table.waitFor()
  const fields = await table.getByRole('row').allInnerTexts()
  expect(fields.slice(1).map(text => text.split(/\t/))).toEqual([
    ['messages[0].content', '"How is the weather?"', '"hello"'],
  ])
})

inBrowser('filters narrow the list, are part of the address, and survive a reload', async () => {
  const platform = await platformWith({ rules })
  await visit(platform, '/health', '/nope', '/v1/models')
  await (await platform.chat(hello, { headers: { 'x-standin-scope': 'checkout' } })).text()
  const { page } = await openRequests(platform)
  await says(page, '4 requests')
  await page.keyboard.press('/')
  await page.keyboard.type('GREET')
  await says(page, '1 request')
  expect(new URL(page.url()).search).toBe('?search=GREET')
  await page.getByRole('button', { name: 'Show all' }).click()
  await says(page, '4 requests')
  await filters(page)
  await page.getByLabel('Status', { exact: true }).selectOption('404')
  await says(page, '1 request')
  expect(await pathsOn(page)).toEqual(['GET /nope'])
  await page.reload()
  await says(page, '1 request')
  expect(await pathsOn(page)).toEqual(['GET /nope'])
  await filters(page)
  await page.getByLabel('Status', { exact: true }).selectOption('')
  await page.getByLabel('Scope', { exact: true }).selectOption('checkout')
  await says(page, '1 request')
  await page.getByLabel('Mode', { exact: true }).selectOption('replay')
  await page.getByText('No requests match these filters').waitFor()
})

inBrowser('the search finds text in bodies, including those that arrive later', async () => {
  const platform = await platformWith({ rules })
  await visit(platform, '/health')
  await (await platform.chat(hello)).text()
  const { page } = await openRequests(platform)
  await says(page, '2 requests')
  await page.getByRole('searchbox').fill('text:"hello" status:200')
  await says(page, '1 request')
  await row(page, '/v1/chat/completions').waitFor()
  await (await platform.chat(hello)).text()
  await says(page, '2 requests')
  await (await platform.chat({ ...hello, stream: true })).text()
  await page.getByRole('searchbox').fill('text:"welcome to our shop"')
  await says(page, '3 requests')
})

inBrowser('by keyboard alone a user moves through the list, opens, steps on, and returns to the same row', async () => {
  const platform = await platformWith()
  await visit(platform, ...Array.from({ length: 40 }, (_, i) => `/path-${i}`))
  const { page } = await openRequests(platform)
  await says(page, '40 requests')
  await tabTo(page, row(page, '/path-39').getByRole('link'))
  for (let i = 0; i < 4; i++) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('ArrowUp')
  // New requests do not move the focused row.
  await visit(platform, '/later', '/later')
  await page.getByRole('button', { name: 'Show 2 new' }).waitFor()
  expect(await hasFocus(page, row(page, '/path-36').getByRole('link'))).toBe(true)
  await page.keyboard.press('Enter')
  const heading = page.getByRole('heading', { level: 2 })
  await heading.filter({ hasText: '/path-36' }).waitFor()
  await tabTo(page, page.getByRole('link', { name: 'Older' }))
  await page.keyboard.press('Enter')
  await heading.filter({ hasText: '/path-35' }).waitFor()
  await page.keyboard.press('k')
  await heading.filter({ hasText: '/path-36' }).waitFor()
  await page.keyboard.press('j')
  await heading.filter({ hasText: '/path-35' }).waitFor()
  await page.keyboard.press('Escape')
  await heading.waitFor({ state: 'detached' })
  expect(await hasFocus(page, row(page, '/path-35').getByRole('link'))).toBe(true)
  await page.keyboard.press('End')
  await row(page, '/path-0').waitFor()
  expect(await hasFocus(page, page.locator('[data-index="41"] a'))).toBe(true)
})

inBrowser('Escape closes an open menu before it closes the exchange', async () => {
  const platform = await platformWith()
  await visit(platform, '/one')
  const { page } = await openPage()
  await openSignedIn(page, platform)
  await page.goto(`${platform.dashboardUrl}/requests?id=1`)
  const exchange = page.getByRole('complementary')
  await exchange.waitFor()
  await page.getByRole('button', { name: `Account: ${ada.email}` }).click()
  const signOut = page.getByRole('button', { name: 'Sign out' })
  await signOut.waitFor()
  await page.keyboard.press('Escape')
  await signOut.waitFor({ state: 'hidden' })
  expect(await exchange.isVisible()).toBe(true)
  await page.keyboard.press('Escape')
  await exchange.waitFor({ state: 'detached' })
})

inBrowser('a user can leave the list for the browser itself, without being taken to the heading', async () => {
  const platform = await platformWith()
  await visit(platform, '/one')
  const { page } = await openRequests(platform)
  await row(page, '/one').getByRole('link').focus()
  await page.keyboard.press('Tab')
  // The list is rendered again.
  await visit(platform, '/two')
  await says(page, 'Live. 2 requests')
  expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY')
})

inBrowser('a paused list stays as it is and counts new requests, and clearing it empties the journal too', async () => {
  const platform = await platformWith()
  await visit(platform, '/one')
  const { page } = await openRequests(platform)
  await says(page, 'Live. 1 request')
  await page.getByRole('button', { name: 'Pause' }).click()
  await visit(platform, '/two', '/three')
  await page.getByRole('button', { name: 'Show 2 new' }).waitFor()
  expect(await pathsOn(page)).toEqual(['GET /one'])
  await page.getByRole('button', { name: 'Show 2 new' }).click()
  await says(page, 'Live. 3 requests')
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByText('No requests yet').waitFor()
  expect(await (await platform.ask('/__standin/journal')).json()).toEqual({ data: [] })
  await visit(platform, '/four')
  await says(page, 'Live. 1 request')
})

inBrowser('requests that are cleared elsewhere disappear from the list as well', async () => {
  const platform = await platformWith()
  await visit(platform, '/one')
  await platform.ask('/two', { headers: { 'x-standin-scope': 'mine' } })
  const [{ page }, { page: other }] = [await openRequests(platform, {}, '?id=1'), await openRequests(platform)]
  await platform.ask('/__standin/journal?scope=mine', { method: 'DELETE' })
  await says(page, 'Live. 1 request')
  expect(await pathsOn(page)).toEqual(['GET /one'])
  await other.getByRole('button', { name: 'Clear' }).click()
  const one = page.getByRole('complementary')
  await one.getByText('Exchange 1 is no longer kept. It was cleared').waitFor()
  await visit(platform, '/three')
  await says(page, 'Live. 1 request')
  await platform.reset()
  await page.getByText('No requests yet').waitFor()
})

inBrowser('token counts in the hundreds of thousands fit into their column', async () => {
  const usage = { prompt_tokens: 250_000, completion_tokens: 128_500, total_tokens: 378_500 }
  const live = await liveWith(
    (_request, response) =>
      void response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify({ object: 'chat.completion', usage })),
  )
  const platform = await proxyTo(live.url)
  await (await platform.chat(hello)).text()
  const { page } = await openRequests(platform, { viewport: { width: 1280, height: 720 } })
  const tokens = row(page, '/v1/chat/completions').locator('.request-tokens')
  expect(await tokens.innerText()).toMatch(/250K \+ 129K$/)
  const cutPx = await tokens.evaluate((cell: unknown) => {
    const { scrollWidth, clientWidth } = cell as { scrollWidth: number; clientWidth: number }
    return scrollWidth - clientWidth
  })
  expect(cutPx).toBe(0)
})

inBrowser('rows do not move away from a moving pointer, and the list continues once the pointer rests', async () => {
  const platform = await platformWith()
  await visit(platform, '/one')
  const { page } = await openRequests(platform)
  await row(page, '/one').hover()
  await says(page, 'Paused.')
  await visit(platform, '/two')
  await says(page, 'Live. 2 requests')
  expect(await pathsOn(page)).toEqual(['GET /two', 'GET /one'])
})

inBrowser('while the page is hidden nothing is rendered, and nothing is lost', async () => {
  const platform = await platformWith()
  const [{ page }, { page: other }] = [await openRequests(platform), await openRequests(platform)]
  const hide = (isHidden: boolean) =>
    page.evaluate(`
      Object.defineProperty(document, 'hidden', { configurable: true, get: () => ${isHidden} })
      document.dispatchEvent(new Event('visibilitychange'))
    `)
  await hide(true)
  await visit(platform, '/one', '/two')
  await says(other, 'Live. 2 requests')
  expect(await rowsOf(page).count()).toBe(0)
  await hide(false)
  await says(page, 'Live. 2 requests')
})

inBrowser('the list reconnects when Standin is restarted, and starts over', async () => {
  const first = await startPlatform()
  const port = Number(new URL(first.url).port)
  const { page } = await openRequests(first as Scene)
  await (await fetch(`${first.url}/first`)).text()
  await says(page, 'Live. 1 request')
  await first.stop()
  await says(page, 'Not connected.')
  await page.getByRole('alert').getByText('Standin isn’t running.').waitFor()
  const second = await platformWith({ port })
  onTestFinished(() => first.stop())
  await visit(second, '/second')
  await says(page, 'Live. 1 request')
  expect(await pathsOn(page)).toEqual(['GET /second'])
})

inBrowser('opened while Standin is stopped, the view counts no requests until it is back', async () => {
  const platform = await platformWith()
  await visit(platform, '/one')
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/requests`)
  await says(page, '1 request')
  await goWithin(page, '/dashboard')
  await page.getByRole('heading', { name: 'Connect' }).waitFor()
  await platform.stop()
  await goWithin(page, '/dashboard/requests')
  await page.getByRole('alert').getByText('Standin isn’t running.').waitFor()
  await page.getByText('Loading…').waitFor({ state: 'attached' })
  expect(await page.getByText('0 requests').count()).toBe(0)
  await platformWith({ port: Number(new URL(platform.url).port) })
  await says(page, 'Live. 0 requests')
})

inBrowser(
  'an exchange that is no longer kept says so, with what the list still knows; one that never existed says that, and one with an error what to do',
  async () => {
    const platform = await platformWith()
    const { page } = await openRequests(platform)
    await visit(platform, '/one')
    // More bytes than the journal keeps.
    const large = { method: 'POST', headers: { 'content-type': 'application/json' }, body: 'x'.repeat(4_000_000) }
    for (let sent = 2; sent <= 10; sent++) {
      await (await platform.ask('/v1/chat/completions', large)).text()
      // A list that is behind is sent only the number of requests that are this large.
      await says(page, `${sent} requests`)
    }
    await row(page, '/one').click()
    const one = page.getByRole('complementary')
    await one.getByText('Exchange 1 is no longer kept.').waitFor()
    expect(await one.innerText()).toContain('Not found.')
    await page.goto(`${platform.dashboardUrl}/requests?id=999`)
    await one.getByText('There is no exchange "999" in the journal.').waitFor()
    await visit(platform, '/v1/embeddings')
    await page.goto(`${platform.dashboardUrl}/requests?id=11`)
    await one.getByText("The platform's document has no /v1/embeddings").waitFor()
  },
)

inBrowser('any request is shown as text: odd paths, markup, huge bodies and ten thousand pieces', async () => {
  const platform = await platformWith({
    rules: [{ when: { user: 'long' }, reply: { text: 'word '.repeat(10_000) } }],
    pace: { tokensPerSecond: 100_000 },
  })
  const { page, complaints } = await openRequests(platform)
  const markup = `<img src=x onerror="alert(1)">`
  await visit(platform, '/v1/%00', `/${'x'.repeat(5000)}`, `/%D7%A9%D7%9C?a=${encodeURIComponent(markup)}`)
  await (await platform.chat({ ...hello, messages: [{ role: 'user', content: markup }] })).text()
  await (await platform.chat({ ...hello, messages: [{ role: 'user', content: 'y'.repeat(1_000_000) }] })).text()
  await (
    await platform.chat({ messages: [{ role: 'user', content: 'long' }], model: hello.model, stream: true })
  ).text()
  await (await platform.chat({}, { body: '{"not json' } as never)).text()
  await says(page, '7 requests')
  const one = page.getByRole('complementary')
  for (let id = 1; id <= 7; id++) {
    await goWithin(page, `${platform.dashboardUrl}/requests?id=${id}`)
    await page.waitForFunction(`document.title.startsWith('Request ${id} ')`)
    await one.getByRole('heading', { name: 'Time and size' }).waitFor()
    expect((await one.innerText()).length).toBeLessThan(60_000)
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(desktop.width)
  }
  expect(await page.locator('img').count()).toBe(0)
  expect(complaints).toEqual([])
})

inBrowser('from another machine it takes the control token or a secret service key, which is not stored', async () => {
  const address = addressOfThisMachine()
  if (address === undefined) return
  const platform = await platformWith({
    host: '0.0.0.0',
    auth: { jwtSecret: 'a-secret-of-our-own-with-32-characters' },
  })
  const dashboardUrl = platform.dashboardUrl.replace('0.0.0.0', address)
  await visit(platform, '/one')
  const { page } = await openRequests({ ...platform, dashboardUrl })
  await page.getByLabel('Service key').fill(platform.serviceKey)
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await says(page, 'Live. 1 request')
  await row(page, '/one').click()
  await page.getByRole('heading', { name: 'The same request in a terminal' }).waitFor()
})

inBrowser('in a flood few rows are rendered, no row appears twice, and every request is counted', async () => {
  const platform = await platformWith()
  const { page, complaints } = await openRequests(platform)
  const many = 300
  const next = async (index: number): Promise<void> => {
    if (index >= many) return
    await (await fetch(`${platform.url}/flood-${index}`)).text()
    return next(index + 10)
  }
  await Promise.all(Array.from({ length: 10 }, (_, i) => next(i)))
  const number = (text: string) => Number(text.replaceAll(',', ''))
  const counted = async () => {
    const counts = /^Live\. ([\d,]+) requests(?:, ([\d,]+) more not listed)?$/.exec(await state(page).innerText())
    const [, shown = '', more = '0'] = counts ?? []
    return number(shown) + number(more)
  }
  await vi.waitFor(async () => expect(await counted()).toBe(many), { timeout: 60_000 })
  const rendered = await pathsOn(page)
  expect(rendered.length).toBeLessThan(60)
  expect(new Set(rendered).size).toBe(rendered.length)
  await page.mouse.wheel(0, 3000)
  await says(page, 'Paused.')
  expect((await pathsOn(page)).length).toBeLessThan(60)
  expect(complaints).toEqual([])
})

inBrowser('list and exchange are accessible and fit desktop and phone, in light and dark colours', async () => {
  const platform = await platformWith({ rules, pace })
  const { page } = await openRequests(platform)
  await expectAccessible(page)
  await visit(platform, '/health', `/${'x'.repeat(400)}`)
  await (
    await platform.chat(hello, { headers: { 'x-standin-fault': 'status=503', 'x-standin-scope': 'a'.repeat(60) } })
  ).text()
  await (await platform.chat({ ...hello, stream: true })).text()
  await (await platform.chat(weather)).text()
  await says(page, '5 requests')
  await expectAccessible(page)
  await row(page, 'rule "greeting"').click()
  await page.getByRole('heading', { name: 'The same request in a terminal' }).waitFor()
  await expectAccessible(page)
  const list = page.getByRole('list', { name: 'Requests, the newest first' })
  expect(await list.isVisible()).toBe(true)
  await page.setViewportSize(phone)
  expect(await list.isVisible()).toBe(false)
  await page.getByRole('button', { name: 'All requests' }).click()
  expect(await hasFocus(page, row(page, 'rule "greeting"').getByRole('link'))).toBe(true)
})
