import { describe, expect, test } from 'vitest'
import { saysInShort, whenInShort } from '../../src/dashboard/page/replies/in-short.js'
import { ruleAt } from '../../src/dashboard/routes.js'
import { folderWith } from '../command.js'
import { lacks } from '../sentences.js'
import { expectAccessible } from './axe.js'
import { clipboardOf, inBrowser, useBrowser } from './browser.js'
import { say } from './lists.js'
import { platformWith } from './scene.js'

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
async function shopRules() {
  const platform = await platformWith({ replies: [`${folderWith({ 'shop.yaml': shop })}/*.yaml`] })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/replies`)
  await page.getByText('2 rules').waitFor()
  return { platform, page }
}

inBrowser('a request links to the rule that answered it, also when the rule has moved since', async () => {
  const { platform, page } = await shopRules()
  await say(platform, 'hello')
  await page.goto(`${platform.dashboardUrl}/requests?id=1`)
  await page.getByRole('link', { name: 'rule "greeting"', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'greeting' })
  await dialog.getByText(/shop\.yaml:2$/).waitFor()
  await dialog.getByText('name: greeting').waitFor()

  await page.goto(platform.url + ruleAt({ title: 'rule "greeting"', place: 'shop.yaml:99' }))
  await dialog.getByText(/shop\.yaml:2$/).waitFor()

  await page.goto(platform.url + ruleAt({ title: 'rule "welcome"', place: 'shop.yaml:2' }))
  await page.getByText('The rule "welcome" is no longer there.').waitFor()
})

inBrowser('a rule that was added at run time can be removed, and others only in their files', async () => {
  const { platform, page } = await shopRules()
  await platform.reply('Good morning.')
  await page.getByText('3 rules').waitFor()
  expect(await page.getByRole('button', { name: /^Remove/ }).count()).toBe(1)
  await page.getByRole('button', { name: /^Remove/ }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Remove rule' }).click()
  await page.getByText('2 rules').waitFor()
  expect(await say(platform, 'hello')).toContain('Welcome!')
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

inBrowser('rules are accessible on desktop and phone, in light and dark colours', async () => {
  const { page } = await shopRules()
  await page.getByRole('textbox', { name: 'Prompt' }).fill('hello')
  await page.keyboard.press('Enter')
  await page.getByText('Other rules').click()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Show greeting' }).click()
  await page.getByRole('dialog').waitFor()
  await expectAccessible(page)
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
