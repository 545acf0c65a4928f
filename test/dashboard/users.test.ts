import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { notValid, passwordShorterThan, WRONG_LOGIN } from '../sentences.js'
import { expectAccessible } from './axe.js'
import { clipboardOf, hasFocus, inBrowser, tabTo, useBrowser } from './browser.js'
import { ada, createKeyOn, openSignedIn, signInOn } from './people.js'
import { platformWith, type Scene } from './scene.js'
import { addressOfThisMachine } from './this-machine.js'

const openPage = useBrowser()

const grace = { email: 'grace@example.com', password: 'another battery' }

/** Signs in through the auth backend, and returns the status and the access token. */
async function signIn({ url, anonKey }: Scene, { email, password }: typeof ada) {
  const headers = { apikey: anonKey, 'content-type': 'application/json' }
  const body = JSON.stringify({ email, password })
  const response = await fetch(`${url}/auth/v1/token?grant_type=password`, { method: 'POST', headers, body })
  const { access_token = '' } = (await response.json()) as { access_token?: string }
  return { status: response.status, token: access_token }
}

const statusWith = async ({ ask }: Scene, bearer: string) => (await ask('/v1/models', { bearer })).status

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const inDialog = (page: Page) => page.getByRole('dialog')
const heading = (page: Page, name: string) => page.getByRole('heading', { name, exact: true })

async function openUser(page: Page, { dashboardUrl }: Scene, email: string): Promise<void> {
  await page.goto(`${dashboardUrl}/users`)
  await page.getByRole('link', { name: email }).click()
  await heading(page, email).waitFor()
}

inBrowser('a user is added, and a password that is too short is refused at its field', async () => {
  const platform = await platformWith()
  const { page, complaints } = await openPage()
  await page.goto(`${platform.dashboardUrl}/users`)
  await button(page, 'Add user').click()
  await inDialog(page).getByLabel('Email', { exact: true }).fill(grace.email)
  const password = inDialog(page).getByLabel('Password')
  await password.fill('short')
  await inDialog(page).getByRole('button', { name: 'Add user' }).click()
  await inDialog(page).getByText(passwordShorterThan(6)).waitFor()
  expect([await password.getAttribute('aria-invalid'), await hasFocus(page, password)]).toEqual(['true', true])
  await password.fill(grace.password)
  await inDialog(page).getByRole('button', { name: 'Add user' }).click()
  await row(page, grace.email).getByText('Confirmed').waitFor()
  expect((await signIn(platform, grace)).status).toBe(200)
  expect(complaints).toEqual([])
})

