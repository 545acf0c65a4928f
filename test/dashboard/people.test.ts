import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible } from './axe.js'
import { clipboardOf, comeBack, inBrowser, later, useBrowser } from './browser.js'
import { ada, askAuth, signedUp } from './people.js'
import { platformWith, type Scene } from './scene.js'
import { addressOfThisMachine } from './this-machine.js'

const openPage = useBrowser()

const clipboard = { permissions: ['clipboard-read', 'clipboard-write'] } as const
const grace = { email: 'grace@example.com' }

const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

async function openUser(page: Page, { dashboardUrl }: Scene, email: string): Promise<void> {
  await page.goto(`${dashboardUrl}/people`)
  await page.getByRole('link', { name: email }).click()
  await page.getByRole('heading', { name: email, level: 1 }).waitFor()
}

inBrowser('users are listed with their state and sessions, searched, and lead to what they did', async () => {
  const platform = await platformWith({ users: [{ ...grace, confirmed: false }, { phone: '+4791234567' }] })
  const token = await signedUp(platform)
  await platform.ask('/v1/models', { bearer: token })
  const { page, complaints } = await openPage()
  await page.goto(`${platform.dashboardUrl}/people`)
  expect((await rowOf(page, ada.email).innerText()).split(/[\t\n]+/).slice(1, 4)).toEqual([
    'Confirmed',
    '1',
    'just now',
  ])
  await rowOf(page, grace.email).getByText('Unconfirmed').waitFor()
  await expectAccessible(page)
  await page.getByLabel('Search users').fill('4791')
  await page.getByText('1 user', { exact: true }).waitFor()
  expect(await page.getByRole('row').count()).toBe(1 + 1)
  await page.getByLabel('Search users').fill('nobody')
  await page.getByText('No users match').waitFor()
  await page.getByLabel('Search users').fill('ada')
  await rowOf(page, ada.email).getByRole('link', { name: 'requests' }).click()
  await page.waitForURL(`**/dashboard?credential=${encodeURIComponent(ada.email)}`)
  expect(complaints).toEqual([])
})

inBrowser('a user is added, and signs in with the password that was set', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/people`)
  await page.getByRole('button', { name: 'Add user' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Email', { exact: true }).fill(ada.email)
  await dialog.getByLabel('Password').fill('abc')
  await dialog.getByRole('button', { name: 'Add user' }).click()
  // The backend refuses it, and the page says so at the field.
  await dialog.getByText('Password should be at least 6 characters').waitFor()
  await expectAccessible(page)
  await dialog.getByLabel('Password').fill(ada.password)
  await dialog.getByRole('button', { name: 'Add user' }).click()
  await rowOf(page, ada.email).waitFor()
  expect((await askAuth(platform, '/token?grant_type=password', ada)).status).toBe(200)
})

inBrowser('"Sign in as" shows a token that works until its session is ended', async () => {
  const platform = await platformWith({ users: [ada] })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/people`)
  await page.getByRole('button', { name: `Sign in as ${ada.email}` }).click()
  const dialog = page.getByRole('dialog')
  const token = await dialog.getByText(/^eyJ/).innerText()
  await expectAccessible(page)
  await dialog.getByRole('button', { name: 'Done' }).click()
  const status = async () => (await platform.ask('/v1/models', { bearer: token })).status
  expect(await status()).toBe(200)
  await page.getByRole('tab', { name: 'Sessions' }).click()
  await page.getByRole('button', { name: `End the session of ${ada.email}` }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'End session' }).click()
  await page.getByText('Nobody is signed in').waitFor()
  expect(await status()).toBe(401)
})

