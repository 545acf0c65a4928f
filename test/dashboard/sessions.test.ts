import { expect } from 'vitest'
import { platformWith, type Scene } from '../scene.js'
import { expectFitForAll } from './axe.js'
import { inBrowser, looks, tabTo, useBrowser } from './browser.js'
import { ada } from './people.js'
import { addressOfThisMachine } from './this-machine.js'

const openPage = useBrowser()

const grace = { email: 'grace@example.com', password: 'another battery' }

/** Signs in over the auth backend, and gives back the access token. */
async function signedIn({ url, anonKey }: Scene, { email, password }: typeof ada): Promise<string> {
  const headers = { apikey: anonKey, 'content-type': 'application/json' }
  const body = JSON.stringify({ email, password })
  const response = await fetch(`${url}/auth/v1/token?grant_type=password`, { method: 'POST', headers, body })
  return ((await response.json()) as { access_token: string }).access_token
}

const opens = async ({ ask }: Scene, bearer: string) => (await ask('/v1/models', { bearer })).status

inBrowser('one session is ended, then all of a user, by keyboard alone', async () => {
  const platform = await platformWith({ users: [ada, grace] })
  const [first, second] = [await signedIn(platform, ada), await signedIn(platform, ada)]
  const other = await signedIn(platform, grace)
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/sessions`)
  await page.getByText('3 sessions').waitFor()
  await tabTo(page, page.getByLabel('Search users'))
  await page.keyboard.type('ADA')
  await page.getByText('2 sessions', { exact: true }).waitFor()
  const ofAda = page.getByRole('button', { name: `Sign out ${ada.email}` })
  await tabTo(page, ofAda.first())
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Sign out' }))
  await page.keyboard.press('Enter')
  await page.getByText('1 session', { exact: true }).waitFor()
  // Which of two that were begun in one moment comes first is nobody's to say.
  expect([await opens(platform, first), await opens(platform, second)].toSorted()).toEqual([200, 401])
  await ofAda.first().click()
  await page.getByLabel('All sessions of this user').check()
  await page.getByRole('dialog').getByRole('button', { name: 'Sign out' }).click()
  await page.getByText('No sessions match').waitFor()
  expect([await opens(platform, first), await opens(platform, second), await opens(platform, other)]).toEqual([
    401, 401, 200,
  ])
})

inBrowser('nobody is signed in at first, and whoever signs in on the page appears', async () => {
  const platform = await platformWith({ users: [ada] })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/sessions`)
  await page.getByText('No open sessions').waitFor()
  await page.getByRole('main').getByRole('link', { name: 'here' }).click()
  await page.getByLabel('E-mail').fill(ada.email)
  await page.getByLabel('Password').fill(ada.password)
  await page.getByRole('main').getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('heading', { name: 'API keys' }).waitFor()
  await page.getByRole('link', { name: 'Sessions' }).click()
  await page.getByRole('row').filter({ hasText: ada.email }).getByText('aal1, with password').waitFor()
})

inBrowser('from another machine the control token opens sessions, recordings and replies', async ({ skip }) => {
  const address = addressOfThisMachine()
  if (address === undefined) skip('This machine has no address but its own loopback.')
  const platform = await platformWith({
    host: '0.0.0.0',
    controlToken: 'control-token-of-this-test',
    users: [ada],
    rules: [{ name: 'mine', reply: { text: 'x' } }],
  })
  await signedIn(platform, ada)
  const { page } = await openPage()
  await page.goto(`http://${address}:${new URL(platform.url).port}/dashboard/sessions`)
  await page.getByText('The control API is closed here').waitFor()
  await page.getByLabel('Control token').fill('control-token-of-this-test')
  await page.getByRole('button', { name: 'Show' }).click()
  await page.getByRole('row').filter({ hasText: ada.email }).waitFor()
  await page.getByRole('link', { name: 'Replies' }).click()
  await page.getByRole('row').filter({ hasText: 'mine' }).waitFor()
  await page.getByRole('link', { name: 'Recordings' }).click()
  await page
    .getByLabel('Search recordings')
    .or(page.getByText(/^Nothing is recorded/))
    .waitFor()
})

inBrowser.each(looks)('sessions are for everybody on a %s in %s colours', async (_device, colorScheme, viewport) => {
  const long = { ...ada, email: 'somebody.with.a.long.name@a-company-with-a-long-name.example' }
  const platform = await platformWith({ users: [long] })
  const { page } = await openPage({ viewport, colorScheme })
  await page.goto(`${platform.dashboardUrl}/sessions`)
  await page.getByText('No open sessions').waitFor()
  await expectFitForAll(page)
  await signedIn(platform, long)
  await page.reload()
  await page.getByRole('button', { name: /^Sign out/ }).click()
  await expectFitForAll(page)
  await page.keyboard.press('Escape')
  await expectFitForAll(page)
})
