import { expect } from 'vitest'
import { clipboardOf, comeBack, hasFocus, inBrowser, later, useBrowser } from './browser.js'
import { ada, createKeyOn, signedUp, signInOn, signUpOn } from './people.js'
import { platformWith } from './scene.js'
import { addressOfThisMachine } from './this-machine.js'

const openPage = useBrowser()

const cells = (text: string) => text.split(/[\t\n]+/)

inBrowser('users are listed with their state, sessions and times', async () => {
  const platform = await platformWith({
    users: [
      { id: '11111111-1111-4111-8111-111111111111', email: 'grace@example.com', confirmed: false },
      { phone: '+4791234567' },
    ],
  })
  await signedUp(platform)
  await signedUp(platform, {})
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${platform.dashboardUrl}/users`)
  const row = (text: string) => page.getByRole('row').filter({ hasText: text })
  await row(ada.email).waitFor()
  expect(cells(await row(ada.email).innerText()).slice(2)).toEqual(['Confirmed', '1 session', 'just now', 'just now'])
  expect(cells(await row('grace').innerText()).slice(2)).toEqual(['Unconfirmed', 'no', 'just now', 'never'])
  expect(cells(await row('4791234567').innerText()).slice(2)).toEqual(['Confirmed', 'no', 'just now', 'never'])
  expect(cells(await row('Anonymous user').innerText()).slice(2)).toEqual([
    'Anonymous',
    '1 session',
    'just now',
    'just now',
  ])
  await page.getByRole('button', { name: 'Copy the id of grace@example.com' }).click()
  await page.getByRole('button', { name: 'Copied the id of grace@example.com' }).waitFor()
  expect(await clipboardOf(page)).toBe('11111111-1111-4111-8111-111111111111')
})

inBrowser('many users are listed page by page, and a reload keeps the page', async () => {
  const users = Array.from({ length: 45 }, (_, i) => ({ email: `user-${i}@example.com` }))
  const { dashboardUrl } = await platformWith({ users })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/users`)
  await page.getByText('1 to 20 of 45').waitFor()
  expect(await page.getByRole('button', { name: 'Previous' }).isDisabled()).toBe(true)
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('21 to 40 of 45').waitFor()
  await page.reload()
  await page.getByText('21 to 40 of 45').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('41 to 45 of 45').waitFor()
  expect(await page.getByRole('row').count()).toBe(1 + 5)
  expect(await page.getByRole('button', { name: 'Next' }).isDisabled()).toBe(true)
  expect(await hasFocus(page, page.getByRole('button', { name: 'Next' }))).toBe(true)
})

inBrowser('messages appear without a reload, their codes can be copied, and they can be cleared', async () => {
  const platform = await platformWith({ auth: { testOtp: '424242' } })
  await signedUp(platform)
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'], hasClock: true })
  await page.goto(`${platform.dashboardUrl}/outbox`)
  await page.getByText('Nothing has been sent').waitFor()

  const headers = { apikey: platform.anonKey, 'content-type': 'application/json' }
  await fetch(`${platform.url}/auth/v1/recover`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ email: ada.email }),
  })
  await later(page, () => page.getByRole('heading', { name: 'Reset your password' }).isVisible())
  await page.getByRole('button', { name: `Copy the code for ${ada.email}` }).click()
  await page.getByRole('status').getByText('Copied').waitFor({ state: 'attached' })
  expect(await clipboardOf(page)).toBe('424242')

  await fetch(`${platform.url}/auth/v1/otp`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ phone: '4791234567' }),
  })
  await comeBack(page)
  await page.getByRole('status').getByText('A new message to 4791234567.').waitFor({ state: 'attached' })

  await page.getByRole('button', { name: 'Clear the outbox' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click()
  await page.getByText('Nothing has been sent').waitFor()
})

inBrowser('an unknown address shows a page with a way back', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage()
  const response = await page.goto(`${dashboardUrl}/nosuch`)
  expect(response?.status()).toBe(404)
  await page.getByRole('heading', { name: 'Page not found' }).waitFor()
  await page.getByRole('link', { name: 'Go to Connect' }).click()
  await page.getByRole('heading', { name: 'Connect', exact: true }).waitFor()
})

inBrowser('a bookmark of a view that is gone leads to the view nearest to it', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage()
  for (const [address, heading] of [
    ['/mcp?tool=get_weather', 'Requests'],
    ['/forgot-password', 'Sign in'],
  ] as const) {
    expect((await page.goto(dashboardUrl + address))?.status()).toBe(200)
    await page.getByRole('heading', { name: heading, exact: true }).waitFor()
  }
})

inBrowser('from another machine a secret service key opens the developer views', async ({ skip }) => {
  const address = addressOfThisMachine()
  if (address === undefined) skip('This machine has no address other than loopback.')
  const { url, apiKey, serviceKey, anonKey } = await platformWith({
    host: '0.0.0.0',
    auth: { jwtSecret: 'a-secret-of-our-own-with-32-characters' },
  })
  const { page } = await openPage()
  await page.goto(`http://${address}:${new URL(url).port}/dashboard/users`)
  await page.getByText('The control API needs a credential here').waitFor()
  const show = async (key: string) => {
    await page.getByLabel('Service key').fill(key)
    await page.getByRole('button', { name: 'Show', exact: true }).last().click()
  }
  await show(anonKey)
  await page.getByText('Wrong token or key. Try again.').waitFor()
  await show(serviceKey)
  await page.getByRole('row').nth(1).waitFor()
  await page.getByRole('link', { name: 'Outbox' }).click()
  await page.getByText('Nothing has been sent').waitFor()
  // The development key is public, and offered on this machine only.
  await page.getByRole('link', { name: 'Connect' }).click()
  await page.getByRole('tabpanel').getByText('YOUR_API_KEY').first().waitFor()
  expect(await page.content()).not.toContain(apiKey)
})

inBrowser('from another machine a user signs up, creates a key and copies it', async ({ skip }) => {
  const address = addressOfThisMachine()
  if (address === undefined) skip('This machine has no address other than loopback.')
  const platform = await platformWith({ host: '0.0.0.0' })
  const { page, complaints } = await openPage()
  await signUpOn(page, {
    ...platform,
    dashboardUrl: `http://${address}:${new URL(platform.url).port}/dashboard`,
  })
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog').getByLabel('Name').fill('far')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  // Browsers offer the newer clipboard API only on this machine and over HTTPS.
  expect(await page.evaluate<boolean>('isSecureContext')).toBe(false)
  await page.getByRole('button', { name: 'Copy the key' }).click()
  await page.getByRole('button', { name: 'Copied the key' }).waitFor()
  expect(complaints).toEqual([])
})

inBrowser('with a live auth backend its users can sign in, but users and messages are not listed', async () => {
  const live = await platformWith()
  const platform = await platformWith({
    auth: { mode: 'proxy' },
    upstream: { authUrl: live.url, anonKey: live.anonKey },
  })
  await signedUp(live)
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/keys`)
  await signInOn(page)
  expect(await createKeyOn(page, 'here')).toMatch(/^sk-local-/)
  for (const view of ['Users', 'Outbox']) {
    await page.getByRole('link', { name: view }).click()
    await page.getByRole('heading', { name: view }).waitFor()
    await page.getByText('Managed by the live backend').waitFor()
  }
})