inBrowser('users are searched, and the search survives a reload', async () => {
  const platform = await platformWith({ users: [ada, grace] })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/users`)
  await page.getByText('2 users').waitFor()
  await page.getByLabel('Search users').fill('GRACE')
  await page.getByText('1 user', { exact: true }).waitFor()
  await page.reload()
  await row(page, grace.email).waitFor()
  await page.getByLabel('Search users').fill('nobody')
  await page.getByText('No users match').waitFor()
})

inBrowser('metadata, role and password are edited, and invalid JSON is not saved', async () => {
  const platform = await platformWith({ users: [{ ...ada, user_metadata: { name: 'Ada', plan: 'free' } }] })
  const { page } = await openPage()
  await openUser(page, platform, ada.email)
  const metadata = page.getByLabel('User metadata (JSON)')
  expect(JSON.parse(await metadata.inputValue())).toMatchObject({ name: 'Ada', plan: 'free' })
  await metadata.fill('{"plan": "pro"')
  await button(page, 'Save').click()
  await page.getByText(notValid('JSON')).waitFor()
  expect(await hasFocus(page, metadata)).toBe(true)
  await metadata.fill('{"plan": "pro"}')
  await page.getByLabel('New password').fill('a password of the admin')
  await page.getByLabel('Role').fill('editor')
  await button(page, 'Save').click()
  await page.getByRole('status').getByText('Saved.').waitFor({ state: 'attached' })
  const { data } = (await (await platform.ask('/__standin/users', { bearer: null })).json()) as { data: object[] }
  // Fields that were left out are removed, as in any form.
  expect(data[0]).toMatchObject({ role: 'editor', user_metadata: { plan: 'pro' } })
  expect(JSON.stringify(data[0])).not.toContain('"name":"Ada"')
  expect((await signIn(platform, { ...ada, password: 'a password of the admin' })).status).toBe(200)
})

inBrowser('changes made elsewhere while a user is edited are kept', async () => {
  const platform = await platformWith({ users: [{ ...ada, user_metadata: { name: 'Ada', plan: 'free' } }] })
  const { page } = await openPage()
  await openUser(page, platform, ada.email)
  await page.getByLabel('User metadata (JSON)').fill('{"name": "Ada", "plan": "pro"}')
  await page.getByLabel('Role').fill('editor')
  const id = new URL(page.url()).searchParams.get('user')
  await platform.ask(`/auth/v1/admin/users/${id}`, {
    method: 'PUT',
    bearer: platform.serviceKey,
    headers: { apikey: platform.serviceKey, 'content-type': 'application/json' },
    body: JSON.stringify({
      phone: '4912345',
      user_metadata: { name: 'Ada L.', city: 'London' },
      app_metadata: { seats: 3 },
    }),
  })
  await button(page, 'Save').click()
  await page.getByRole('status').getByText('Saved.').waitFor({ state: 'attached' })
  const { data } = (await (await platform.ask('/__standin/users', { bearer: null })).json()) as { data: object[] }
  expect(data[0]).toMatchObject({
    ...{ role: 'editor', phone: '4912345' },
    user_metadata: { name: 'Ada L.', city: 'London', plan: 'pro' },
    app_metadata: { seats: 3 },
  })
})

inBrowser('refused changes can be undone, and the focus moves to the heading', async () => {
  const platform = await platformWith({ users: [ada] })
  const { page } = await openPage()
  await openUser(page, platform, ada.email)
  await page.getByLabel('New password').fill('short')
  await button(page, 'Save').click()
  await page.getByText(passwordShorterThan(6)).waitFor()
  await button(page, 'Undo changes').click()
  await page.getByText(passwordShorterThan(6)).waitFor({ state: 'detached' })
  expect(await page.getByLabel('New password').inputValue()).toBe('')
  expect(await hasFocus(page, heading(page, ada.email))).toBe(true)
})

inBrowser('a user is confirmed, banned, unbanned and deleted', async () => {
  const platform = await platformWith({ users: [{ ...ada, confirmed: false }] })
  const { page } = await openPage()
  await openUser(page, platform, ada.email)
  await page.getByText('Unconfirmed').waitFor()
  await page.getByLabel('Confirm the email address').check()
  await button(page, 'Save').click()
  await page.getByText('Confirmed', { exact: true }).waitFor()
  const { token } = await signIn(platform, ada)
  expect(await statusWith(platform, token)).toBe(200)

  await button(page, 'Ban').click()
  await inDialog(page).getByRole('button', { name: 'Ban' }).click()
  await page.getByText('Banned', { exact: true }).waitFor()
  expect(await statusWith(platform, token)).toBe(401)
  await button(page, 'Lift the ban').click()
  await button(page, 'Ban').waitFor()
  expect(await statusWith(platform, token)).toBe(200)

  await button(page, 'Delete').click()
  await inDialog(page).getByRole('button', { name: 'Delete user' }).click()
  await heading(page, 'Users').waitFor()
  await page.getByText('No users yet').waitFor()
  expect((await signIn(platform, ada)).status).toBe(400)
})

inBrowser('bans and times follow Standin’s clock', async () => {
  const platform = await platformWith({ users: [ada] })
  await platform.clock.advance(-30 * 86_400_000)
  await signIn(platform, ada)
  const { page } = await openPage()
  await openUser(page, platform, ada.email)
  await button(page, 'Ban').click()
  await inDialog(page).getByLabel('How long').selectOption('For 7 days')
  await inDialog(page).getByRole('button', { name: 'Ban' }).click()
  await page.getByText('Banned', { exact: true }).waitFor()
  await button(page, 'Lift the ban').waitFor()
  await page.goto(`${platform.dashboardUrl}/users`)
  await row(page, ada.email).waitFor()
  expect(await row(page, ada.email).getByRole('time').allInnerTexts()).toEqual(['next month', 'just now'])
})

inBrowser('the developer signs in as a user, and copies the access token', async () => {
  const platform = await platformWith({ users: [ada] })
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await openUser(page, platform, ada.email)
  await page.getByText('Not signed in.').waitFor()
  await button(page, 'Sign in as').click()
  await button(page, 'Copy the access token').click()
  await button(page, 'Copied the access token').waitFor()
  expect(await statusWith(platform, await clipboardOf(page))).toBe(200)
  await button(page, 'Done').click()
  await page.getByRole('region', { name: 'Sessions' }).getByRole('row').nth(1).waitFor()
})

inBrowser('the developer sends a link to a user, and the outbox says where it leads', async () => {
  const platform = await platformWith({ users: [ada] })
  const { page } = await openPage()
  await openUser(page, platform, ada.email)
  await button(page, 'Send a link').click()
  await inDialog(page).getByLabel('Password recovery').check()
  await inDialog(page).getByLabel('Leads to').fill('http://localhost:3000/reset')
  await inDialog(page).getByRole('button', { name: 'Send' }).click()
  const mail = page.getByRole('listitem').filter({ hasText: `To ${ada.email}` })
  await mail.getByText('Follow this link to choose a new password.').waitFor()
  expect(await mail.innerText()).toContain('The link leads to http://localhost:3000/reset')
  await page.getByLabel('Search messages').fill('grace')
  await page.getByText('No messages match').waitFor()
})

inBrowser('new messages are counted beside the outbox until it is opened', async () => {
  const platform = await platformWith({ users: [ada] })
  const { page } = await openPage()
  const outbox = page.getByRole('link', { name: /^Outbox/ })
  await page.goto(platform.dashboardUrl)
  await outbox.waitFor()
  await platform.ask('/auth/v1/recover', {
    method: 'POST',
    bearer: null,
    headers: { apikey: platform.anonKey, 'content-type': 'application/json' },
    body: JSON.stringify({ email: ada.email }),
  })
  await page.evaluate("dispatchEvent(new Event('focus'))")
  await page.getByRole('link', { name: 'Outbox 1 new' }).click()
  await heading(page, 'Outbox').waitFor()
  await page.getByRole('link', { name: 'Outbox', exact: true }).waitFor()
})

inBrowser('a message that arrives while another one is being read does not move it', async () => {
  const platform = await platformWith({ users: [ada, grace] })
  const { page } = await openPage()
  const recover = async (email: string) => {
    const headers = { apikey: platform.anonKey, 'content-type': 'application/json' }
    await platform.ask('/auth/v1/recover', { method: 'POST', bearer: null, headers, body: JSON.stringify({ email }) })
    await page.evaluate("dispatchEvent(new Event('focus'))")
  }
  await page.goto(`${platform.dashboardUrl}/outbox`)
  await page.getByText('Nothing has been sent').waitFor()
  await recover(ada.email)
  const recipients = page.getByText(/^To /)
  await recipients.hover()
  await recover(grace.email)
  await page.getByText('2 messages').waitFor()
  expect(await recipients.allInnerTexts()).toEqual([`To ${ada.email}`])
  await heading(page, 'Outbox').hover()
  await page.getByText(`To ${grace.email}`, { exact: true }).waitFor()
  expect(await recipients.allInnerTexts()).toEqual([`To ${grace.email}`, `To ${ada.email}`])
})

inBrowser('one session of a user is ended, then all of them, by keyboard alone', async () => {
  const platform = await platformWith({ users: [ada, grace] })
  const first = (await signIn(platform, ada)).token
  const second = (await signIn(platform, ada)).token
  const other = (await signIn(platform, grace)).token
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/users`)
  await tabTo(page, page.getByLabel('Search users'))
  await page.keyboard.type('ADA')
  await row(page, ada.email).getByText('2 sessions').waitFor()
  await tabTo(page, page.getByRole('link', { name: ada.email }))
  await page.keyboard.press('Enter')
  await heading(page, ada.email).waitFor()
  await tabTo(page, button(page, 'Sign out').first())
  await page.keyboard.press('Enter')
  await tabTo(page, inDialog(page).getByRole('button', { name: 'Sign out' }))
  await page.keyboard.press('Enter')
  await button(page, 'Sign out everywhere').waitFor({ state: 'detached' })
  // The order of two sessions that began at the same moment is not defined.
  expect([await statusWith(platform, first), await statusWith(platform, second)].toSorted()).toEqual([200, 401])

  const third = (await signIn(platform, ada)).token
  await page.reload()
  await tabTo(page, button(page, 'Sign out everywhere'))
  await page.keyboard.press('Enter')
  await tabTo(page, inDialog(page).getByRole('button', { name: 'Sign out' }))
  await page.keyboard.press('Enter')
  await page.getByText('Not signed in.').waitFor()
  expect(await hasFocus(page, heading(page, ada.email))).toBe(true)
  const all = [first, second, third, other].map(token => statusWith(platform, token))
  expect(await Promise.all(all)).toEqual([401, 401, 401, 200])
})

