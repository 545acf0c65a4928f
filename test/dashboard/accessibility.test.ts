import { expect } from 'vitest'
import { platformWith } from '../scene.js'
import { violationsOn, widthOf } from './axe.js'
import { hasFocus, inBrowser, looks, phone, useBrowser } from './browser.js'
import { ada, createKeyOn, signUpOn } from './people.js'

const openPage = useBrowser()

inBrowser.each(looks)(
  'every view is accessible and fits a %s in %s colours',
  async (_device, colorScheme, viewport) => {
    const users = Array.from({ length: 25 }, (_, i) => ({
      email: `somebody.with.a.long.name.${i}@a-company-with-a-long-name.example`,
      confirmed: i % 2 === 0,
    }))
    const models = [{ id: 'a_model_with_a_name_that_is_longer_than_a_phone_is_wide_and_never_breaks' }, { id: 'short' }]
    const platform = await platformWith({ users, models })
    const { page } = await openPage({ viewport, colorScheme })
    const check = async () => {
      expect(await violationsOn(page)).toEqual([])
      expect(await widthOf(page)).toBeLessThanOrEqual(viewport.width)
    }
    const visit = async (view: string, sign: string) => {
      await page.goto(platform.dashboardUrl + view)
      await page.getByText(sign).first().waitFor()
      await check()
    }
    await visit('', 'Endpoints')
    await visit('/sign-in', 'Forgot your password?')
    await visit('/new-password', 'Ask for another one')
    await visit('/outbox', 'Nothing has been sent')
    await visit('/refused', 'No key was refused')

    await signUpOn(page, platform)
    await page.getByText('No keys yet').waitFor()
    await check()
    const key = await createKeyOn(page, 'a_key_with_a_name_that_is_longer_than_a_phone_is_wide_and_never_breaks')
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

    await platform.ask('/v1/models', { bearer: key.slice(1) })
    await platform.ask('/auth/v1/recover', {
      method: 'POST',
      bearer: null,
      headers: { apikey: platform.anonKey, 'content-type': 'application/json' },
      body: JSON.stringify({ email: users[0]?.email }),
    })
    await visit('/users', '1 to 20 of 26')
    await visit('/outbox', 'Reset your password')
    await visit('/refused', 'Unknown:')
  },
)

inBrowser.each(looks)(
  'the controls are accessible and fit a %s in %s colours',
  async (_device, colorScheme, viewport) => {
    const models = [{ id: 'a_model_with_a_name_that_is_longer_than_a_phone_is_wide_and_never_breaks' }]
    const platform = await platformWith({ models, limits: { requestsPerMinute: 3 } })
    await (await platform.ask('/v1/models')).text()
    platform.failNext({ status: 429, retryAfter: 2 }, { times: 3, path: `/${'nowhere'.repeat(12)}` })
    const { page } = await openPage({ viewport, colorScheme })
    await page.goto(`${platform.dashboardUrl}/controls`)
    await page.getByText('1 of 3').waitFor()
    for (const more of ['Another fault', 'More']) await page.getByText(more, { exact: true }).click()
    await page.getByLabel('Jitter', { exact: true }).fill('')
    await page.getByText('Write a number.').waitFor()
    expect(await violationsOn(page)).toEqual([])
    expect(await widthOf(page)).toBeLessThanOrEqual(viewport.width)
    await page.getByRole('button', { name: 'Reset everything' }).click()
    await page.getByRole('dialog').waitFor()
    expect(await violationsOn(page)).toEqual([])
  },
)

inBrowser.each(['light', 'dark'] as const)('the page follows the %s colours of the system', async colorScheme => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage({ colorScheme })
  await page.goto(dashboardUrl)
  const paper = await page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
  const ink = await page.evaluate<string>('getComputedStyle(document.body).color')
  expect(brightness(paper) > brightness(ink)).toBe(colorScheme === 'light')
  expect(Math.abs(brightness(paper) - brightness(ink))).toBeGreaterThan(150)
})

inBrowser('nothing moves for whoever wants it still', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage({ reducedMotion: 'reduce' })
  await page.goto(dashboardUrl)
  await page.getByRole('heading', { name: 'Connect' }).waitFor()
  const moving = await page.evaluate<number>(
    `[...document.querySelectorAll('*')].filter(element => {
      const { transitionDuration, animationName } = getComputedStyle(element)
      return animationName !== 'none' || /[1-9]/.test(transitionDuration)
    }).length`,
  )
  expect(moving).toBe(0)
})

inBrowser('what scrolls can be reached with the keyboard', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage({ viewport: phone })
  await page.goto(dashboardUrl)
  await page.getByRole('heading', { name: 'Connect' }).waitFor()
  const stuck = await page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('*')].filter(element =>
      getComputedStyle(element).overflowX === 'auto' && element.scrollWidth > element.clientWidth &&
      element.tabIndex < 0 && !element.querySelector('a, button')
    ).map(element => element.outerHTML)`,
  )
  expect(stuck).toEqual([])
})

inBrowser('a click on a place in the navigation brings the keyboard to its heading', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage()
  await page.goto(dashboardUrl)
  await page.getByRole('link', { name: 'Outbox' }).click()
  const heading = page.getByRole('heading', { name: 'Outbox' })
  await heading.waitFor()
  expect(await hasFocus(page, heading)).toBe(true)
})

/** From 0, black, to 255, white. */
function brightness(rgb: string): number {
  const [red = 0, green = 0, blue = 0] = rgb.match(/\d+/g)?.map(Number) ?? []
  return (red + green + blue) / 3
}
