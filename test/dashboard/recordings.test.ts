import { existsSync } from 'node:fs'
import path from 'node:path'
import { expect } from 'vitest'
import { folderWith } from '../command.js'
import { expectAccessible } from './axe.js'
import { clipboardOf, goWithin, hasFocus, inBrowser, tabTo, useBrowser } from './browser.js'
import { nameOfRecording, recordingOf, recordings } from './lists.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

inBrowser('recordings are paged and searched while the user types, and a reload keeps the search', async () => {
  const { dashboardUrl } = await platformWith({ recordings: { dir: recordings(45) } })
  const { page, complaints } = await openPage()
  await page.goto(`${dashboardUrl}/recordings`)
  await page.getByText('1 to 20 of 45').waitFor()
  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('21 to 40 of 45').waitFor()
  await page.getByLabel('Search recordings').pressSequentially('QUESTION 44')
  await page.getByText('1 recording', { exact: true }).waitFor()
  await page.getByRole('status').getByText('1 recording found.').waitFor({ state: 'attached' })
  expect(await hasFocus(page, page.getByLabel('Search recordings'))).toBe(true)
  expect(await page.getByRole('row').nth(1).innerText()).toContain('question 44')
  await page.reload()
  await page.getByText('1 recording', { exact: true }).waitFor()
  expect(await page.getByLabel('Search recordings').inputValue()).toBe('QUESTION 44')
  await page.getByLabel('Search recordings').fill('nothing like it')
  await page.getByText('No recordings match').waitFor()
  expect(complaints).toEqual([])
})

inBrowser('the file of a recording is read, copied and deleted by keyboard alone', async () => {
  const dir = folderWith({ [nameOfRecording(1)]: recordingOf('Where are my whales?') })
  const { dashboardUrl } = await platformWith({ recordings: { dir } })
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${dashboardUrl}/recordings`)
  await tabTo(page, page.getByRole('link', { name: 'Where are my whales?' }))
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Recording', exact: true }).waitFor()
  await tabTo(page, page.getByRole('button', { name: 'Copy the file' }))
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Copied the file' }).waitFor()
  expect(await clipboardOf(page)).toBe(recordingOf('Where are my whales?'))
  await page.reload()
  await tabTo(page, page.getByRole('button', { name: 'Delete' }))
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByText(nameOfRecording(1)).waitFor()
  await page.keyboard.press('Escape')
  // Found by role, it would count as detached as soon as it is hidden.
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(await hasFocus(page, page.getByRole('button', { name: 'Delete' }))).toBe(true)
  expect(existsSync(path.join(dir, nameOfRecording(1)))).toBe(true)
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Delete' }))
  await page.keyboard.press('Enter')
  await page.getByText(/^There are no recordings in/).waitFor()
  expect(existsSync(path.join(dir, nameOfRecording(1)))).toBe(false)
})

inBrowser('without recordings the page says how to create some', async () => {
  const { dashboardUrl } = await platformWith({ recordings: { dir: path.join(folderWith(), 'none') } })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/recordings`)
  await page.getByText('standin record --upstream URL').waitFor()
  expect(await page.getByLabel('Search recordings').count()).toBe(0)
})

inBrowser('hundreds of recordings can be searched', async () => {
  const { dashboardUrl } = await platformWith({ recordings: { dir: recordings(500) } })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/recordings`)
  await page.getByText('1 to 20 of 500').waitFor()
  await page.getByLabel('Search recordings').fill('question 499')
  await page.getByText('1 recording', { exact: true }).waitFor()
})

inBrowser('recordings are accessible on desktop and phone, in light and dark colours', async () => {
  const dir = folderWith({
    [nameOfRecording(1)]: recordingOf('Where_are_my_whales_and_all_the_penguins_that_went_with_them_to_the_sea?'),
    [nameOfRecording(2)]: 'request: [',
  })
  const { dashboardUrl } = await platformWith({ recordings: { dir } })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/recordings`)
  await page.getByText('Broken', { exact: true }).waitFor()
  await expectAccessible(page)
  await goWithin(page, `${dashboardUrl}/recordings?file=${encodeURIComponent(nameOfRecording(1))}`)
  await page.getByText('choices: []').waitFor()
  await expectAccessible(page)
  await goWithin(page, `${dashboardUrl}/recordings?file=gone`)
  await page.getByText('There is no recording "gone".').waitFor()
  await expectAccessible(page)
})
