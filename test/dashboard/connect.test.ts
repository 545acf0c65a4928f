import { expect } from 'vitest'
import { WRONG_LOGIN } from '../sentences.js'
import { expectAccessible } from './axe.js'
import { clipboardOf, comeBack, inBrowser, useBrowser } from './browser.js'
import { ada, askAuth, createKeyOn, enterAccount, openSignedIn, signedUp } from './people.js'
import { platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

const developer = 'developer@example.com'

const statusWith = async (platform: Scene, bearer: string) => (await platform.ask('/v1/models', { bearer })).status

inBrowser('one click signs in the development user, also after a reload', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/connect`)
  const signIn = page.getByRole('button', { name: `Continue as ${developer}` })
  await signIn.click()
  await page.getByRole('region', { name: 'Account' }).getByText(`Signed in as ${developer}.`).waitFor()
  await expectAccessible(page)
  await page.reload()
  await page.getByRole('region', { name: 'Account' }).getByText(`Signed in as ${developer}.`).waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
  await signIn.waitFor()
  // The user has signed out, so no reason is given.
  expect(await page.getByRole('alert').count()).toBe(0)
})

inBrowser('three clicks make an API key and copy it: Connect, create, copy', async () => {
  const platform = await platformWith()
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(platform.dashboardUrl)
  await page.getByRole('link', { name: 'Connect', exact: true }).first().click()
  await page.getByRole('button', { name: `Create key as ${developer}` }).click()
  await page.getByRole('button', { name: 'Copy the key' }).click()
  await page.getByRole('button', { name: 'Copy the key, copied' }).waitFor()
  expect(await statusWith(platform, await clipboardOf(page))).toBe(200)
})

inBrowser('a new key stays where the page says it stays: here, in the examples, until the page is left', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  await page.getByLabel('Expires').selectOption('In 1 hour')
  const key = await createKeyOn(page)
  await page.getByText('until you leave or reload this page').first().waitFor()
  await expectAccessible(page)
  expect(await page.getByRole('tabpanel').innerText()).toContain(key)
  await page.getByRole('link', { name: 'People', exact: true }).click()
  await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
  await page.goBack()
  await page.locator('.secret').getByText(key).waitFor()

  await page.reload()
  await page.getByText(`Signed in as ${ada.email}.`).waitFor()
  expect(await page.content()).not.toContain(key)
  expect(await page.evaluate<string>('JSON.stringify([localStorage, sessionStorage])')).not.toContain(key)
  expect(await page.getByRole('tabpanel').innerText()).toContain(platform.apiKey)

  await platform.clock.advance(3_600_001)
  expect(await statusWith(platform, key)).toBe(401)
})

inBrowser('every example and the .env file have addresses and a key that work, and can be copied', async () => {
  const platform = await platformWith()
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${platform.dashboardUrl}/connect`)
  for (const name of ['curl', 'openai', 'Python', 'supabase-js']) {
    await page.getByRole('tab', { name }).click()
    expect(await page.getByRole('tabpanel').innerText()).toContain(platform.url)
  }
  expect(await page.getByRole('tabpanel').innerText()).toContain(developer)
  await page.getByRole('tab', { name: '.env' }).click()
  await page.getByRole('button', { name: 'Copy .env example' }).click()
  await page.getByRole('button', { name: 'Copy .env example, copied' }).waitFor()
  const variables = Object.fromEntries((await clipboardOf(page)).split('\n').map(line => line.split(/=(.*)/s)))
  expect(variables).toMatchObject({ SUPABASE_URL: platform.authUrl, SUPABASE_ANON_KEY: platform.anonKey })
  const { OPENAI_BASE_URL, OPENAI_API_KEY } = variables as Record<string, string>
  const models = await fetch(`${OPENAI_BASE_URL}/models`, { headers: { authorization: `Bearer ${OPENAI_API_KEY}` } })
  expect(models.status).toBe(200)
})

