import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import { tryWith } from '../../src/dashboard/routes.js'
import { expectAccessible } from './axe.js'
import { goWithin, hasFocus, inBrowser, phone, tabTo, useBrowser } from './browser.js'
import { createKeyOn, openSignedIn } from './people.js'
import { platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

const greeting = { name: 'greeting', when: { user: 'hello' }, reply: { text: 'Hello yourself.' } }
const slow = {
  name: 'slow',
  when: { user: 'slowly' },
  reply: { text: Array.from({ length: 400 }, (_, i) => `word${i}`).join(' ') },
  pace: { firstTokenMs: 0, tokensPerSecond: 20 },
}
const weather = [
  {
    name: 'asks',
    when: { user: 'weather', toolResult: false },
    reply: { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
  },
  { name: 'tells', when: { toolResult: { tool: 'get_weather' } }, reply: { text: 'The tool says {{tool.text}}.' } },
]

const messageIn = (page: Page) => page.getByLabel('Message', { exact: true })
const parametersIn = (page: Page) => page.getByLabel('Parameters (JSON)')
const answers = (page: Page) => page.locator('.turn-assistant')

/** Opens Try. Its first credential is the development key. */
async function openTry(platform: Scene, look?: Parameters<typeof openPage>[0]) {
  // In a context of its own: a conversation is kept as long as the tab.
  const opened = await openPage({ timezoneId: 'UTC', ...look })
  const { page } = opened
  const requests: Readonly<Record<string, unknown>>[] = []
  page.on('request', request => {
    if (new URL(request.url()).pathname === '/v1/chat/completions') requests.push(request.postDataJSON())
  })
  await page.goto(`${platform.dashboardUrl}/try`)
  await messageIn(page).waitFor()
  return { ...opened, requests }
}

/** Sends a message, and waits until the answer is over and its exchange is known. */
async function say(page: Page, text: string): Promise<void> {
  const before = await answers(page).count()
  await messageIn(page).fill(text)
  await page.keyboard.press('Enter')
  await answers(page).nth(before).locator('p.small').waitFor()
}

inBrowser('an answer arrives piece by piece, can be stopped, and says what answered', async () => {
  const platform = await platformWith({ rules: [slow, greeting] })
  const { page, complaints } = await openTry(platform)
  await messageIn(page).fill('slowly')
  await page.keyboard.press('Enter')
  await answers(page).getByText('word3 ').waitFor()
  expect(await answers(page).innerText()).toMatch(/Answering.*word0 word1 word2 word3/s)
  expect(await hasFocus(page, messageIn(page))).toBe(true)
  await page.keyboard.press('Escape')
  await answers(page).getByText('Stopped').waitFor()
  expect(await answers(page).innerText()).not.toContain('word399')
  await vi.waitFor(
    () => expect(platform.journal.find()).toMatchObject([{ source: 'rule "slow"', complete: false }]),
    60_000,
  )

  await say(page, 'hello')
  expect(await answers(page).nth(1).innerText()).toMatch(/Hello yourself\..*200 · first token .* tokens · stop/s)
  await answers(page).getByRole('link', { name: 'rule "greeting"' }).click()
  await page.waitForURL(/\/dashboard\?id=\d+$/)
  // The conversation is still there.
  await page.goBack()
  await answers(page).nth(1).getByText('Hello yourself.').waitFor()
  await expectAccessible(page)
  expect(complaints).toEqual([])
})

inBrowser('a conversation with a tool and its result goes on after a reload', async () => {
  const platform = await platformWith({ rules: weather })
  const { page, requests } = await openTry(platform)
  await page.getByRole('button', { name: 'Fill in a tool' }).click()
  await page.getByLabel('System message').fill('Be brief.')
  await say(page, 'the weather in Oslo?')
  await answers(page).getByText('get_weather { "city": "Oslo" }').waitFor()
  await expectAccessible(page)
  await page.reload()
  await page.getByLabel('Result of get_weather').fill('sunny')
  await page.getByRole('button', { name: 'Send result' }).click()
  await answers(page).nth(1).getByText('The tool says sunny.').waitFor()
  expect(requests[1]).toMatchObject({
    stream: true,
    tools: [{ function: { name: 'get_weather' } }],
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'the weather in Oslo?' },
      { role: 'assistant', tool_calls: [{ function: { name: 'get_weather' } }] },
      { role: 'tool', content: 'sunny' },
    ],
  })
  await page.reload()
  await answers(page).nth(1).getByText('The tool says sunny.').waitFor()
  expect(await parametersIn(page).inputValue()).toContain('get_weather')
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByText('No messages yet').waitFor()
})

inBrowser('the parameters are one box of JSON, checked as it is typed and before anything is sent', async () => {
  const platform = await platformWith()
  const { page, requests } = await openTry(platform)
  await page.getByLabel('Stream the answer').uncheck()
  await page.getByLabel('Model').selectOption('gpt-4o')
  await parametersIn(page).fill('{ "temperature": 0.2, ')
  await page.getByText('This is not valid JSON').waitFor()
  await expectAccessible(page)
  await messageIn(page).fill('hello')
  await page.keyboard.press('Enter')
  expect([await hasFocus(page, parametersIn(page)), requests]).toEqual([true, []])
  await parametersIn(page).fill('[]')
  await page.getByText('This must be a JSON object').waitFor()
  await parametersIn(page).fill('{ "messages": [] }')
  await page.getByText('Remove “messages” here.').waitFor()
  await parametersIn(page).fill('{ "temperature": 0.2, "seed": 7 }')
  await messageIn(page).press('Enter')
  await answers(page).locator('p.small').waitFor()
  expect(requests).toEqual([
    { model: 'gpt-4o', messages: [{ role: 'user', content: 'hello' }], stream: false, temperature: 0.2, seed: 7 },
  ])
})

