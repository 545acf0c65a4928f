import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { inShort } from '../../src/dashboard/page/answers/in-short.js'
import { recordingAt, ruleAt } from '../../src/dashboard/routes.js'
import { folderWith, startReady, writeInto } from '../command.js'
import type { Scene } from '../scene.js'
import { lacks } from '../sentences.js'
import { expectAccessible } from './axe.js'
import { clipboardOf, hasFocus, inBrowser, tabTo, useBrowser } from './browser.js'
import { nameOfRecording, recordingOf, say } from './lists.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

const cells = (text: string) => text.split(/[\t\n]+/)
const rowOf = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text })

const shop = `# Greets.
- name: greeting # in the log
  when: { user: hello }
  reply: { text: "Welcome!" }

- name: orders
  when: { user: '/\\border\\b/i', tools: [find_order], toolResult: false }
  reply: { toolCalls: [{ name: find_order }] }

- name: bye
  when: { user: hello }
  reply: { text: Bye }
`

/** A platform with rules in a file, and the page that lists them. */
async function shopRules() {
  const dir = folderWith({ 'shop.yaml': shop })
  const platform = await platformWith({ replies: [`${dir}/*.yaml`] })
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await page.goto(`${platform.dashboardUrl}/answers`)
  await page.getByText('3 rules').waitFor()
  return { platform, page, dir }
}

inBrowser(
  'rules are listed in their order, one line each, with their hits and a link to their line in the editor',
  async () => {
    const { platform, page, dir } = await shopRules()
    await say(platform, 'hello')
    await page.reload()
    const table = page.getByRole('table', { name: 'Rules, in the order in which they are tried' })
    await rowOf(page, 'greeting').getByText('1×').waitFor()
    const rows = (await table.getByRole('row').allInnerTexts()).map(text => cells(text))
    expect(rows.map(([name = '', when, says, hits]) => [name.split(' ')[0], when, says, hits]).slice(1)).toEqual([
      ['greeting', 'user "hello"', 'Welcome!', '1×'],
      ['orders', 'user /\\border\\b/i, tools "find_order", toolResult no', 'toolCalls "find_order"', 'none'],
      ['bye', 'user "hello"', 'Bye', 'none'],
    ])
    const link = await rowOf(page, 'orders').getByRole('link').getAttribute('href')
    expect(path.normalize((link ?? '').replace('vscode://file', ''))).toBe(`${dir}/shop.yaml:6`)
    await expectAccessible(page)
  },
)

inBrowser('a wrong reply: the page says which rule answers a prompt, and why each other rule does not', async () => {
  const { platform, page } = await shopRules()
  await page.getByLabel('Try a prompt').fill('hello there')
  await page.keyboard.press('Enter')
  await page.getByText('Rule "greeting" answers.').waitFor()
  await page.getByRole('region', { name: 'The reply' }).getByText('Welcome!').waitFor()
  await rowOf(page, 'greeting').getByText('Answers').waitFor()
  await rowOf(page, 'bye').getByText('matches too, but another rule answers first').waitFor()
  await expectAccessible(page)

  await page.getByLabel('Try a prompt').fill('Where is my order?')
  await page.keyboard.press('Enter')
  await page.getByText('No rule answers. Instead: canned reply.').waitFor()
  await rowOf(page, 'greeting').getByText(lacks('user', 'hello')).waitFor()
  await rowOf(page, 'orders').getByText('find_order').last().waitFor()
  await page.getByLabel('With tools').fill('find_order')
  await page.keyboard.press('Enter')
  await page.getByText('Rule "orders" answers.').waitFor()
  // Nothing was sent or counted.
  expect(await hitsOf(platform)).toEqual([0, 0, 0])
})