inBrowser('a key that is revoked for its user disappears from Connect immediately', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  const key = await createKeyOn(page, 'doomed')
  const goTo = (name: string) => page.getByRole('navigation').getByRole('link', { name }).first().click()
  await goTo('Connect')
  await page.getByRole('tabpanel').getByText(key).first().waitFor()
  await goTo('Users')
  await page.getByRole('link', { name: ada.email }).click()
  await button(page, 'Revoke doomed').click()
  await inDialog(page).getByRole('button', { name: 'Revoke key' }).click()
  await row(page, 'doomed').getByText('Revoked', { exact: true }).waitFor()
  await goTo('Connect')
  await page.getByText('The public development key is filled in.').waitFor()
  expect(await page.content()).not.toContain(key)
})

inBrowser('the requests of a user are one click away, including those with an API key', async () => {
  const platform = await platformWith({
    users: [ada, grace],
    apiKeys: [{ name: 'CI', key: 'sk-ci-of-ada-and-long', user: ada.email }],
  })
  const { token } = await signIn(platform, ada)
  await platform.ask('/v1/models', { bearer: token })
  await platform.ask('/v1/models', { bearer: 'sk-ci-of-ada-and-long' })
  await platform.ask('/v1/models', { bearer: (await signIn(platform, grace)).token })
  const { page } = await openPage()
  await openUser(page, platform, ada.email)
  await page.getByRole('link', { name: 'Requests of this user' }).click()
  await heading(page, 'Requests').waitFor()
  const requests = page.locator('.request').filter({ hasText: '/v1/models' })
  await requests.nth(1).waitFor()
  expect(await requests.count()).toBe(2)
})

