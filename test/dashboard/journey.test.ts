import OpenAI from 'openai'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { clipboardOf, comeBack, hasFocus, inBrowser, tabTo, useBrowser } from './browser.js'
import { ada, createKeyOn, openSignedIn, signInOn, signUpOn, takeSecret } from './people.js'
import { hello, platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

/** The status that an app gets with this key. */
const statusWith = async (platform: Scene, key: string) => (await platform.chat(hello, { bearer: key })).status

const rowOf = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name })

inBrowser('a user signs up, then creates, uses, rolls and revokes a key', async () => {
  const platform = await platformWith()
  const { page, complaints } = await openPage()
  await signUpOn(page, platform)
  await page.getByText('No keys yet').waitFor()

  const key = await createKeyOn(page, 'laptop')
  expect(await rowOf(page, 'laptop').innerText()).toMatch(/sk-local-\w{4}….*Active.*just now.*never.*never/s)

  const openai = new OpenAI({ baseURL: `${platform.url}/v1`, apiKey: key })
  const reply = await openai.chat.completions.create({
    model: hello.model,
    messages: [{ role: 'user', content: 'hello' }],
  })
  expect(reply.choices[0]?.message.content).toBeTruthy()
  await comeBack(page)
  await rowOf(page, 'laptop').locator('[data-label="Last used"] time').waitFor()

  await page.getByRole('button', { name: 'Roll laptop' }).click()
  await page.getByRole('button', { name: 'Roll key' }).click()
  const rolled = await takeSecret(page)
  expect(rolled).not.toBe(key)
  await rowOf(page, 'laptop').nth(1).getByText('Revoked', { exact: true }).waitFor()
  expect([await statusWith(platform, key), await statusWith(platform, rolled)]).toEqual([401, 200])

  await page.getByRole('button', { name: 'Revoke laptop' }).click()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await rowOf(page, 'laptop').first().getByText('Revoked', { exact: true }).waitFor()
  expect(await statusWith(platform, rolled)).toBe(401)

  await page.getByRole('button', { name: `Account: ${ada.email}` }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await signInOn(page)
  await rowOf(page, 'laptop').first().getByText('Revoked', { exact: true }).waitFor()
  expect(complaints).toEqual([])
})

inBrowser('a user signs up, creates and revokes a key by keyboard alone', async () => {
  const platform = await platformWith()
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  const press = (key: string) => page.keyboard.press(key)
  const button = (name: string) => page.getByRole('button', { name, exact: true })
  await page.goto(`${platform.dashboardUrl}/keys`)

  await tabTo(page, page.getByRole('link', { name: 'Create an account' }))
  await press('Enter')
  await tabTo(page, page.getByLabel('Email'))
  await page.keyboard.type(ada.email)
  await tabTo(page, page.getByLabel('Password'))
  await page.keyboard.type(ada.password)
  await press('Enter')

  await tabTo(page, button('Create key'))
  await press('Enter')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.type('keyboard')
  await press('Enter')
  await button('Copy the key').waitFor()
  expect(await hasFocus(page, button('Copy the key'))).toBe(true)
  await press('Enter')
  await page.getByRole('status').getByText('Copied the key.').waitFor({ state: 'attached' })
  const key = await clipboardOf(page)
  expect(await statusWith(platform, key)).toBe(200)
  await tabTo(page, button('Done'))
  await press('Enter')
  expect(await hasFocus(page, button('Create key'))).toBe(true)

  await tabTo(page, button('Roll keyboard'))
  await press('Enter')
  await page.getByRole('dialog').waitFor()
  await tabTo(page, page.getByLabel('Stops now'))
  await press('ArrowDown')
  expect(await page.getByLabel('Works for 1 more hour').isChecked()).toBe(true)
  await press('Escape')
  expect(await page.getByRole('dialog').count()).toBe(0)
  expect(await hasFocus(page, button('Roll keyboard'))).toBe(true)

  await tabTo(page, button('Revoke keyboard'))
  await press('Enter')
  await tabTo(page, button('Revoke key'))
  await press('Enter')
  await rowOf(page, 'keyboard').getByText('Revoked', { exact: true }).waitFor()
  expect(await statusWith(platform, key)).toBe(401)
  // Its button is gone with the key, so the focus moves to the heading.
  expect(await hasFocus(page, page.getByRole('heading', { name: 'API keys' }))).toBe(true)

  await tabTo(page, page.getByRole('tab', { name: 'curl' }))
  await press('ArrowRight')
  expect(await hasFocus(page, page.getByRole('tab', { name: 'openai' }))).toBe(true)
  expect(await page.getByRole('tabpanel').innerText()).toContain("import OpenAI from 'openai'")

  await tabTo(page, button(`Account: ${ada.email}`))
  await press('Enter')
  await tabTo(page, button('Sign out'))
  await press('Enter')
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
})

inBrowser('the secret of a key is shown once, and filled into the examples until the page is left', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  const key = await createKeyOn(page, 'once')
  expect(await page.getByRole('tabpanel').innerText()).toContain(key)
  await page.getByRole('link', { name: 'Connect' }).click()
  await page.getByRole('heading', { name: 'Connect', exact: true }).waitFor()
  expect(await page.getByRole('tabpanel').innerText()).toContain(key)

  await page.goto(`${platform.dashboardUrl}/keys`)
  await rowOf(page, 'once').waitFor()
  expect(await page.content()).not.toContain(key)
  expect(await page.getByRole('tabpanel').innerText()).toContain('YOUR_API_KEY')
  expect(await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])')).not.toContain(key)
})