inBrowser('after a save the page says how many of the last requests are answered differently, and how', async () => {
  const files = { 'platform.config.yaml': 'replies: shop.yaml\n', 'shop.yaml': shop }
  const { dir, ready, chat } = await startReady({ files })
  for (const content of ['hello', 'something else'])
    await (await chat({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] })).text()
  const { page } = await openPage()
  await page.goto(`${ready.url}/dashboard`)
  await page.getByRole('link', { name: 'something else' }).waitFor()
  writeInto(dir, { 'shop.yaml': shop.replace('Welcome!', 'Good morning.') })
  await page.getByText('Since your last save of shop.yaml: 2 requests, 1 answered differently').click()
  const changed = page.getByRole('listitem').filter({ hasText: 'Welcome!' })
  await changed.getByText('Good morning.').waitFor()
  await expectAccessible(page)
  await changed.getByRole('link', { name: 'hello' }).click()
  await page.getByRole('complementary').getByText('Welcome!', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Answers' }).click()
  writeInto(dir, { 'platform.config.yaml': 'replies: shop.yaml\nseed: 7\n' })
  await page.getByText('Since your last save of platform.config.yaml: 2 requests').waitFor()
})

async function hitsOf(platform: Scene): Promise<readonly number[]> {
  const listed = await platform.ask('/__standin/replies', { bearer: null })
  const { data } = (await listed.json()) as { readonly data: readonly { readonly answered: number }[] }
  return data.map(({ answered }) => answered)
}

inBrowser('a request to a path is tried as well', async () => {
  const { dashboardUrl } = await platformWith({ rules: [{ on: 'GET /builder/projects', reply: { json: [1, 2] } }] })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/answers`)
  await page.getByLabel('Try a prompt').fill('GET /builder/projects')
  await page.keyboard.press('Enter')
  await page.getByRole('region', { name: 'The reply' }).getByText('[1,2]').waitFor()
})

inBrowser(
  'a temporary rule is marked, copied as YAML for a file, and removed; others stay in their files',
  async () => {
    const { platform, page } = await shopRules()
    await platform.reply({ name: 'for now', when: { user: 'hello' }, reply: { text: 'Good morning.' } })
    await page.reload()
    await rowOf(page, 'for now').getByText('Temporary').waitFor()
    await page.getByRole('button', { name: 'Copy YAML of for now' }).click()
    await page.getByRole('button', { name: 'Copy YAML of for now, copied' }).waitFor()
    expect(await clipboardOf(page)).toContain('- name: for now\n  when:\n    user: hello\n')
    expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(1)
    await page.getByRole('button', { name: 'Remove for now' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove rule' }).click()
    await page.getByText('3 rules').waitFor()
    expect(await say(platform, 'hello')).toContain('Welcome!')
  },
)

inBrowser('a link to a rule finds it, also when it has moved since, and says when it is gone', async () => {
  const { platform, page } = await shopRules()
  await page.goto(platform.url + ruleAt({ title: 'rule "greeting"', place: 'shop.yaml:99' }))
  await page.getByText('1 rule', { exact: true }).waitFor()
  await rowOf(page, 'greeting').waitFor()
  await page.goto(platform.url + ruleAt({ title: 'rule "welcome"', place: 'shop.yaml:2' }))
  await page.getByText('The rule "welcome" is no longer there. It answered from shop.yaml:2.').waitFor()
})

inBrowser('a thousand rules can be searched, and without any the page says what to do', async () => {
  const rules = Array.from({ length: 1000 }, (_, i) => ({ name: `rule-${i}`, reply: { text: `Whale number ${i}.` } }))
  const platform = await platformWith({ rules })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/answers`)
  await page.getByText('… 800 more: search.').waitFor()
  await page.getByLabel('Search rules').fill('number 999.')
  await page.getByText('1 rule', { exact: true }).waitFor()
  await page.getByLabel('Search rules').fill('nothing like it')
  await page.getByText('No rules match').waitFor()
  await page.goto(`${(await platformWith()).dashboardUrl}/answers`)
  await page.getByText('There are no rules').waitFor()
})

const json = { 'content-type': 'application/json' }

