import type { Page } from 'playwright-core'
import { expect } from 'vitest'
import { expectAccessible } from './axe.js'
import { clipboardOf, hasFocus, inBrowser, useBrowser } from './browser.js'
import { say } from './lists.js'
import { platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

/** A platform with one request. */
async function platformWithRequest(more = {}) {
  const platform = await platformWith({
    rules: [{ name: 'first', when: { user: 'penguin' }, reply: { text: 'A penguin.' }, priority: -1 }],
    ...more,
  })
  await say(platform, 'What is a penguin?')
  return platform
}

const exchangeOn = (page: Page, { dashboardUrl }: Scene) => page.goto(`${dashboardUrl}/requests?id=1`)

const rulesOf = async ({ ask }: Scene) =>
  ((await (await ask('/__standin/replies', { bearer: null })).json()) as { data: readonly unknown[] }).data

inBrowser('a rule made of a request can be copied, or added in memory, which can be undone', async () => {
  const platform = await platformWithRequest()
  const { page, complaints } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await exchangeOn(page, platform)
  const create = page.getByRole('button', { name: 'Create rule from request 1' })
  await create.click()
  await page.getByRole('button', { name: 'Copy The rule' }).click()
  await page.getByRole('button', { name: 'Copied The rule' }).waitFor()
  expect(await clipboardOf(page)).toContain(
    '    user:\n      exact: What is a penguin?\n  reply:\n    text: A penguin.\n',
  )
  // Nothing was installed.
  expect(await rulesOf(platform)).toHaveLength(1)

  await page.getByRole('button', { name: 'Add in memory' }).click()
  await page.getByText('It answers before all other rules').waitFor()
  expect(await hasFocus(page, page.getByRole('button', { name: 'Done' }))).toBe(true)
  expect(await rulesOf(platform)).toMatchObject([{ title: 'rule "what-is-a-penguin"' }, { title: 'rule "first"' }])
  expect(await say(platform, 'What is a penguin?')).toContain('A penguin.')
  await page.getByRole('button', { name: 'Undo' }).click()
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(await rulesOf(platform)).toHaveLength(1)
  expect(complaints).toEqual([])
})

inBrowser('creating rules is accessible on desktop and phone, in light and dark colours', async () => {
  const platform = await platformWithRequest({ pace: { firstTokenMs: 10, tokensPerSecond: 100 } })
  const { page } = await openPage()
  await exchangeOn(page, platform)
  await page.getByRole('button', { name: 'Create rule from request 1' }).click()
  await page.getByRole('button', { name: 'Add in memory' }).waitFor()
  await expectAccessible(page)
})
