/** The strip: what decides the next answer, always in view, with a way back. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible } from './axe.js'
import { inBrowser, useBrowser } from './browser.js'
import { hello, platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

const item = (page: Page, name: string) => page.getByRole('button', { name: new RegExp(`^${name}: `) })
const menu = (page: Page, name: string) => page.getByRole('region', { name: new RegExp(`^${name}: `) })

async function openStrip(platform: Scene) {
  const { page, complaints } = await openPage()
  await page.goto(platform.dashboardUrl)
  await item(page, 'Mode').waitFor()
  return { page, complaints }
}

const statusOf = async ({ chat }: Scene) => (await chat(hello)).status

inBrowser(
  'a fault of a preset and one of a line hit the next requests, and one that waits can be removed',
  async () => {
    const platform = await platformWith()
    const { page, complaints } = await openStrip(platform)
    await item(page, 'Faults').click()
    await menu(page, 'Faults').getByRole('button', { name: 'Unavailable, 503' }).click()
    await page.getByRole('button', { name: 'Faults: faults 1' }).waitFor()
    expect([await statusOf(platform), await statusOf(platform)]).toEqual([503, 200])
    await page.getByRole('button', { name: 'Faults: no faults' }).waitFor()
    await menu(page, 'Faults').getByLabel('Fault').fill('status=418; message=A teapot.')
    await menu(page, 'Faults').getByLabel('Requests').fill('2')
    await menu(page, 'Faults').getByRole('button', { name: 'Add', exact: true }).click()
    await menu(page, 'Faults').getByText('2 requests').waitFor()
    await expectAccessible(page)
    expect(await statusOf(platform)).toBe(418)
    await menu(page, 'Faults')
      .getByRole('button', { name: /^Remove/ })
      .click()
    await page.getByRole('button', { name: 'Faults: no faults' }).waitFor()
    expect(await statusOf(platform)).toBe(200)
    await menu(page, 'Faults').getByLabel('Fault').fill('status=banana')
    await menu(page, 'Faults').getByRole('button', { name: 'Add', exact: true }).click()
    await menu(page, 'Faults')
      .getByText(/fault\.status must be/)
      .waitFor()
    expect(complaints).toEqual([])
  },
)

inBrowser('what a test changes is told with its maker, in all tabs, and can be undone in any', async () => {
  const platform = await platformWith()
  const { page } = await openStrip(platform)
  const other = await page.context().newPage()
  await other.goto(platform.dashboardUrl)
  platform.clock.advance(86_400_000)
  await item(page, 'Clock').filter({ hasText: '+1 day' }).click()
  await menu(page, 'Clock').getByText('Changed by a test').waitFor()
  await item(other, 'Clock').filter({ hasText: '+1 day' }).waitFor()
  await menu(page, 'Clock').getByRole('button', { name: 'Undo' }).click()
  await item(other, 'Clock').filter({ hasText: 'real time' }).waitFor()
  await item(other, 'Pace').click()
  await menu(other, 'Pace').getByRole('button', { name: 'slow' }).click()
  await item(page, 'Pace').filter({ hasText: 'slow' }).waitFor()
  await page.keyboard.press('Escape')
  await item(page, 'Pace').click()
  await menu(page, 'Pace').getByText('Changed on the dashboard').waitFor()
  await menu(page, 'Pace').getByRole('button', { name: 'Undo' }).click()
  await item(other, 'Pace').filter({ hasText: 'instant' }).waitFor()
})

inBrowser('the mode changes if it can; one that cannot says why', async () => {
  const platform = await platformWith()
  const { page } = await openStrip(platform)
  await item(page, 'Mode').click()
  await menu(page, 'Mode')
    .getByText(/upstream\.baseUrl/)
    .first()
    .waitFor()
  await menu(page, 'Mode').getByRole('button', { name: 'replay' }).click()
  await item(page, 'Mode').filter({ hasText: 'replay' }).waitFor()
  expect(await statusOf(platform)).toBe(424)
  await menu(page, 'Mode').getByRole('button', { name: 'Undo' }).click()
  await item(page, 'Mode').filter({ hasText: 'emulate' }).waitFor()
  await expectAccessible(page)
})

inBrowser('a reset takes everything back, temporary rules too', async () => {
  const platform = await platformWith()
  platform.clock.freeze()
  await platform.reply('For now.', { when: { user: 'hello' } })
  const { page } = await openStrip(platform)
  await item(page, 'Clock').filter({ hasText: 'stopped' }).waitFor()
  await item(page, 'Reset').filter({ hasText: '⚡1' }).click()
  await menu(page, 'Reset').getByRole('link', { name: '1 temporary rule' }).waitFor()
  await menu(page, 'Reset').getByRole('button', { name: 'Reset everything' }).click()
  await item(page, 'Clock').filter({ hasText: 'real time' }).waitFor()
  expect(await (await platform.chat(hello)).text()).not.toContain('For now.')
})
