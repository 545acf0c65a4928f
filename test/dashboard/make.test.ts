import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { folderWith } from '../command.js'
import { expectAccessible } from './axe.js'
import { hasFocus, inBrowser, tabTo, useBrowser } from './browser.js'
import { ruleOn, ruleTextOn, say, writeRule } from './lists.js'
import { platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

/** A platform with a folder for rules, and one request. */
async function platformWithRequest(more = {}) {
  const replies = folderWith({ 'none.yaml': '' })
  const platform = await platformWith({
    replies: [`${replies}/*.yaml`],
    rules: [{ name: 'first', when: { user: 'penguin' }, reply: { text: 'A penguin.' }, priority: -1 }],
    ...more,
  })
  await say(platform, 'What is a penguin?')
  return { platform, replies }
}

const exchangeOn = (page: Page, { dashboardUrl }: Scene) => page.goto(`${dashboardUrl}/requests?id=1`)

const rulesOf = async ({ ask }: Scene) =>
  ((await (await ask('/__standin/replies', { bearer: null })).json()) as { data: readonly unknown[] }).data

inBrowser('a rule is created from a request, corrected, tried and saved to a file by keyboard alone', async () => {
  const { platform, replies } = await platformWithRequest()
  const { page, complaints } = await openPage()
  await exchangeOn(page, platform)
  await tabTo(page, page.getByRole('button', { name: 'Create rule from request 1' }))
  await page.keyboard.press('Enter')
  const editor = ruleOn(page)
  await editor.waitFor()
  expect(await hasFocus(page, editor)).toBe(true)
  expect(await ruleTextOn(page)).toContain(
    '    user:\n      exact: What is a penguin?\n  reply:\n    text: A penguin.\n',
  )

  await page.keyboard.press('Control+End')
  await page.keyboard.insertText('  replies: []\n')
  const place = page.getByRole('button', { name: /^Line \d+, column \d+$/ }).first()
  const save = page.getByRole('button', { name: 'Save to file' })
  await tabTo(page, place)
  expect(await save.getAttribute('aria-disabled')).toBe('true')
  await page.keyboard.press('Enter')
  expect(await hasFocus(page, editor)).toBe(true)
  await writeRule(page, '- name: penguins\n  when: { user: penguin }\n  reply: { text: A bird in a suit. }\n')
  await place.waitFor({ state: 'detached' })

  await tabTo(page, page.getByRole('button', { name: 'Try this request' }))
  await page.keyboard.press('Enter')
  await page.getByText('Rule "penguins" answers.').waitFor()
  await page.getByRole('dialog').getByText('A bird in a suit.', { exact: true }).waitFor()
  // Nothing was installed.
  expect(await rulesOf(platform)).toHaveLength(1)
  expect(await say(platform, 'What is a penguin?')).toContain('A penguin.')

  await tabTo(page, page.getByLabel('File name'))
  await page.keyboard.press('Control+A')
  await page.keyboard.type('penguins')
  await page.keyboard.press('Enter')
  await page.getByText('penguins.yaml').waitFor()
  expect(readFileSync(path.join(replies, 'penguins.yaml'), 'utf8')).toContain('text: A bird in a suit.')
  expect(await hasFocus(page, page.getByRole('button', { name: 'Done' }))).toBe(true)
  await page.keyboard.press('Enter')
  expect(await say(platform, 'What is a penguin?')).toContain('A bird in a suit.')
  expect(complaints).toEqual([])
})

inBrowser('a rule can also be added in memory, and that can be undone at once', async () => {
  const { platform } = await platformWithRequest()
  const { page } = await openPage()
  await exchangeOn(page, platform)
  await page.getByRole('button', { name: 'Create rule from request 1' }).click()
  await ruleOn(page).waitFor()
  await page.getByLabel('In memory, until Standin stops').check()
  await page.getByRole('button', { name: 'Add rule' }).click()
  await page.getByText('It answers before all other rules').waitFor()
  expect(await rulesOf(platform)).toHaveLength(2)
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await rulesOf(platform)).toHaveLength(1)
})

inBrowser('Escape asks before it discards an edited rule', async () => {
  const { platform } = await platformWithRequest()
  const { page } = await openPage()
  await exchangeOn(page, platform)
  await page.getByRole('button', { name: 'Create rule from request 1' }).click()
  await ruleOn(page).waitFor()
  await writeRule(page, '- reply: { text: mine }\n')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Keep editing' }).click()
  expect(await ruleTextOn(page)).toContain('- reply: { text: mine }')
  await ruleOn(page).focus()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Discard' }).click()
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(await rulesOf(platform)).toHaveLength(1)
})

inBrowser('a file name that is taken or invalid is reported, and the edited rule stays', async () => {
  const { platform, replies } = await platformWithRequest()
  const { page } = await openPage()
  await exchangeOn(page, platform)
  await page.getByRole('button', { name: 'Create rule from request 1' }).click()
  await page.getByLabel('File name').fill('none')
  await page.getByRole('button', { name: 'Save to file' }).click()
  await page.getByText(/none\.yaml exists already\. Choose another name\./).waitFor()
  await page.getByLabel('File name').fill('../none')
  await page.getByRole('button', { name: 'Save to file' }).click()
  await page.getByText(/name must be a name of small letters/).waitFor()
  const name = page.getByLabel('File name')
  expect([await name.getAttribute('aria-invalid'), await hasFocus(page, name)]).toEqual(['true', true])
  expect(readdirSync(replies)).toEqual(['none.yaml'])
  expect(await ruleTextOn(page)).toContain('What is a penguin?')
})

inBrowser('an editor that loads slowly does not take the focus from the file name', async () => {
  const { platform } = await platformWithRequest()
  const { page } = await openPage()
  let load = () => {}
  const loading = new Promise<void>(resolve => {
    load = resolve
  })
  await page.route(/yaml-editor/, async route => {
    await loading
    await route.continue()
  })
  await exchangeOn(page, platform)
  await page.getByRole('button', { name: 'Create rule from request 1' }).click()
  const name = page.getByLabel('File name')
  await name.fill('pen')
  load()
  await ruleOn(page).waitFor()
  expect(await hasFocus(page, name)).toBe(true)
  await page.keyboard.type('guins')
  expect(await name.inputValue()).toBe('penguins')
})

inBrowser('creating rules is accessible on desktop and phone, in light and dark colours', async () => {
  const { platform } = await platformWithRequest({ pace: { firstTokenMs: 10, tokensPerSecond: 100 } })
  const { page } = await openPage()
  await exchangeOn(page, platform)
  await page.getByRole('button', { name: 'Create rule from request 1' }).click()
  await ruleOn(page).waitFor()
  await page.getByRole('button', { name: 'Try this request' }).click()
  await page.getByRole('dialog').getByText('answers.').waitFor()
  await page.getByText('Other rules').click()
  await expectAccessible(page)
  await writeRule(page, '- rply: {}')
  await page.getByRole('button', { name: /^Line/ }).first().waitFor()
  await expectAccessible(page)
})
