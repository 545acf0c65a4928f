import { expect } from 'vitest'
import { passwordShorterThan, WRONG_LOGIN } from '../sentences.js'
import { comeBack, hasFocus, inBrowser, later, useBrowser } from './browser.js'
import { ada, createKeyOn, openSignedIn, signedOutEverywhere, signedUp, signInOn, signUpOn } from './people.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

interface Users {
  readonly data: readonly { readonly id: string; readonly email: string }[]
}

inBrowser('a session survives a reload, on every view', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await signUpOn(page, platform)
  for (const view of ['', '/keys', '/users', '/outbox']) {
    await page.goto(platform.dashboardUrl + view)
    await page.getByRole('button', { name: `Account: ${ada.email}` }).waitFor()
    expect(new URL(page.url()).pathname).toBe(`/dashboard${view}`)
  }
})

inBrowser(
  'a link moves the focus to the heading of its view, and the browser’s back and forward buttons work',
  async () => {
    const { dashboardUrl } = await platformWith()
    const { page } = await openPage()
    const heading = (name: string) => page.getByRole('heading', { name, exact: true }).waitFor()
    await page.goto(dashboardUrl)
    await heading('Connect')
    await page.getByRole('link', { name: 'Users' }).click()
    await heading('Users')
    expect(await page.title()).toBe('Users · Standin')
    expect(await hasFocus(page, page.getByRole('heading', { name: 'Users', exact: true }))).toBe(true)
    await page.goBack()
    await heading('Connect')
    await page.goForward()
    await heading('Users')
  },
)

inBrowser('a wrong password is refused in the words of the backend', async () => {
  const platform = await platformWith()
  await signedUp(platform)
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/sign-in`)
  await signInOn(page, { ...ada, password: 'wrong' })
  await page.getByText(WRONG_LOGIN).waitFor()
  const password = page.getByLabel('Password')
  expect([await password.getAttribute('aria-invalid'), await hasFocus(page, password)]).toEqual(['true', true])
  const error = await password.getAttribute('aria-describedby')
  expect(await page.locator(`[id="${error}"]`).innerText()).toBe(WRONG_LOGIN)
  await signInOn(page)
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
})

inBrowser('an email address that already has an account cannot sign up again', async () => {
  const platform = await platformWith()
  await signedUp(platform)
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/sign-up`)
  await page.getByLabel('Email').fill(ada.email)
  await page.getByLabel('Password').fill('something else')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText('User already registered').waitFor()
  expect(await hasFocus(page, page.getByLabel('Email'))).toBe(true)
})

inBrowser('the password rule is shown next to the field, and the password can be revealed', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/sign-up`)
  await page.getByText('At least 6 characters.', { exact: true }).waitFor()
  await page.getByLabel('Email').fill(ada.email)
  const password = page.getByLabel('Password')
  await password.fill('abc')
  expect(await password.getAttribute('type')).toBe('password')
  await page.getByRole('button', { name: 'Show Password' }).click()
  expect(await password.getAttribute('type')).toBe('text')
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByText(passwordShorterThan(6)).waitFor()
  expect(await hasFocus(page, password)).toBe(true)
})

inBrowser('an email address that is not confirmed yet can get the link again', async () => {
  const platform = await platformWith({ auth: { mailerAutoconfirm: false } })
  await signedUp(platform)
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/sign-in`)
  await signInOn(page)
  await page.getByRole('alert').getByText('Email not confirmed').waitFor()
  await platform.clock.advance(120_000)
  await page.getByRole('button', { name: 'Send again' }).click()
  await page.getByRole('status').getByText('Mail is captured locally').waitFor()
  expect((await platform.outbox.messages({ to: ada.email })).length).toBe(2)
})

inBrowser('the development user is filled in with one click', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/keys`)
  await page.getByRole('button', { name: 'Fill in' }).click()
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
})

inBrowser('the development user is not offered if the configuration has users of its own', async () => {
  const { dashboardUrl } = await platformWith({ users: [{ email: 'own@example.com', password: 'a secret of mine' }] })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/sign-in`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  expect(await page.getByRole('button', { name: 'Fill in' }).count()).toBe(0)
  expect(await page.content()).not.toContain('own@example.com')
})

