import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { offsetOf } from '../../src/page/text-places.js'
import { folderWith } from '../command.js'
import { platformWith } from '../scene.js'
import { expectFitForAll } from './axe.js'
import { hasFocus, inBrowser, looks, tabTo, useBrowser } from './browser.js'
import { say } from './lists.js'

const openPage = useBrowser()

/** A platform that keeps rules and recordings in folders, and has been asked something. */
async function asked(more = {}) {
  const replies = folderWith({ 'none.yaml': '' })
  const recordings = folderWith()
  const platform = await platformWith({
    replies: [`${replies}/*.yaml`],
    recordings: { dir: recordings },
    rules: [{ name: 'first', when: { user: 'penguin' }, reply: { text: 'A penguin.' }, priority: -1 }],
    ...more,
  })
  const heard = await say(platform, 'What is a penguin?')
  return { platform, replies, recordings, heard }
}

inBrowser('a rule is made of a request, edited, tried, taken back, and kept in a file, by keyboard alone', async () => {
  const { platform, replies } = await asked()
  const { page, complaints } = await openPage()
  await page.goto(`${platform.dashboardUrl}/replies`)
  await tabTo(page, page.getByRole('button', { name: 'Make a rule of request 1' }))
  await page.keyboard.press('Enter')
  const editor = page.getByRole('dialog').getByLabel('Rule', { exact: true })
  await tabTo(page, editor)
  expect(await editor.inputValue()).toContain('    user: What is a penguin?\n  reply:\n    text: A penguin.\n')
  await page.keyboard.press('Control+End')
  await page.keyboard.type('  replies: []\n')
  const place = page.getByRole('button', { name: /^Line \d+, column \d+$/ }).first()
  await tabTo(page, place)
  await page.keyboard.press('Enter')
  expect(await hasFocus(page, editor)).toBe(true)
  await editor.fill(
    (await editor.inputValue()).replace('  replies: []\n', '').replace('A penguin.', 'A bird in a suit.'),
  )
  await page.getByRole('button', { name: /^Line/ }).first().waitFor({ state: 'detached' })

  await tabTo(page, page.getByRole('button', { name: 'Try it now' }))
  await page.keyboard.press('Enter')
  await page.getByText('It answers before all other rules').waitFor()
  expect(await say(platform, 'What is a penguin?')).toContain('A bird in a suit.')
  await tabTo(page, page.getByRole('button', { name: 'Take it back' }))
  await page.keyboard.press('Enter')
  await page.getByText('It answers before all other rules').waitFor({ state: 'detached' })
  expect(await say(platform, 'What is a penguin?')).toContain('A penguin.')

  await tabTo(page, page.getByRole('button', { name: 'Try it now' }))
  await page.keyboard.press('Enter')
  await page.getByText('It answers before all other rules').waitFor()
  await tabTo(page, page.getByLabel('Name of the file'))
  await page.keyboard.press('Control+A')
  await page.keyboard.type('penguins')
  await page.keyboard.press('Enter')
  await page.getByText('penguins.yaml').waitFor()
  expect(readFileSync(path.join(replies, 'penguins.yaml'), 'utf8')).toContain('text: A bird in a suit.')
  expect(await hasFocus(page, page.getByRole('button', { name: 'Done' }))).toBe(true)
  await page.keyboard.press('Enter')
  // What was tried is gone: the file says it from now on.
  const { data } = (await (await platform.ask('/__standin/replies', { bearer: null })).json()) as {
    data: readonly unknown[]
  }
  expect(data).toHaveLength(1)
  expect(complaints).toEqual([])
})

