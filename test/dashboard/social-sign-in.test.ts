/** The page that stands in for another provider, in a browser. */
import { createClient } from '@supabase/supabase-js'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { allAppearances, expectAccessible } from './axe.js'
import { appElsewhere, inBrowser, useBrowser } from './browser.js'
import { platformWith } from './scene.js'

const opened = useBrowser()

/** A platform with two users, and an app whose button leads to the page. */
async function scene() {
  const platform = await platformWith({
    auth: { external: { github: {} } },
    users: [
      { email: 'ada@example.com', user_metadata: { name: 'Ada <Lovelace>' } },
      { email: `${'grace.hopper.'.repeat(6)}@example.com` },
    ],
  })
  const redirectTo = await appElsewhere()
  const { auth } = createClient(platform.url, platform.anonKey, { auth: { flowType: 'pkce' } })
  const { page, asked, complaints } = await opened()
  return {
    platform,
    auth,
    page,
    asked,
    complaints,
    /** Presses the app's button. */
    async begin() {
      const { data } = await auth.signInWithOAuth({ provider: 'github', options: { redirectTo } })
      await page.goto(data.url ?? '')
    },
    /** What the browser has brought back to the app. */
    async returned() {
      await page.waitForURL(url => url.href.startsWith(redirectTo))
      return Object.fromEntries(new URL(page.url()).searchParams)
    },
  }
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })

inBrowser(
  'a user chooses an account on the page, types another one, denies access, and lets the provider fail',
  async () => {
    const { auth, page, begin, returned, complaints, asked, platform } = await scene()
    await begin()
    expect(await page.title()).toBe('Sign in with GitHub · Standin')
    await expectAccessible(page, allAppearances)
    await button(page, /Ada <Lovelace>/).click()
    const { code } = await returned()
    const { data } = await auth.exchangeCodeForSession(code ?? '')
    expect(data.user).toMatchObject({ email: 'ada@example.com', app_metadata: { providers: ['email', 'github'] } })

    await begin()
    await page.getByLabel('Another account').fill('new@example.com')
    await page.keyboard.press('Enter')
    const { code: second } = await returned()
    expect((await auth.exchangeCodeForSession(second ?? '')).data.user?.email).toBe('new@example.com')

    await begin()
    await button(page, 'Deny access').click()
    expect(await returned()).toMatchObject({ error: 'access_denied' })
    await begin()
    await button(page, 'Let GitHub fail').click()
    expect(await returned()).toMatchObject({ error: 'server_error', error_code: 'unexpected_failure' })
    expect(complaints).toEqual([])
    expect(asked.every(url => url.startsWith('data:') || new URL(url).hostname === '127.0.0.1')).toBe(true)
    expect(await platform.journal.count({ status: '5xx' })).toBe(0)
  },
)

inBrowser('no other page can frame the page', async () => {
  const { auth } = await scene()
  const { data } = await auth.signInWithOAuth({ provider: 'github' })
  const { headers } = await fetch(data.url ?? '')
  expect(headers.get('content-security-policy')).toMatch(/default-src 'none'.*frame-ancestors 'none'/)
  expect([headers.get('x-frame-options'), headers.get('referrer-policy')]).toEqual(['DENY', 'no-referrer'])
})

test('another account comes first on the page, and users of other tests are not listed', async () => {
  const { platform, auth } = await scene()
  const [mine, theirs, former] = ['mine', 'theirs', 'former'].map(name => `${name}@example.com`)
  for (const email of [mine, theirs, former]) await platform.signIn({ email })
  await platform.scope({ user: mine ?? '', name: 'this test' })
  await platform.scope({ user: theirs ?? '', name: 'another test' })
  await (await platform.scope({ user: former ?? '', name: 'an earlier test' })).close()
  const { data } = await auth.signInWithOAuth({ provider: 'github' })
  const page = async (headers = {}) => (await fetch(data.url ?? '', { headers })).text()
  const listed = (html: string) => [...html.matchAll(/name="code" value="(\w+@[^"]+)"/g)].map(([, email]) => email)
  const html = await page()
  expect(html.indexOf('Another account')).toBeLessThan(html.indexOf('ada@example.com'))
  expect(listed(html)).toEqual(['ada@example.com'])
  expect(listed(await page({ 'x-standin-scope': 'this test' }))).toEqual([mine, 'ada@example.com'])
})
