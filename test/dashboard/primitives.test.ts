import { expect } from 'vitest'
import { hasFocus, inBrowser, useBrowser } from './browser.js'
import { openSignedIn } from './people.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

inBrowser('Escape, Cancel and going to another view close a dialog, and the focus returns', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  const create = page.getByRole('button', { name: 'Create key' })
  const dialog = page.getByRole('dialog', { name: 'Create an API key' })
  for (const close of [
    () => page.keyboard.press('Escape'),
    () => dialog.getByRole('button', { name: 'Cancel' }).click(),
  ]) {
    await create.click()
    await dialog.getByLabel('Name').fill('my laptop')
    await close()
    await dialog.waitFor({ state: 'detached' })
    expect(await hasFocus(page, create)).toBe(true)
  }
  await page.getByRole('link', { name: 'Connect' }).click()
  await page.getByRole('link', { name: 'API keys' }).first().click()
  await create.click()
  await page.goBack()
  await page.getByRole('heading', { name: 'Connect', exact: true }).waitFor()
  await dialog.waitFor({ state: 'detached' })
})
