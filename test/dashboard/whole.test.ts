import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible } from './axe.js'
import { desktop, hasFocus, inBrowser, phone, tabTo, useBrowser } from './browser.js'
import { ada } from './people.js'
import { answersOn, messageIn, overOn } from './playground.js'
import { hello, platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

const penguin = { ...hello, messages: [{ role: 'user', content: 'What is a penguin?' }] }

const rows = (page: Page) => page.getByRole('list', { name: 'Requests, the newest first' }).getByRole('listitem')
const row = (page: Page, text: string) => rows(page).filter({ hasText: text }).getByRole('link')
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true, level: 1 })

/** Goes to a view by keyboard, through the menu if there is no room for the links. */
async function goTo(page: Page, name: string): Promise<void> {
  const link = page.getByRole('link', { name, exact: true })
  // From the top of the page, where a user would jump to.
  await page.evaluate("document.querySelector('.brand').focus()")
  if (!(await link.isVisible())) {
    await tabTo(page, page.getByRole('button', { name: /^Menu/ }))
    await page.keyboard.press('Enter')
  }
  await tabTo(page, link)
  await page.keyboard.press('Enter')
  await heading(page, name).waitFor()
}

inBrowser.each([
  ['phone', phone],
  ['desktop', desktop],
] as const)(
  'a request becomes a rule, and its answer in the playground links to the exchange: on a %s, by keyboard alone',
  async (_device, viewport) => {
    const platform = await platformWith()
    const { page, complaints } = await openPage({ viewport })
    await page.goto(`${platform.dashboardUrl}/requests`)
    await page.getByText('No requests yet').waitFor()
    const said = await answerIn(await platform.chat(penguin))
    await tabTo(page, row(page, 'POST'))
    await page.keyboard.press('Enter')
    const exchange = page.getByRole('complementary', { name: 'POST /v1/chat/completions' })
    await tabTo(page, exchange.getByRole('button', { name: 'Create rule' }))
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'The rule' }).getByText('name: what-is-a-penguin').waitFor()
    await tabTo(page, page.getByRole('button', { name: 'Add in memory' }))
    await page.keyboard.press('Enter')
    await page.getByText('It answers before all other rules').waitFor()
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await hasFocus(page, exchange.getByRole('button', { name: 'Create rule' }))).toBe(true)

    await goTo(page, 'Playground')
    await tabTo(page, messageIn(page))
    await page.keyboard.type('What is a penguin?')
    await page.keyboard.press('Enter')
    await overOn(page)
    expect(await answersOn(page).locator('.said').innerText()).toBe(said)
    const answeredBy = answersOn(page).getByRole('link', { name: 'rule "what-is-a-penguin"' })
    await answeredBy.waitFor()
    await tabTo(page, answeredBy)
    await page.keyboard.press('Enter')
    await exchange.waitFor()
    const decision = exchange.getByRole('region', { name: 'Why this response' })
    await decision.getByText('rule "what-is-a-penguin"').waitFor()
    expect(await exchange.getByRole('region', { name: 'Request', exact: true }).innerText()).toContain(
      'What is a penguin?',
    )
    expect(complaints).toEqual([])
  },
)

inBrowser('Escape closes a dialog that is still loading, and the exchange below it stays', async () => {
  const platform = await platformWith()
  await (await platform.chat(penguin)).text()
  const { page } = await openPage()
  await page.route('**/__standin/replies/draft', () => {})
  await page.goto(`${platform.dashboardUrl}/requests?id=1`)
  await page.getByRole('button', { name: 'Create rule' }).click()
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(new URL(page.url()).search).toBe('?id=1')
})

inBrowser('a fault that is set in the controls hits the next request, and the list of requests shows it', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/controls`)
  await tabTo(page, page.getByRole('button', { name: '429, Retry-After 2 s' }))
  await page.keyboard.press('Enter')
  await page.getByRole('listitem').getByText('Status 429, retry after 2').waitFor()
  const refused = await platform.chat(hello)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '2'])
  expect((await platform.chat(hello)).status).toBe(200)
  await goTo(page, 'Requests')
  await tabTo(page, rows(page).getByRole('link').first())
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const decision = page.getByRole('complementary').getByRole('region', { name: 'Why this response' })
  await decision.getByText(/^fault status=429; retryAfter=2/).waitFor()
})

inBrowser('a token of an ended session is refused, and the refusal says what to do', async () => {
  const platform = await platformWith({ users: [ada] })
  const bearer = await accessToken(platform)
  expect((await platform.ask('/v1/models', { bearer })).status).toBe(200)
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/users`)
  await page.getByRole('link', { name: ada.email }).click()
  await tabTo(page, page.getByRole('button', { name: 'Sign out', exact: true }))
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Sign out' }))
  await page.keyboard.press('Enter')
  await page.getByText('Not signed in.').waitFor()
  const refused = await platform.ask('/v1/models', { bearer })
  const { error } = (await refused.json()) as { error: string }
  expect(refused.status).toBe(401)
  await goTo(page, 'Requests')
  await row(page, '401').click()
  const one = page.getByRole('complementary', { name: 'GET /v1/models' })
  await one.getByText(error).first().waitFor()
  expect((await one.getByRole('region', { name: 'Why this response' }).innerText()).toLowerCase()).toContain(
    'sign in again',
  )
})

inBrowser('on a phone the links to the views are behind a button that names the current view', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage({ viewport: phone })
  await page.goto(`${dashboardUrl}/outbox`)
  const menu = page.getByRole('button', { name: /^Menu/ })
  expect(await menu.innerText()).toContain('Outbox')
  expect(await page.getByRole('link', { name: 'Controls' }).isVisible()).toBe(false)
  await menu.click()
  expect(await menu.getAttribute('aria-expanded')).toBe('true')
  await expectAccessible(page)
  await page.getByRole('link', { name: 'Controls' }).focus()
  await page.keyboard.press('Escape')
  expect(await page.getByRole('link', { name: 'Controls' }).isVisible()).toBe(false)
  expect(await hasFocus(page, menu)).toBe(true)
  await goTo(page, 'Controls')
  expect(await hasFocus(page, heading(page, 'Controls'))).toBe(true)
  expect(await page.getByRole('link', { name: 'Outbox' }).isVisible()).toBe(false)
})

inBrowser('a view that can no longer be loaded says so, and the others work', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage()
  await page.route('**/assets/controls-view-*.js', route => route.abort())
  await page.goto(dashboardUrl)
  await page.getByRole('link', { name: 'Controls' }).click()
  await page.getByText('This view could not be loaded.').waitFor()
  await page.getByRole('link', { name: 'Outbox' }).click()
  await heading(page, 'Outbox').waitFor()
})

const answerIn = async (response: Response) =>
  ((await response.json()) as { choices: readonly [{ message: { content: string } }] }).choices[0].message.content

/** Signs in through the auth backend. */
async function accessToken({ url, anonKey }: Scene): Promise<string> {
  const headers = { apikey: anonKey, 'content-type': 'application/json' }
  const init = { method: 'POST', headers, body: JSON.stringify(ada) }
  const response = await fetch(`${url}/auth/v1/token?grant_type=password`, init)
  return ((await response.json()) as { access_token: string }).access_token
}