inBrowser('a name that is taken is told, and what was written stays', async () => {
  const { platform, replies } = await asked()
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/replies`)
  await page.getByRole('button', { name: 'Make a rule of request 1' }).click()
  await page.getByLabel('Name of the file').fill('none')
  await page.getByRole('button', { name: 'Keep in a file' }).click()
  await page.getByText(/none\.yaml is there already\. Choose another name\./).waitFor()
  await page.getByLabel('Name of the file').fill('../none')
  await page.getByRole('button', { name: 'Keep in a file' }).click()
  await page.getByText(/name must be a name of small letters/).waitFor()
  expect(readdirSync(replies)).toEqual(['none.yaml'])
})

inBrowser('what somebody edits stays while other requests push theirs out of the list', async () => {
  const { platform } = await asked()
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/replies`)
  await page.getByRole('button', { name: 'Make a rule of request 1' }).click()
  const editor = page.getByRole('dialog').getByLabel('Rule', { exact: true })
  await editor.fill('- reply: { text: mine }\n')
  for (let i = 0; i < 21; i++) await say(platform, `Question ${i}`)
  // The list is behind the dialog, and not for those who hear the page.
  await page.locator('table').getByText('Question 20').waitFor()
  expect(await page.locator('table').getByText('What is a penguin?').count()).toBe(0)
  expect(await editor.inputValue()).toBe('- reply: { text: mine }\n')
})

inBrowser('a recording is made of a request, and replay plays it', async () => {
  const { platform, recordings, heard } = await asked()
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/replies`)
  const make = async (existing?: string) => {
    await page.getByRole('button', { name: 'Make a recording of request 1' }).click()
    if (existing) await page.getByLabel(existing).check()
    await page.getByRole('button', { name: 'Make recording' }).click()
  }
  await make()
  await page.getByText('It is kept as').waitFor()
  await page.getByRole('button', { name: 'Done' }).click()
  await make()
  await page
    .getByText(/^This request is recorded already, in chat-completions\/gpt-4o-mini-what-is-a-penguin-/)
    .waitFor()
  await page.keyboard.press('Escape')
  await make('Add this one, to be played after it')
  await page.getByText('It is kept as').waitFor()
  expect(readdirSync(path.join(recordings, 'chat-completions'))).toHaveLength(2)
  await page.getByRole('dialog').getByRole('link').click()
  await page.getByText('content: What is a penguin?').waitFor()
  platform.switchMode('replay')
  expect(await say(platform, 'What is a penguin?')).toBe(heard)
})

inBrowser('of what cannot be one the page says why', async () => {
  const platform = await platformWith({ strict: true })
  await say(platform, 'Nobody answers this.')
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/replies`)
  await page.getByRole('button', { name: 'Make a recording of request 1' }).click()
  await page.getByRole('button', { name: 'Make recording' }).click()
  await page.getByText("its answer is an error of Standin's own").waitFor()
})

inBrowser.each(looks)('making is for everybody on a %s in %s colours', async (_device, colorScheme, viewport) => {
  const { platform } = await asked({ pace: { firstTokenMs: 10, tokensPerSecond: 100 } })
  await say(platform, `A_penguin_${'and_another_'.repeat(20)} penguin`, { stream: true })
  const { page } = await openPage({ viewport, colorScheme })
  await page.goto(`${platform.dashboardUrl}/replies`)
  await page.getByRole('button', { name: 'Make a rule of request 2' }).waitFor()
  await expectFitForAll(page)
  await page.getByRole('button', { name: 'Make a rule of request 2' }).click()
  const editor = page.getByRole('dialog').getByLabel('Rule', { exact: true })
  await editor.waitFor()
  await expectFitForAll(page)
  await page.getByRole('button', { name: 'Try it now' }).click()
  await page.getByText('It answers before all other rules').waitFor()
  await editor.fill('- rply: {}')
  await page.getByRole('button', { name: /^Line/ }).first().waitFor()
  await expectFitForAll(page)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: /^Show/ }).first().click()
  await expectFitForAll(page)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Make a recording of request 1' }).click()
  await page.getByRole('button', { name: 'Make recording' }).click()
  await page.getByText('It is kept as').waitFor()
  await expectFitForAll(page)
})

test('a place in a text is a line and a column, or the nearest there is', () => {
  const text = 'one\ntwo\n'
  expect([offsetOf(text, 1, 1), offsetOf(text, 2, 2), offsetOf(text, 2, 99), offsetOf(text, 99, 1)]).toEqual([
    0, 5, 7, 8,
  ])
})
