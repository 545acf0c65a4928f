import { expect } from 'vitest'
import { goWithin, inBrowser, useBrowser } from './browser.js'
import { ada, openSignedIn } from './people.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

inBrowser('a dialog with unsaved input asks before it closes', async () => {
  const { dashboardUrl } = await platformWith({ users: [ada] })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/keys`)
  await page.getByLabel('Email').fill(ada.email)
  await page.getByLabel('Password').fill(ada.password)
  await page.getByRole('main').getByRole('button', { name: 'Sign in', exact: true }).click()
  const create = page.getByRole('button', { name: 'Create key' })
  await create.click()
  const dialog = page.getByRole('dialog', { name: 'Create an API key' })
  // Nothing was typed, so nothing is lost.
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'hidden' })

  await create.click()
  await dialog.waitFor()
  await page.keyboard.type('my laptop')
  await page.keyboard.press('Escape')
  const question = page.getByRole('dialog', { name: 'Discard your changes?' })
  await question.waitFor()
  await page.keyboard.press('Escape')
  await question.waitFor({ state: 'hidden' })
  expect(await dialog.getByLabel('Name').inputValue()).toBe('my laptop')
  // Several times, because browsers let a page prevent only the first of several.
  for (let times = 0; times < 3; times++) {
    await page.keyboard.press('Escape')
    await question.waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'hidden' })
  }
  await page.keyboard.press('Escape')
  await question.getByRole('button', { name: 'Discard' }).click()
  await dialog.waitFor({ state: 'hidden' })
  expect(await page.evaluate('document.activeElement.textContent.trim()')).toBe('Create key')
})

inBrowser('a dialog with a changed choice asks as well, also when the user goes to another view', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await openSignedIn(page, platform)
  await page.getByRole('button', { name: 'Create key' }).click()
  const dialog = page.getByRole('dialog', { name: 'Create an API key' })
  await dialog.getByLabel('Expires').selectOption('In 7 days')
  await page.keyboard.press('Escape')
  const question = page.getByRole('dialog', { name: 'Discard your changes?' })
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await goWithin(page, '/dashboard')
  await page.getByRole('heading', { name: 'Connect', exact: true, includeHidden: true }).waitFor()
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await dialog.getByLabel('Name').fill('my laptop')
  await dialog.getByRole('button', { name: 'Create key' }).click()
  await page.getByRole('dialog', { name: 'Your key “my laptop”' }).waitFor()
})