inBrowser('a recording that was made in this run is new, not used, until it answers', async () => {
  const live = await platformWith({ rules: [{ reply: { text: 'From the live one.' } }] })
  const dir = folderWith({ [nameOfRecording(1)]: recordingOf('Where are my whales?') })
  const upstream = { baseUrl: live.url, apiKey: live.apiKey }
  const platform = await platformWith({ mode: 'record', recordings: { dir }, upstream })
  await say(platform, 'Where is my order?')
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/answers?tab=recordings`)
  await rowOf(page, 'Where is my order?').getByText('New in this run').waitFor()
  expect(await page.getByText('Used in this run').count()).toBe(0)
  await platform.ask('/__standin/mode', { method: 'PUT', bearer: null, body: '{"mode":"replay"}', headers: json })
  await say(platform, 'Where is my order?')
  await page.reload()
  await rowOf(page, 'Where is my order?').getByText('Used in this run').waitFor()
  expect(await rowOf(page, 'Where are my whales?').innerText()).not.toContain('in this run')
  await expectAccessible(page)
})

inBrowser('a recording is read, opened in the editor, and deleted by keyboard alone', async () => {
  const file = nameOfRecording(1)
  const dir = folderWith({ [file]: recordingOf('Where are my whales?'), [nameOfRecording(2)]: 'request: 1' })
  const { url, dashboardUrl } = await platformWith({ recordings: { dir } })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/answers?tab=recordings`)
  await rowOf(page, nameOfRecording(2)).getByText('Broken').waitFor()
  await tabTo(page, page.getByRole('link', { name: 'Where are my whales?' }))
  await page.keyboard.press('Enter')
  await page.waitForURL(url + recordingAt(file))
  await page.getByRole('region', { name: 'the file' }).getByText('content: Where are my whales?').waitFor()
  const editor = page.getByRole('link', { name: file })
  expect(await editor.getAttribute('href')).toBe(`vscode://file${path.posix.join('/', dir, file)}`)
  await tabTo(page, page.getByRole('button', { name: 'Delete' }))
  await page.keyboard.press('Enter')
  await page.getByRole('dialog').getByText(file).waitFor()
  await page.keyboard.press('Escape')
  await page.locator('dialog').waitFor({ state: 'detached' })
  expect(await hasFocus(page, page.getByRole('button', { name: 'Delete' }))).toBe(true)
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByRole('dialog').getByRole('button', { name: 'Delete' }))
  await page.keyboard.press('Enter')
  await page.getByText('1 recording', { exact: true }).waitFor()
  expect(existsSync(path.join(dir, file))).toBe(false)
})

inBrowser('tools of MCP servers and resources are listed as the configuration says', async () => {
  const { dashboardUrl } = await platformWith({
    mcp: { tools: [{ name: 'get_weather', description: 'Gets the weather for a city.', reply: { text: 'sun' } }] },
    resources: { '/builder/projects': {} },
  })
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/answers?tab=tools`)
  await rowOf(page, 'get_weather').getByText('Gets the weather for a city.').waitFor()
  await expectAccessible(page)
  await page.getByRole('tab', { name: 'Resources' }).click()
  await rowOf(page, '/builder/projects').getByText('0').waitFor()
  await page.goto(`${(await platformWith()).dashboardUrl}/answers?tab=resources`)
  await page.getByText('No resources').waitFor()
  await page.getByRole('tab', { name: 'Tools' }).click()
  await page.getByText('No MCP servers').waitFor()
})

test.each([
  [{ user: 'hi', stream: true, turn: { min: 2 } }, 'user "hi", stream yes, turn min 2'],
  [{ user: ['a', { contains: '/b/' }] }, 'user "a" or /b/'],
  [{ toolCalls: [{ name: 'find' }, { name: 'get' }] }, 'toolCalls "find" or "get"'],
  [{ text: 'x'.repeat(500) }, `text "${'x'.repeat(134)}…`],
])('%j reads: %s', (value, words) => expect(inShort(value)).toBe(words))