inBrowser('an email address that has to be confirmed is confirmed with the link in the outbox', async () => {
  const platform = await platformWith({ auth: { mailerAutoconfirm: false } })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/sign-up`)
  await page.getByLabel('Email').fill(ada.email)
  await page.getByLabel('Password').fill(ada.password)
  await page.getByRole('button', { name: 'Create account' }).click()
  await page.getByRole('heading', { name: 'Confirm your address' }).waitFor()
  await page.getByRole('main').getByRole('link', { name: 'outbox' }).click()
  const opened = page.context().waitForEvent('page')
  await page.getByRole('link', { name: `Confirm your email address for ${ada.email}` }).click()
  await (await opened).getByRole('heading', { name: 'API keys' }).waitFor()
})

inBrowser('a deleted or banned user gets the reason, in the other tab as well', async () => {
  const platform = await platformWith()
  const admin = (method: string, body: object) => async () => {
    const { data } = (await (await platform.ask('/__standin/users', { bearer: null })).json()) as Users
    await platform.ask(`/auth/v1/admin/users/${data.find(({ email }) => email === ada.email)?.id}`, {
      method,
      bearer: platform.serviceKey,
      headers: { apikey: platform.serviceKey, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
  }
  const { page } = await openPage()
  await openSignedIn(page, platform)
  await admin('PUT', { ban_duration: '1h' })()
  await comeBack(page)
  await page.getByRole('alert').getByText('Your account is banned.').waitFor()
  await admin('PUT', { ban_duration: 'none' })()
  await signInOn(page)
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
  const other = await page.context().newPage()
  await other.goto(platform.dashboardUrl)
  await other.getByRole('button', { name: `Account: ${ada.email}` }).waitFor()
  await admin('DELETE', {})()
  await comeBack(page)
  await page.getByRole('alert').getByText('Your account was deleted.').waitFor()
  await other.getByRole('link', { name: 'Sign in' }).click()
  await other.getByRole('alert').getByText('Your account was deleted.').waitFor()
})

inBrowser('a user who was signed out elsewhere gets the reason once, however many requests were refused', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  await page.getByText('No keys yet').waitFor()
  const refusedKeys = () => page.waitForResponse(response => response.status() === 401)
  // Both are refused before the page has looked up its user.
  let goOn = () => {}
  const bothRefused = new Promise<void>(resolve => {
    goOn = resolve
  })
  let userRequests = 0
  await page.route('**/auth/v1/user', async route => {
    userRequests++
    await bothRefused
    await route.continue()
  })
  await signedOutEverywhere(platform)
  for (let i = 0; i < 2; i++) await Promise.all([refusedKeys(), comeBack(page)])
  goOn()
  const why = page.getByRole('alert').getByText('You were signed out elsewhere.')
  await why.waitFor()
  await page.waitForLoadState('networkidle')
  expect([userRequests, await why.isVisible()]).toEqual([1, true])
  await signInOn(page)
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
})

inBrowser('advancing the clock by a day signs no user out, but a reset does and says so', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  await platform.clock.advance(86_400_000)
  await comeBack(page)
  await createKeyOn(page, 'of tomorrow')
  await page.getByRole('row').filter({ hasText: 'of tomorrow' }).waitFor()
  await platform.reset()
  await comeBack(page)
  await page.getByRole('alert').getByText('Standin was reset, which ended all sessions.').waitFor()
})

inBrowser('a user whose session was lost in a restart gets the reason', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  // A view that sends no requests in the meantime.
  await page.getByRole('link', { name: 'Connect' }).click()
  await page.getByRole('heading', { name: 'Connect', exact: true }).waitFor()
  await platform.stop()
  await platformWith({ port: Number(new URL(platform.url).port) })
  await page.getByRole('link', { name: 'API keys' }).first().click()
  await page.getByRole('alert').getByText('Standin was restarted').waitFor()
  expect(await page.evaluate<string | null>("localStorage.getItem('standin-dashboard')")).toBeNull()
})

inBrowser('the page says that the platform has stopped, and continues when it is back', async () => {
  const platform = await platformWith()
  const { page } = await openPage({ hasClock: true })
  await page.goto(`${platform.dashboardUrl}/users`)
  await page.getByRole('row').nth(1).waitFor()
  await platform.stop()
  await comeBack(page)
  await page.getByRole('alert').getByText('Standin isn’t running.').first().waitFor()
  // What was loaded before stays readable.
  expect(await page.getByRole('row').count()).toBe(2)
  await platformWith({ port: Number(new URL(platform.url).port) })
  await later(page, async () => (await page.getByRole('alert').count()) === 0)
})

inBrowser('signing in to a stopped platform fails, and the page says why', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/sign-in`)
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await platform.stop()
  await signInOn(page)
  await page.getByRole('alert').getByText('Standin isn’t running.').first().waitFor()
})

inBrowser('signing out removes the secret of a new key from the page', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  const key = await createKeyOn(page, 'mine')
  await page.getByRole('button', { name: /^Account/ }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByRole('link', { name: 'Connect' }).click()
  await page.getByRole('heading', { name: 'Connect', exact: true }).waitFor()
  expect(await page.content()).not.toContain(key)
})

inBrowser('the page works under localhost as well, and sends all its requests there', async () => {
  const platform = await platformWith()
  const { page, asked } = await openPage()
  const { port } = new URL(platform.url)
  await signUpOn(page, { ...platform, dashboardUrl: `http://localhost:${port}/dashboard` })
  await createKeyOn(page, 'local')
  expect(asked.filter(address => new URL(address).hostname !== 'localhost')).toEqual([])
})
