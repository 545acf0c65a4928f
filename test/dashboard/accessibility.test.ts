import { expect } from 'vitest'
import { allAppearances, expectAccessible } from './axe.js'
import { goWithin, inBrowser, phone, useBrowser } from './browser.js'
import { ada, createKeyOn, openSignedIn } from './people.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

const longEmail = (i: number) => `somebody.with.a.long.name.${i}@a-company-with-a-long-name.example`

/** Visits views of a platform with long lists and names, and expects each to be accessible. */
async function openCrowded() {
  const users = Array.from({ length: 25 }, (_, i) => ({
    email: longEmail(i),
    confirmed: i % 2 === 0,
  }))
  const models = [{ id: 'a_model_with_a_name_that_is_longer_than_a_phone_is_wide_and_never_breaks' }, { id: 'short' }]
  const platform = await platformWith({ users, models })
  const { page } = await openPage()
  const visit = async (view: string, text: string, appearances?: typeof allAppearances) => {
    await goWithin(page, platform.dashboardUrl + view)
    await page.getByText(text).first().waitFor()
    await expectAccessible(page, appearances)
  }
  return { platform, page, visit }
}

inBrowser('signed out, every view is accessible and fits desktop and phone', async () => {
  const { page, platform, visit } = await openCrowded()
  await page.goto(platform.dashboardUrl)
  await visit('', 'Endpoints', allAppearances)
  await visit('/sign-in', 'Create an account')
  await visit('/outbox', 'Nothing has been sent')
})

inBrowser('the keys and their dialogs are accessible and fit desktop and phone', async () => {
  const { platform, page } = await openCrowded()
  const check = () => expectAccessible(page)
  await openSignedIn(page, platform)
  await createKeyOn(page, 'a_key_with_a_name_that_is_longer_than_a_phone_is_wide_and_never_breaks')
  await createKeyOn(page, 'short')
  await page.getByRole('button', { name: 'Revoke short' }).click()
  await check()
  await page.getByRole('button', { name: 'Revoke key' }).click()
  await page.getByText('Revoked', { exact: true }).waitFor()
  await check()
  await page.getByRole('button', { name: /^Roll/ }).click()
  await check()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Create key' }).click()
  await page.getByLabel('Expires').selectOption('On a date…')
  await check()
  await page.getByLabel('Expires').selectOption('Never')
  await page.getByRole('dialog').getByLabel('Name').fill('another')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('button', { name: 'Copy the key' }).waitFor()
  await check()
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('button', { name: `Account: ${ada.email}` }).click()
  await check()
})

inBrowser('full lists are accessible and fit desktop and phone', async () => {
  const { platform, page, visit } = await openCrowded()
  await platform.ask('/auth/v1/recover', {
    method: 'POST',
    bearer: null,
    headers: { apikey: platform.anonKey, 'content-type': 'application/json' },
    body: JSON.stringify({ email: longEmail(0) }),
  })
  await page.goto(platform.dashboardUrl)
  await visit('/users', '1 to 20 of 25')
  await visit('/outbox', 'Reset your password')
  await visit('/nowhere', 'Page not found')
})

inBrowser('the controls are accessible and fit desktop and phone', async () => {
  const models = [{ id: 'a_model_with_a_name_that_is_longer_than_a_phone_is_wide_and_never_breaks' }]
  const platform = await platformWith({ models })
  platform.failNext({ status: 429, retryAfter: 2 }, { times: 3, path: `/${'nowhere'.repeat(12)}` })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/controls`)
  await page.getByRole('listitem').getByText('Status 429').waitFor()
  for (const more of ['Another fault', 'Individual endpoints']) await page.locator('summary', { hasText: more }).click()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Reset everything' }).click()
  await page.getByRole('dialog').waitFor()
  await expectAccessible(page)
})

inBrowser('the page follows the colour scheme of the system', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage({ colorScheme: 'dark' })
  await page.goto(dashboardUrl)
  const isDark = async () => {
    const paper = brightness(await page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor'))
    const ink = brightness(await page.evaluate<string>('getComputedStyle(document.body).color'))
    expect(Math.abs(paper - ink)).toBeGreaterThan(150)
    return paper < ink
  }
  expect(await isDark()).toBe(true)
  await page.emulateMedia({ colorScheme: 'light' })
  expect(await isDark()).toBe(false)
})

inBrowser('with reduced motion nothing moves, and the keyboard reaches everything that scrolls', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage({ viewport: phone })
  await page.goto(dashboardUrl)
  await page.getByRole('heading', { name: 'Connect' }).waitFor()
  const moving = await page.evaluate<number>(
    `[...document.querySelectorAll('*')].filter(element => {
      const { transitionDuration, animationName } = getComputedStyle(element)
      return animationName !== 'none' || /[1-9]/.test(transitionDuration)
    }).length`,
  )
  expect(moving).toBe(0)
  const stuck = await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('*')].filter(element =>
      getComputedStyle(element).overflowX === 'auto' && element.scrollWidth > element.clientWidth &&
      element.tabIndex < 0 && !element.querySelector('a, button')
    ).map(element => element.outerHTML)`,
  )
  expect(stuck).toEqual([])
})

/** From 0, black, to 255, white. */
function brightness(rgb: string): number {
  const [red = 0, green = 0, blue = 0] = rgb.match(/\d+/g)?.map(Number) ?? []
  return (red + green + blue) / 3
}