inBrowser('all endpoints are listed: documented ones, those of rules, and those of the auth backend', async () => {
  const { dashboardUrl } = await platformWith({ rules: [{ on: 'GET /builder/projects', reply: { json: [] } }] })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/connect`)
  const item = (text: string) => page.getByRole('listitem').filter({ hasText: text })
  await item('POST /v1/chat/completions').getByText('API key, user token').waitFor()
  await item('GET /builder/projects').waitFor()
  await item('POST /auth/v1/token').getByText('anon key').waitFor()
})

inBrowser('an account is created, and a wrong password is refused in the words of the backend', async () => {
  const { dashboardUrl } = await platformWith({ users: [{ email: 'own@example.com', password: 'a secret of mine' }] })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/connect`)
  await page.getByText('Sign in to create keys.').waitFor()
  // The configuration has users of its own, so there is no development user, and none is given away.
  expect(await page.getByRole('button', { name: /^Continue as/ }).count()).toBe(0)
  expect(await page.content()).not.toContain('own@example.com')
  await enterAccount(page)
  await page.getByLabel('Create this account').check()
  await page.getByText('At least 6 characters.', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText(`Signed in as ${ada.email}.`).waitFor()
  await page.getByRole('main').getByRole('button', { name: 'Sign out' }).click()
  await enterAccount(page, { ...ada, password: 'wrong' })
  await page.getByRole('main').getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('alert').getByText(WRONG_LOGIN).waitFor()
})

inBrowser('an address that has to be confirmed is confirmed with the link among the messages', async () => {
  const { dashboardUrl } = await platformWith({ auth: { mailerAutoconfirm: false } })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/connect`)
  await page.getByText('Another account').click()
  await enterAccount(page)
  await page.getByLabel('Create this account').check()
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('link', { name: 'Open the message' }).click()
  const opened = page.context().waitForEvent('page')
  await page.getByRole('link', { name: `Confirm your email address for ${ada.email}` }).click()
  await (await opened).getByText(`Signed in as ${ada.email}.`).waitFor()
  await comeBack(page)
  await page.getByText('Used', { exact: true }).waitFor()
})

inBrowser('a session that was lost in a restart or a reset, or with its account, says so', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  await platform.clock.advance(86_400_000)
  await comeBack(page)
  // A day later, the token is renewed.
  await createKeyOn(page)
  await platform.reset()
  await comeBack(page)
  await page.getByRole('alert').getByText('Standin was reset, which ended all sessions.').waitFor()

  await openSignedIn(page, platform)
  await platform.stop()
  const again = await platformWith({ port: Number(new URL(platform.url).port) })
  await comeBack(page)
  await page.getByRole('alert').getByText('Standin was restarted').waitFor()

  await openSignedIn(page, again)
  await signedOutEverywhere(again)
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('alert').getByText('Your session has ended. Sign in again.').waitFor()
})

/** Ends every session of a user, as from another browser. */
async function signedOutEverywhere(platform: Scene): Promise<void> {
  const granted = await askAuth(platform, '/token?grant_type=password', ada)
  const { access_token } = (await granted.json()) as { readonly access_token: string }
  const headers = { apikey: platform.anonKey, authorization: `Bearer ${access_token}` }
  await fetch(`${platform.url}/auth/v1/logout?scope=global`, { method: 'POST', headers })
}

inBrowser('signing in to a stopped platform fails, and the page says why', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/connect`)
  const signIn = page.getByRole('button', { name: `Continue as ${developer}` })
  await signIn.waitFor()
  await platform.stop()
  await signIn.click()
  await page.getByRole('alert').first().waitFor()
})

inBrowser('the page works under localhost as well, and sends all its requests there', async () => {
  const { url } = await platformWith()
  const { page, asked, complaints } = await openPage()
  await page.goto(`http://localhost:${new URL(url).port}/dashboard/connect`)
  await createKeyOn(page)
  expect(asked.filter(address => new URL(address).hostname !== 'localhost')).toEqual([])
  expect(complaints).toEqual([])
})

inBrowser('with a live auth backend its users can sign in, but users and messages are not listed', async () => {
  const live = await platformWith()
  await signedUp(live)
  const upstream = { authUrl: live.url, anonKey: live.anonKey }
  const platform = await platformWith({ auth: { mode: 'proxy' }, upstream })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/connect`)
  await enterAccount(page)
  await page.getByRole('main').getByRole('button', { name: 'Sign in', exact: true }).click()
  expect(await statusWith(platform, await createKeyOn(page))).toBe(200)
  await page.getByRole('link', { name: 'People', exact: true }).click()
  await page.getByText('Managed by the live backend').waitFor()
})