inBrowser('a request of an app is opened from Activity, changed and sent again', async () => {
  const platform = await platformWith()
  const asked = {
    model: 'gpt-4o',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: [{ type: 'text', text: 'an earlier message' }] },
      { role: 'assistant', content: 'An earlier answer.' },
      { role: 'user', content: 'the weather?' },
    ],
    top_p: 0.5,
  }
  await platform.chat(asked)
  await platform.ask('/v1/models')
  const [exchange, list] = platform.journal.find()
  const { page, requests } = await openTry(platform)
  await goWithin(page, tryWith(exchange?.id ?? ''))
  await answers(page).getByText('An earlier answer.').waitFor()
  expect(await page.getByLabel('System message').inputValue()).toBe('Be brief.')
  expect(await messageIn(page).inputValue()).toBe('the weather?')
  await messageIn(page).press('Enter')
  await answers(page).nth(1).locator('p.small').waitFor()
  expect(requests).toEqual([{ ...asked, stream: false }])

  // A conversation is not replaced without confirmation.
  await goWithin(page, tryWith(exchange?.id ?? ''))
  await page.getByRole('dialog', { name: 'Replace the conversation?' }).getByRole('button', { name: 'Replace' }).click()
  await answers(page).nth(1).waitFor({ state: 'detached' })
  await goWithin(page, tryWith(list?.id ?? ''))
  await page.getByText('This is not a chat request').waitFor()
  await goWithin(page, tryWith('999'))
  await page.getByText('There is no exchange').waitFor()
})

inBrowser('a message is edited, and an answer asked for again; what came after is dropped', async () => {
  const platform = await platformWith({
    rules: [{ name: 'counts', replies: [{ text: 'First.' }, { text: 'Second.' }, { text: 'Third.' }] }],
  })
  const { page } = await openTry(platform)
  await say(page, 'one')
  await page.getByRole('button', { name: 'Ask again for answer 2' }).click()
  await answers(page).getByText('Second.').waitFor()
  await page.getByRole('button', { name: 'Edit message 1' }).click()
  expect([await messageIn(page).inputValue(), await answers(page).count()]).toEqual(['one', 0])
  expect(await hasFocus(page, messageIn(page))).toBe(true)
  await page.keyboard.press('End')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('two')
  await page.keyboard.press('Enter')
  await answers(page).getByText('Third.').waitFor()
  expect(await page.locator('.turn-user .said').innerText()).toBe('one\ntwo')
})

inBrowser('the credential is chosen: the development key, a new key, the session, a pasted key, or none', async () => {
  const platform = await platformWith({ rules: [greeting] })
  const { page } = await openTry(platform)
  const credential = page.getByLabel('Credential')
  expect(await credential.inputValue()).toBe('development')
  await credential.selectOption('None, to see the 401')
  await say(page, 'hello')
  await answers(page)
    .getByText(/^401 · /)
    .waitFor()
  await credential.selectOption('A key that I paste')
  await page.getByLabel('API key', { exact: true }).fill(platform.apiKey)
  await say(page, 'hello')
  await answers(page).getByText('Hello yourself.').waitFor()
  await page.reload()
  // A pasted key is not kept.
  expect(await page.getByLabel('API key', { exact: true }).inputValue()).toBe('')
  expect(await page.evaluate<string>('JSON.stringify(sessionStorage)')).not.toContain(platform.apiKey)

  await openSignedIn(page, platform)
  await createKeyOn(page)
  await page.getByRole('link', { name: 'Try', exact: true }).click()
  await credential.selectOption('New key “my app”')
  await say(page, 'hello')
  await credential.selectOption('My session (ada@example.com)')
  await say(page, 'hello')
  const chats = platform.journal.find({ path: '/v1/chat/completions' })
  expect(chats.map(({ caller }) => caller?.kind)).toEqual(['anonymous', 'apiKey', 'apiKey', 'user'])
})

inBrowser('an error, a stream that is cut and one without its end are told apart', async () => {
  const platform = await platformWith({
    rules: [
      { when: { user: 'busy' }, reply: { fault: { status: 429, retryAfter: 2 } } },
      { when: { user: 'cut' }, reply: { text: 'one two three four', fault: { cut: 3 } } },
    ],
  })
  const { page } = await openTry(platform)
  await say(page, 'busy')
  await answers(page).getByRole('alert').getByText('Retry-After: 2').waitFor()
  await say(page, 'cut')
  await answers(page).nth(1).getByText('Cut off').waitFor()
  await answers(page).nth(1).getByText('The connection was closed before the end of the response.').waitFor()
  await platform.stop()
  await say(page, 'hello')
  await answers(page).nth(2).getByText('The connection was closed before a response arrived.').waitFor()
})

inBrowser('on a phone, by keyboard alone', async () => {
  const platform = await platformWith({ rules: [greeting] })
  const { page } = await openTry(platform, { viewport: phone })
  await tabTo(page, messageIn(page))
  await page.keyboard.type('hello')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await answers(page).getByText('Hello yourself.').waitFor()
  await tabTo(page, page.getByRole('button', { name: 'Ask again for answer 2' }))
  await page.keyboard.press('Enter')
  await answers(page).getByRole('link', { name: 'rule "greeting"' }).waitFor()
  await expectAccessible(page)
})
