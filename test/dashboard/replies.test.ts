import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, test } from 'vitest'
import { placeOf } from '../../src/page/editor/rule-completion.js'
import { saysInShort, whenInShort } from '../../src/page/replies/in-short.js'
import { folderWith } from '../command.js'
import { lacks } from '../sentences.js'
import { expectAccessible } from './axe.js'
import { clipboardOf, hasFocus, inBrowser, tabTo, useBrowser } from './browser.js'
import { ruleOn, ruleTextOn, say, writeRule } from './lists.js'
import { platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

const cells = (text: string) => text.split(/[\t\n]+/)

inBrowser('rules are listed in order, with what they say and how often they answered', async () => {
  const platform = await platformWith({
    rules: [
      {
        name: 'weather',
        when: { user: '/rain in (\\w+)/i', model: 'gpt-*' },
        reply: { text: 'It rains in {{match[1]}}.' },
      },
      { name: 'once', when: { user: { exact: 'now' } }, reply: { fault: { status: 429 } }, times: 1 },
    ],
  })
  await say(platform, 'Is there rain in Oslo?')
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${platform.dashboardUrl}/replies`)
  const table = page.getByRole('table', { name: 'Rules, in the order in which they are tried' })
  await table.getByRole('row').nth(2).waitFor()
  expect((await table.getByRole('row').allInnerTexts()).map(text => cells(text).slice(0, 5))).toEqual([
    ['Rule', 'When', 'Says', 'Answered', 'Actions'],
    ['weather', 'rules[0]', 'user /rain in (\\w+)/i, model "gpt-*"', 'It rains in {{match[1]}}.', 'once'],
    ['once', 'rules[1]', 'user is "now"', 'fails: status 429', 'never'],
  ])
  await page.getByRole('button', { name: 'Show weather' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Copy The rule' }).click()
  await page.getByRole('button', { name: 'Copied The rule' }).waitFor()
  expect(await clipboardOf(page)).toContain('- name: weather\n  when:\n    user: /rain in (\\w+)/i\n')
})

const shop = `# Greets.
- name: greeting # in the log
  when: { user: hello }
  reply: { text: "Welcome!" }

- name: bye
  when: { user: hello }
  reply: { text: Bye }
`

/** A platform with rules in a file, and the page that lists them. */
async function shopRules(look = {}) {
  const folder = folderWith({ 'shop.yaml': shop })
  const platform = await platformWith({ replies: [`${folder}/*.yaml`] })
  const { page, complaints } = await openPage(look)
  await page.goto(`${platform.dashboardUrl}/replies`)
  await page.getByText('2 rules').waitFor()
  const file = path.join(folder, 'shop.yaml')
  return { platform, page, complaints, file, text: () => readFileSync(file, 'utf8') }
}

inBrowser('a rule in a file is edited, moved and switched off by keyboard alone, and its comments stay', async () => {
  const { platform, page, complaints, text } = await shopRules()
  await tabTo(page, page.getByRole('button', { name: 'Edit greeting' }))
  await page.keyboard.press('Enter')
  await ruleOn(page).waitFor()
  expect(await ruleTextOn(page)).toBe(shop.slice(0, shop.indexOf('\n- name: bye')))
  await writeRule(page, '# Greets.\n- name: greeting # in the log\n  when: { user: hello }\n  reply: { text: Hi! }\n')
  await tabTo(page, page.getByRole('button', { name: 'Save', exact: true }))
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  expect(text()).toBe(shop.replace('"Welcome!"', 'Hi!'))
  expect(await hasFocus(page, page.getByRole('button', { name: 'Edit greeting' }))).toBe(true)
  await page.getByRole('cell', { name: 'Hi!' }).waitFor()

  const down = page.getByRole('button', { name: 'Move greeting down' })
  await tabTo(page, down)
  await page.keyboard.press('Enter')
  await page
    .getByRole('row')
    .nth(2)
    .and(page.getByRole('row', { name: /^greeting/ }))
    .waitFor()
  expect(text()).toMatch(/^- name: bye\n[^#]*\n# Greets\.\n- name: greeting # in the log\n/)
  await page.locator(':focus').and(down).waitFor()

  const off = page.getByRole('button', { name: 'Switch off bye' })
  await tabTo(page, page.getByRole('button', { name: 'Edit bye' }))
  await page.keyboard.press('Shift+Tab')
  expect(await hasFocus(page, off)).toBe(true)
  await page.keyboard.press('Enter')
  const on = page.getByRole('button', { name: 'Switch on bye' })
  await on.waitFor()
  expect(await hasFocus(page, on)).toBe(true)
  expect(await say(platform, 'hello')).toContain('Hi!')
  expect(complaints).toEqual([])
})

inBrowser('a rule that is moved to another page keeps the focus', async () => {
  const ruleNo = (n: number) => `- name: rule-${n}\n  reply: { text: No. ${n} }\n`
  const folder = folderWith({ 'many.yaml': Array.from({ length: 22 }, (_, i) => ruleNo(i + 1)).join('') })
  const platform = await platformWith({ replies: [`${folder}/*.yaml`] })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/replies`)
  for (const { way, rows } of [
    { way: 'down', rows: '21 to 22 of 22' },
    { way: 'up', rows: '1 to 20 of 22' },
  ]) {
    const button = page.getByRole('button', { name: `Move rule-20 ${way}` })
    await button.click()
    await page.getByText(rows).waitFor()
    await page.locator(':focus').and(button).waitFor()
  }
})

inBrowser('a request links to the rule that answered it: its file, its line and its text', async () => {
  const { platform, page } = await shopRules()
  await say(platform, 'hello')
  const followLink = async () => {
    await page.goto(`${platform.dashboardUrl}/requests?id=1`)
    await page.getByRole('link', { name: 'rule "greeting"', exact: true }).click()
  }
  const dialog = page.getByRole('dialog', { name: 'greeting' })
  await followLink()
  await dialog.getByText(/shop\.yaml:2$/).waitFor()
  await ruleOn(page).waitFor()
  expect(await hasFocus(page, ruleOn(page))).toBe(true)
  expect(await ruleTextOn(page)).toContain('- name: greeting # in the log')

  // Now another rule is in its place.
  await changeGreeting(platform, { move: 'down' })
  await followLink()
  await dialog.getByText(/shop\.yaml:\d$/).waitFor()
  await ruleOn(page).waitFor()
  expect(await ruleTextOn(page)).toContain('- name: greeting # in the log')

  await changeGreeting(platform, { yaml: '- name: welcome\n  reply: { text: Welcome! }\n' })
  await followLink()
  await page.getByText('The rule "greeting" is no longer there.').waitFor()
})

async function changeGreeting({ ask }: Scene, change: object): Promise<void> {
  const { data } = (await (await ask('/__standin/replies', { bearer: null })).json()) as {
    data: readonly { readonly id: string; readonly title: string }[]
  }
  const { id = '' } = data.find(({ title }) => title === 'rule "greeting"') ?? {}
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify(change)
  const { status } = await ask(`/__standin/replies/${encodeURIComponent(id)}`, {
    ...{ method: 'PUT', bearer: null, headers, body },
  })
  expect(status).toBe(200)
}

inBrowser('a new rule is saved to an existing file, and is tried before the others in it', async () => {
  const { platform, page, text } = await shopRules()
  const rule = '- name: polite\n  when: { user: hello }\n  reply: { text: Good morning. }\n'
  await page.getByRole('button', { name: 'New rule' }).click()
  await writeRule(page, rule)
  await page.getByLabel('In an existing file').check()
  expect(await page.getByLabel('File', { exact: true }).locator('option').allInnerTexts()).toEqual([
    expect.stringMatching(/shop\.yaml$/),
  ])
  await page.getByRole('button', { name: 'Save to file' }).click()
  await page.getByText(/^Saved to .*shop\.yaml\.$/).waitFor()
  expect(text()).toBe(`${rule}\n${shop}`)
  expect(await say(platform, 'hello')).toContain('Good morning.')
})

inBrowser('the focus moves to the heading when a copy or a deletion is cancelled', async () => {
  const { page } = await shopRules()
  const dialog = page.getByRole('dialog')
  for (const name of ['Duplicate', 'Delete']) {
    const heading = dialog.getByRole('heading', { name: name === 'Delete' ? /^Delete/ : /^Copy of/ })
    await page.getByRole('button', { name: 'Edit greeting' }).click()
    await dialog.getByRole('button', { name }).click()
    await heading.waitFor()
    await page.keyboard.press('Escape')
    await page.locator('h1:focus').getByText('Replies').waitFor()
  }
})

inBrowser('the edits in a dialog are not discarded by another dialog or by going back', async () => {
  const { page } = await shopRules()
  const question = page.getByRole('dialog', { name: 'Discard your changes?' })
  const editor = page.getByRole('dialog', { name: 'greeting' })
  for (const view of [/^Recordings/, /^Replies/]) await page.getByRole('link', { name: view }).click()
  await page.getByRole('button', { name: 'Edit greeting' }).click()
  await writeRule(page, '- reply: { text: Written. }\n')
  for (const leave of [
    () => page.getByRole('button', { name: 'Duplicate' }).click(),
    () => page.getByRole('button', { name: 'Delete' }).click(),
    () => page.goBack(),
  ]) {
    await leave()
    await question.getByRole('button', { name: 'Keep editing' }).click()
    await question.waitFor({ state: 'hidden' })
    expect(await editor.getByText('Written.').count()).toBe(1)
  }
  await page.goForward()
  await question.getByRole('button', { name: 'Keep editing' }).click()
  await page.getByRole('button', { name: 'Duplicate' }).click()
  await question.getByRole('button', { name: 'Discard' }).click()
  await page.getByRole('heading', { name: 'Copy of greeting' }).waitFor()
})

inBrowser('a rule is duplicated and deleted from its dialog', async () => {
  const { page, text } = await shopRules()
  await page.getByRole('button', { name: 'Edit greeting' }).click()
  await page.getByRole('button', { name: 'Duplicate' }).click()
  await page.getByRole('heading', { name: 'Copy of greeting' }).waitFor()
  await writeRule(page, '- name: polite\n  when: { user: hello please }\n  reply: { text: Certainly. }\n')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('3 rules').waitFor()
  expect(text()).toBe(`- name: polite\n  when: { user: hello please }\n  reply: { text: Certainly. }\n\n${shop}`)
  await page.getByRole('button', { name: 'Edit greeting' }).click()
  await page.getByRole('button', { name: 'Delete' }).click()
  await page.getByText(/It is removed from .*shop\.yaml, with the comments above it\./).waitFor()
  await page.getByRole('button', { name: 'Delete rule' }).click()
  await page.getByText('2 rules').waitFor()
  expect(text()).not.toContain('Greets.')
})

inBrowser('a file that changed in the meantime is not overwritten, and the edit stays in the dialog', async () => {
  const { page, file, text } = await shopRules()
  await page.getByRole('button', { name: 'Edit greeting' }).click()
  await ruleOn(page).waitFor()
  writeFileSync(file, `${shop}# mine\n`)
  await writeRule(page, '- reply: { text: theirs }\n')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByText('was changed in the meantime, so nothing was written').waitFor()
  expect([text(), await ruleTextOn(page)]).toEqual([`${shop}# mine\n`, '- reply: { text: theirs }\n'])
})

inBrowser('a prompt is tried against all rules, which shows the reply and why each rule matches or not', async () => {
  const { platform, page } = await shopRules()
  await page.getByRole('textbox', { name: 'Prompt' }).fill('hello there')
  await page.keyboard.press('Enter')
  await page.getByText('Rule "greeting" answers.').waitFor()
  await page.getByRole('region', { name: 'The reply' }).getByText('Welcome!').waitFor()
  await page.getByText('Other rules').click()
  await page.getByText('matches too, but another rule answers first').waitFor()
  await page.getByRole('textbox', { name: 'Prompt' }).fill('good night')
  await page.keyboard.press('Enter')
  await page.getByText('No rule answers. Instead: canned reply.').waitFor()
  await page.getByText(lacks('user', 'hello')).first().waitFor()
  const { data } = (await (await platform.ask('/__standin/replies', { bearer: null })).json()) as {
    data: readonly { answered: number }[]
  }
  expect(data.map(({ answered }) => answered)).toEqual([0, 0])
})

inBrowser('keys and values are completed as they are typed', async () => {
  const { page } = await shopRules()
  await page.getByRole('button', { name: 'New rule' }).click()
  await ruleOn(page).waitFor()
  await page.keyboard.press('Control+End')
  await page.keyboard.type('  tim')
  await page.getByRole('option', { name: 'times' }).waitFor()
  // Escape closes the list, not the dialog.
  await page.keyboard.press('Escape')
  await page.getByRole('option', { name: 'times' }).waitFor({ state: 'detached' })
  expect(await page.getByRole('button', { name: 'Discard' }).count()).toBe(0)
})

inBrowser('rules are accessible on desktop and phone, in light and dark colours', async () => {
  const { page } = await shopRules()
  await page.getByRole('textbox', { name: 'Prompt' }).fill('hello')
  await page.keyboard.press('Enter')
  await page.getByText('Other rules').click()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'New rule' }).click()
  await ruleOn(page).waitFor()
  await expectAccessible(page)
})

test.each([
  ['- na', ['-'], false],
  ['- name: x\n  wh', ['-'], false],
  ['- when:\n    us', ['-', 'when'], false],
  ['- when: { us', ['-', 'when'], false],
  ['- when: { toolResult: { tool: x }, st', ['-', 'when'], false],
  ['- name: a\n  reply:\n    toolCalls:\n      - na', ['-', 'reply', 'toolCalls', '-'], false],
  ['- reply: {}\n  then: re', ['-', 'then'], true],
  ['- when: { stream: tr', ['-', 'when', 'stream'], true],
])('at the end of %j the editor completes within %j', (text, path, isValue) => {
  expect(placeOf(text.replace(/\w*$/, ''))).toEqual({ path, isValue })
})

inBrowser('a thousand rules can be searched', async () => {
  const rules = Array.from({ length: 1000 }, (_, i) => ({ name: `rule-${i}`, reply: { text: `Whale number ${i}.` } }))
  const platform = await platformWith({ rules })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/replies`)
  await page.getByText('1 to 20 of 1,000').waitFor()
  await page.getByLabel('Search rules').fill('number 999.')
  await page.getByText('1 rule', { exact: true }).waitFor()
  await page.getByLabel('Search rules').fill('nothing like it')
  await page.getByText('No rules match').waitFor()
})

inBrowser('without rules the page says where to create one', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/replies`)
  await page.getByText('There are no rules').waitFor()
})

describe('summaries', () => {
  test.each([
    [{}, 'always'],
    [{ when: { user: 'hi', stream: true, turn: { min: 2, max: 3 } } }, 'user "hi", stream yes, turn from 2, to 3'],
    [{ when: { user: ['a', { contains: '/b/' }] } }, 'user "a" or /b/'],
    [{ when: { toolResult: { tool: 'find' }, not: { system: 'x' } } }, 'after find, not system "x"'],
    [{ when: { toolResult: false } }, 'not after a tool result'],
  ])('the condition of %j reads: %s', (rule, words) => expect(whenInShort(rule)).toBe(words))

  test.each([
    [{ reply: { text: '' } }, '(no text)'],
    [{ reply: { text: 'a\n  b' } }, 'a b'],
    [{ reply: { text: 'x'.repeat(500) } }, `${'x'.repeat(120)}…`],
    [{ reply: { toolCalls: [{ name: 'find' }, { name: 'get' }] } }, 'calls find, calls get'],
    [{ reply: { file: 'long.md' } }, 'the text of long.md'],
    [{ reply: { json: { a: 1 } } }, '{"a":1}'],
    [{ replies: [{ text: 'one' }, { refusal: 'no' }] }, '2 in turn: one · refuses: no'],
    [{ reply: { choices: [{ text: 'a' }, { text: 'b' }] } }, 'a, b'],
  ])('the reply of %j reads: %s', (rule, words) => expect(saysInShort(rule)).toBe(words))
})
