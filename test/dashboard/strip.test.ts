/** The strip: what decides the next answer, always in view, with a way back. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { startReady, writeInto } from '../command.js'
import { expectAccessible } from './axe.js'
import { inBrowser, useBrowser } from './browser.js'
import { hello, platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

const mode = (page: Page) => page.getByRole('button', { name: /^Mode: / })
const strip = (page: Page) => page.getByRole('region', { name: 'What decides the next answer' })
const undo = (page: Page, what: string) => strip(page).getByRole('button', { name: `Undo ${what}` })

async function openStrip(platform: Scene) {
  const { page, complaints } = await openPage()
  await page.goto(platform.dashboardUrl)
  await mode(page).waitFor()
  return { page, complaints }
}

/** Opens what the strip can change. */
async function change(page: Page) {
  await page.getByRole('button', { name: 'Change what decides' }).click()
  return page.getByRole('region', { name: 'Change what decides' })
}

const statusOf = async ({ chat }: Scene) => (await chat(hello)).status

inBrowser('a fault for the next requests stands in the strip until it has hit them, or is taken back', async () => {
  const platform = await platformWith()
  const { page, complaints } = await openStrip(platform)
  const menu = await change(page)
  await menu.getByRole('button', { name: 'Unavailable, 503' }).click()
  await undo(page, 'the next request: status=503').waitFor()
  expect([await statusOf(platform), await statusOf(platform)]).toEqual([503, 200])
  await undo(page, 'the next request: status=503').waitFor({ state: 'detached' })
  await menu.getByLabel('Fault').fill('status=418; message=A teapot.')
  await menu.getByLabel('Requests').fill('2')
  await menu.getByRole('button', { name: 'Add', exact: true }).click()
  await undo(page, 'the next 2 requests: status=418').waitFor()
  await expectAccessible(page)
  expect(await statusOf(platform)).toBe(418)
  await menu.getByLabel('Fault').fill('status=banana')
  await menu.getByRole('button', { name: 'Add', exact: true }).click()
  await menu.getByText(/fault\.status must be/).waitFor()
  await page.keyboard.press('Escape')
  await undo(page, 'the next request: status=418').click()
  await undo(page, 'the next request: status=418').waitFor({ state: 'detached' })
  expect(await statusOf(platform)).toBe(200)
  expect(complaints).toEqual([])
})

inBrowser('what a test changes is told with its maker, in all tabs, and is undone in any', async () => {
  const platform = await platformWith()
  const { page } = await openStrip(platform)
  const other = await page.context().newPage()
  await other.goto(platform.dashboardUrl)
  await platform.clock.advance(86_400_000)
  await strip(page).getByText('(a test)').waitFor()
  await undo(page, 'clock +1 day').click()
  await undo(other, 'clock +1 day').waitFor({ state: 'detached' })
  await (await change(other)).getByRole('button', { name: 'slow' }).click()
  await undo(page, 'first token after 3000 ms, 5 a second').click()
  await undo(other, 'first token after 3000 ms, 5 a second').waitFor({ state: 'detached' })
})

inBrowser('the mode changes if it can, and is undone to what is configured; one that cannot says why', async () => {
  const platform = await platformWith()
  const { page } = await openStrip(platform)
  await mode(page).click()
  const menu = page.getByRole('region', { name: /^Mode: / })
  await menu
    .getByText(/upstream\.baseUrl/)
    .first()
    .waitFor()
  await menu.getByRole('button', { name: 'replay' }).click()
  await mode(page).filter({ hasText: 'replay' }).waitFor()
  expect(await statusOf(platform)).toBe(424)
  await expectAccessible(page)
  await menu.getByRole('button', { name: 'Undo' }).click()
  await mode(page).filter({ hasText: 'emulate' }).waitFor()
})

inBrowser('“Reset everything” asks, and takes everything back, temporary rules too', async () => {
  const platform = await platformWith()
  await platform.clock.freeze()
  await platform.reply('For now.', { when: { user: 'hello' } })
  const { page } = await openStrip(platform)
  await undo(page, '1 temporary rule').waitFor()
  await (await change(page)).getByRole('button', { name: 'Reset everything' }).click()
  expect(await (await platform.chat(hello)).text()).toContain('For now.')
  await page.getByRole('dialog').getByRole('button', { name: 'Reset everything' }).click()
  await undo(page, '1 temporary rule').waitFor({ state: 'detached' })
  expect(await (await platform.chat(hello)).text()).not.toContain('For now.')
})

inBrowser('a rule file that is not valid is one red line in every view, until it is corrected', async () => {
  const valid = '- when: { user: zebra }\n  reply: { text: z }\n'
  const files = { 'platform.config.yaml': 'replies: a.yaml\n', 'a.yaml': valid }
  const { dir, ready } = await startReady({ files })
  const { page } = await openPage()
  await page.goto(`${ready.url}/dashboard`)
  await mode(page).waitFor()
  writeInto(dir, { 'a.yaml': valid.replace('user', 'usr') })
  const line = page.getByRole('alert').filter({ hasText: 'a.yaml:1:11' })
  await line.getByText(/Did you mean "user"\?/).waitFor()
  await page.getByRole('link', { name: 'Answers' }).click()
  await line.waitFor()
  await expectAccessible(page)
  writeInto(dir, { 'a.yaml': valid })
  await line.waitFor({ state: 'detached' })
})