inBrowser('from another machine the control token opens users, recordings and replies', async ({ skip }) => {
  const address = addressOfThisMachine()
  if (address === undefined) skip('This machine has no address other than loopback.')
  const platform = await platformWith({
    host: '0.0.0.0',
    controlToken: 'control-token-of-this-test',
    users: [ada],
    rules: [{ name: 'mine', reply: { text: 'x' } }],
  })
  const { page } = await openPage()
  await page.goto(`http://${address}:${new URL(platform.url).port}/dashboard/users`)
  await page.getByText('The control API needs a credential here').waitFor()
  await page.getByLabel('Control token').fill('control-token-of-this-test')
  await page.getByRole('button', { name: 'Show', exact: true }).last().click()
  await row(page, ada.email).waitFor()
  await page.getByRole('link', { name: 'Replies' }).click()
  await row(page, 'mine').waitFor()
  await page.getByRole('link', { name: 'Recordings' }).click()
  await page
    .getByLabel('Search recordings')
    .or(page.getByText(/^There are no recordings/))
    .waitFor()
})

inBrowser('the page of a user is accessible on desktop and phone, in light and dark colours', async () => {
  const long = { ...ada, email: 'somebody.with.a.long.name@a-company-with-a-long-name.example' }
  const platform = await platformWith({ users: [long] })
  const { page } = await openPage()
  await openUser(page, platform, long.email)
  await page.getByText('Not signed in.').waitFor()
  await expectAccessible(page)
  await signIn(platform, long)
  await page.reload()
  await button(page, 'Sign out').waitFor()
  // The other dialogs only have text.
  for (const action of ['Send a link', 'Ban']) {
    await button(page, action).click()
    await inDialog(page).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
  }
  await page.goto(`${platform.dashboardUrl}/sign-in`)
  await signInOn(page, { ...long, password: 'wrong' })
  await page.getByText(WRONG_LOGIN).waitFor()
  await expectAccessible(page)
})
