import { describe, expect, test } from 'vitest'
import { askedInShort, saysInShort, whenInShort } from '../../src/page/replies/in-short.js'
import { platformWith } from '../scene.js'
import { clipboardOf, inBrowser, useBrowser } from './browser.js'
import { say } from './lists.js'

const openPage = useBrowser()

const cells = (text: string) => text.split(/[\t\n]+/)

inBrowser('rules are listed in their order, with what they say and how often they have', async () => {
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

inBrowser('a rule that was added at run time is removed, and those of files are not', async () => {
  const platform = await platformWith({ rules: [{ name: 'filed', reply: { text: 'x' } }] })
  const headers = { 'content-type': 'application/json' }
  const body = JSON.stringify({ name: 'added', reply: { text: 'y' } })
  await platform.ask('/__standin/replies', { method: 'POST', bearer: null, headers, body })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/replies`)
  await page.getByText('2 rules').waitFor()
  expect(await page.getByRole('button', { name: 'Remove filed' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Remove added' }).click()
  await page.getByRole('button', { name: 'Remove rule' }).click()
  await page.getByText('1 rule', { exact: true }).waitFor()
})

inBrowser('ten thousand rules are searched', async () => {
  const rules = Array.from({ length: 10_000 }, (_, i) => ({ name: `rule-${i}`, reply: { text: `Whale number ${i}.` } }))
  const platform = await platformWith({ rules })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/replies`)
  await page.getByText('1 to 20 of 10000').waitFor()
  await page.getByLabel('Search rules').fill('number 9999.')
  await page.getByText('1 rule', { exact: true }).waitFor()
  await page.getByLabel('Search rules').fill('nothing like it')
  await page.getByText('No rule has these words').waitFor()
})

inBrowser('without rules and requests the page says how to come by some', async () => {
  const { dashboardUrl } = await platformWith()
  const { page } = await openPage()
  await page.goto(`${dashboardUrl}/replies`)
  await page.getByText('There are no rules').waitFor()
  await page.getByText('No chat requests yet').waitFor()
})

describe('in short', () => {
  test.each([
    [{}, 'always'],
    [{ when: { user: 'hi', stream: true, turn: { min: 2, max: 3 } } }, 'user "hi", stream yes, turn from 2, to 3'],
    [{ when: { user: ['a', { contains: '/b/' }] } }, 'user "a" or /b/'],
    [{ when: { toolResult: { tool: 'find' }, not: { system: 'x' } } }, 'tool result tool "find", not system "x"'],
  ])('%j answers %s', (rule, words) => expect(whenInShort(rule)).toBe(words))

  test.each([
    [{ reply: { text: '' } }, '(nothing)'],
    [{ reply: { text: 'a\n  b' } }, 'a b'],
    [{ reply: { text: 'x'.repeat(500) } }, `${'x'.repeat(120)}…`],
    [{ reply: { toolCalls: [{ name: 'find' }, { name: 'get' }] } }, 'calls find, calls get'],
    [{ reply: { file: 'long.md' } }, 'the text of long.md'],
    [{ reply: { json: { a: 1 } } }, '{"a":1}'],
    [{ replies: [{ text: 'one' }, { refusal: 'no' }] }, '2 in turn: one · refuses: no'],
    [{ reply: { choices: [{ text: 'a' }, { text: 'b' }] } }, 'a, b'],
  ])('%j says %s', (rule, words) => expect(saysInShort(rule)).toBe(words))

  test.each([
    [{ messages: [{ role: 'user', content: 'one' }, { role: 'user', content: 'two' }, { role: 'tool' }] }, 'two'],
    [{ messages: [{ role: 'user', content: [{ type: 'image_url' }, { text: 'What is it?' }] }] }, 'What is it?'],
    ['the beginning of a long body', 'nothing that can be shown'],
    [{ messages: [null, 1, { role: 'user' }] }, 'nothing that can be shown'],
    [undefined, 'nothing that can be shown'],
  ])('of %j somebody reads %s', (body, words) => expect(askedInShort(body)).toBe(words))
})