inBrowser('a magic link goes from the message to a signed-in user, and is then marked as used', async () => {
  const platform = await platformWith({ users: [ada], auth: { siteUrl: 'http://localhost:1/' } })
  const { page } = await openPage()
  await openUser(page, platform, ada.email)
  await page.getByRole('button', { name: 'Send a link' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
  await page.getByText('Not used yet').waitFor()
  await expectAccessible(page)
  const link = page.getByRole('link', { name: `Sign in for ${ada.email}` })
  const [head] = [await fetch((await link.getAttribute('href')) ?? '', { redirect: 'manual' })]
  expect(head.headers.get('location')).toContain('#access_token=')
  await comeBack(page)
  await page.getByText('Used', { exact: true }).waitFor()
  // It would be refused, so it is not offered any more.
  expect(await link.count()).toBe(0)
  expect(await page.getByRole('button', { name: `Copy the code for ${ada.email}` }).count()).toBe(0)
})

inBrowser(
  'messages appear as they are sent, are counted, and say that they were replaced or have expired',
  async () => {
    const platform = await platformWith({ users: [grace], auth: { testOtp: '424242', external: { phone: true } } })
    const { page } = await openPage({ ...clipboard, hasClock: true })
    await page.goto(`${platform.dashboardUrl}/people?tab=messages`)
    await page.getByText('Nothing has been sent').waitFor()
    await askAuth(platform, '/recover', grace)
    await later(page, () => page.getByRole('heading', { name: 'Reset your password' }).isVisible())
    await page.getByRole('button', { name: `Copy the code for ${grace.email}` }).click()
    await page.getByRole('button', { name: /^Copy the code for .*, copied$/ }).waitFor()
    expect(await clipboardOf(page)).toBe('424242')

    await askAuth(platform, '/otp', { phone: '4791234567' })
    await platform.clock.advance(3_600_001)
    await askAuth(platform, '/recover', grace)
    await comeBack(page)
    await page.getByText('3 messages').waitFor()
    const states = page.locator('.message .badge')
    expect(await states.allInnerTexts()).toEqual(['Not used yet', 'Expired', 'Expired'])
    await page.getByRole('button', { name: 'Clear' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Clear' }).click()
    await page.getByText('Nothing has been sent').waitFor()
  },
)

inBrowser('an account is shown with its metadata, banned, unbanned and deleted', async () => {
  const platform = await platformWith({ users: [{ ...ada, user_metadata: { plan: 'free', seats: 2 } }] })
  const { page } = await openPage()
  await openUser(page, platform, ada.email)
  await page.getByRole('region', { name: 'the account' }).getByText('"plan": "free"').waitFor()
  const signIn = () => askAuth(platform, '/token?grant_type=password', ada)
  await expectAccessible(page)

  await page.getByRole('button', { name: 'Ban' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Ban' }).click()
  await page.getByText('Banned', { exact: true }).waitFor()
  expect((await signIn()).status).toBe(400)
  await page.getByRole('button', { name: 'Lift the ban' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click()
  await page.getByRole('button', { name: 'Ban', exact: true }).waitFor()
  expect((await signIn()).status).toBe(200)

  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Delete user' }).click()
  await page.getByText('No users yet').waitFor()
})

inBrowser('keys of all users and of the configuration are listed, created for anyone, and revoked', async () => {
  const platform = await platformWith({ users: [ada] })
  const { page } = await openPage(clipboard)
  await page.goto(`${platform.dashboardUrl}/people?tab=keys`)
  // The development key works, so the list is not empty.
  await rowOf(page, platform.apiKey.slice(0, 13)).getByText('Active').waitFor()
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog').getByLabel('Owner').fill(ada.email)
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByText('Once this is closed, nobody can show it again').waitFor()
  const key = await page
    .getByRole('dialog')
    .getByText(/^sk-local-/)
    .innerText()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(await page.content()).not.toContain(key)
  const status = async () => (await platform.ask('/v1/models', { bearer: key })).status
  expect(await status()).toBe(200)
  await rowOf(page, 'my app').getByRole('link', { name: ada.email }).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Revoke my app' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Revoke key' }).click()
  await rowOf(page, 'my app').getByText('Revoked').waitFor()
  expect(await status()).toBe(401)
})

inBrowser('from another machine the control token opens People, and no public key is given away', async ({ skip }) => {
  const address = addressOfThisMachine()
  if (address === undefined) skip('This machine has no address other than loopback.')
  const auth = { jwtSecret: 'a-secret-of-our-own-with-32-characters' }
  const { url, apiKey, serviceKey, anonKey } = await platformWith({ host: '0.0.0.0', auth })
  const { page } = await openPage()
  await page.goto(`http://${address}:${new URL(url).port}/dashboard/people`)
  await page.getByText('The control API needs a credential here').waitFor()
  const show = async (key: string) => {
    await page.getByLabel('Service key').fill(key)
    await page.getByRole('button', { name: 'Show', exact: true }).last().click()
  }
  await show(anonKey)
  await page.getByText('Wrong token or key. Try again.').waitFor()
  await show(serviceKey)
  await page.getByRole('row').nth(1).waitFor()
  await page.getByRole('link', { name: 'Connect', exact: true }).first().click()
  await page.getByRole('tabpanel').getByText('YOUR_API_KEY').first().waitFor()
  expect(await page.content()).not.toContain(apiKey)
})