inBrowser('a key rolled with an overlap keeps working beside the new one', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  const old = await createKeyOn(page, 'service')
  await page.getByRole('button', { name: 'Roll service' }).click()
  await page.getByLabel('Works for 24 more hours').check()
  await page.getByRole('button', { name: 'Roll key' }).click()
  const rolled = await takeSecret(page)
  expect(await rowOf(page, 'service').nth(1).innerText()).toMatch(/Active.*tomorrow/s)
  expect([await statusWith(platform, old), await statusWith(platform, rolled)]).toEqual([200, 200])
})

inBrowser('a key expires after the chosen time', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  await createKeyOn(page, 'short', '30 days')
  const expiry = rowOf(page, 'short').locator('[data-label="Expires"] time')
  expect(await expiry.innerText()).toBe('next month')
  const inDays = (Date.parse((await expiry.getAttribute('datetime')) ?? '') - Date.now()) / 86_400_000
  expect(inDays).toBeCloseTo(30, 2)
  expect(await expiry.getAttribute('title')).toMatch(/20\d\d/)
})

inBrowser('the lifetime of a key follows Standin’s clock, even when it was moved', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await platform.clock.advance(2 * 86_400_000)
  await openSignedIn(page, platform)
  const secret = await createKeyOn(page, 'later', '1 hour')
  expect(await statusWith(platform, secret)).toBe(200)
  await platform.clock.advance(3_600_000)
  expect(await statusWith(platform, secret)).toBe(401)
})

inBrowser('the times of keys and the last days on offer follow Standin’s clock', async () => {
  const platform = await platformWith()
  await platform.clock.set(Date.UTC(2040, 0, 31, 12))
  const { page } = await openPage({ timezoneId: 'UTC' })
  await openSignedIn(page, platform)
  const secret = await createKeyOn(page, 'later', '7 days')
  expect(await statusWith(platform, secret)).toBe(200)
  await comeBack(page)
  const cell = (name: string) => rowOf(page, 'later').locator(`[data-label="${name}"]`)
  await cell('Last used').getByText('just now').waitFor()
  expect(await cell('Created').innerText()).toBe('just now')
  expect(await cell('Expires').innerText()).toBe('in 7 days')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog').getByLabel('Expires').selectOption('On a date…')
  expect(await page.getByRole('dialog').getByLabel('Last day').getAttribute('min')).toBe('2040-01-31')
})

inBrowser('a key that has expired says so, on the page and to apps', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  const token = await page.evaluate<string>("JSON.parse(localStorage.getItem('standin-dashboard')).access_token")
  const made = await platform.ask('/dashboard/api/keys', {
    method: 'POST',
    bearer: token,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'brief', expires_in: 1 }),
  })
  const { key } = (await made.json()) as { key: string }
  platform.clock.advance(1000)
  expect(await statusWith(platform, key)).toBe(401)
  expect(await (await platform.chat(hello, { bearer: key })).json()).toEqual({ error: 'The API key has expired.' })
  await comeBack(page)
  await rowOf(page, 'brief').getByText('Expired').waitFor()
  expect(await page.getByRole('button', { name: 'Revoke brief' }).count()).toBe(0)
})

inBrowser('a key expires at the end of a chosen day', async () => {
  const platform = await platformWith()
  const { page } = await openPage({ timezoneId: 'America/New_York' })
  await openSignedIn(page, platform)
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('dated')
  await dialog.getByLabel('Expires').selectOption('On a date…')
  await dialog.getByLabel('Last day').fill('2040-01-31')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await takeSecret(page)
  const expiry = rowOf(page, 'dated').locator('[data-label="Expires"] time')
  expect(await expiry.getAttribute('datetime')).toBe('2040-02-01T04:59:59.000Z')
})

inBrowser("a user does not see another user's keys", async () => {
  const platform = await platformWith()
  const { page: adas } = await openPage()
  await openSignedIn(adas, platform)
  await createKeyOn(adas, 'of ada')
  const { page: graces } = await openPage()
  await openSignedIn(graces, platform, { email: 'grace@example.com', password: 'another password' })
  await graces.getByText('No keys yet').waitFor()
})
