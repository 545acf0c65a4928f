/** Activity: what an app asked, why it got its answer, and what repairs it. */
import type { Page } from 'playwright-core'
import { expect, vi } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { liveWith, saying, tape } from '../recordings/live.js'
import { expectAccessible } from './axe.js'
import { clipboardOf, hasFocus, inBrowser, phone, tabTo, useBrowser } from './browser.js'
import { hello, platformWith, type Scene } from './scene.js'

const openPage = useBrowser()

const rows = (page: Page) => page.getByRole('list', { name: 'Requests, the newest first' }).locator('.request')
const row = (page: Page, text: string) => rows(page).filter({ hasText: text }).first()
const panel = (page: Page) => page.getByRole('complementary')
const saidBy = (content: string) => ({ ...hello, messages: [{ role: 'user', content }] })

async function openActivity(platform: Scene, look = {}) {
  const opened = await openPage({ permissions: ['clipboard-read', 'clipboard-write'], ...look })
  await opened.page.goto(platform.dashboardUrl)
  await opened.page.getByLabel('Search requests').waitFor()
  return opened
}

inBrowser('the first request is shown when it begins, grows, and ends as a row', async () => {
  const platform = await platformWith({ pace: { firstTokenMs: 600, tokensPerSecond: 10, jitter: 0 } })
  const { page, complaints } = await openActivity(platform)
  await page.getByRole('heading', { name: 'Waiting for your first request' }).waitFor()
  await page.getByRole('button', { name: 'Copy Base URL' }).waitFor()
  const answer = platform.chat({ ...saidBy('slowly, please'), stream: true }).then(response => response.text())
  const flight = page.getByRole('list', { name: 'Requests in flight' }).getByRole('listitem')
  await flight.getByText('slowly, please').waitFor()
  await flight.getByText('no token yet').waitFor()
  await flight.getByText(/^[1-9]\d* tokens?$/).waitFor()
  await answer
  await row(page, 'slowly, please').getByText('200').waitFor()
  await flight.waitFor({ state: 'detached' })
  expect(complaints).toEqual([])
})

inBrowser('a request in flight can be held, let go and cut by hand', async () => {
  const platform = await platformWith({ pace: { firstTokenMs: 0, tokensPerSecond: 5, jitter: 0 } })
  const { page } = await openActivity(platform)
  const flight = page.getByRole('list', { name: 'Requests in flight' }).getByRole('listitem')
  const answer = platform
    .chat({ ...saidBy('hold me'), stream: true })
    .then(response => response.text())
    .catch(() => 'cut')
  const placeOf = async (name: string) => (await flight.getByRole('button', { name }).boundingBox()) ?? undefined
  await flight.getByText('tokens').waitFor()
  const place = await placeOf('Hold')
  expect(place?.width).toBeGreaterThan(0)
  await flight.getByRole('button', { name: 'Hold' }).click()
  await flight.getByRole('button', { name: 'Release' }).waitFor()
  expect(await placeOf('Release')).toEqual(place)
  await flight.getByRole('button', { name: 'Release' }).click()
  await flight.getByRole('button', { name: 'Hold' }).waitFor()
  await flight.getByRole('button', { name: 'Cut' }).click()
  expect(await answer).toBe('cut')
  await row(page, 'hold me')
    .getByText(/Incomplete|Cut off|disconnected/)
    .waitFor()
})

const agentRules = [
  { when: { toolResult: true }, reply: { text: 'It left on Monday.' } },
  { when: { user: 'order' }, reply: { toolCalls: [{ name: 'find_order', arguments: { number: 'A-1042' } }] } },
  { on: 'GET /orders/:number', reply: { json: { left: 'Monday' } } },
]

/** Three requests of one agent. */
async function runAgent(platform: Scene): Promise<void> {
  const tools = [{ type: 'function', function: { name: 'find_order', parameters: { type: 'object' } } }]
  const asked = { role: 'user', content: 'Where is my order?' }
  const answer = await (await platform.chat({ ...hello, tools, messages: [asked] })).json()
  const { message } = (answer as { choices: [{ message: { tool_calls: [{ id: string }] } }] }).choices[0]
  await (await platform.ask('/orders/A-1042')).text()
  const result = { role: 'tool', tool_call_id: message.tool_calls[0].id, content: '{"left":"Monday"}' }
  await (await platform.chat({ ...hello, tools, messages: [asked, message, result] })).text()
}

inBrowser('the run of an agent is one waterfall, and can be copied as a test', async () => {
  const platform = await platformWith({ rules: agentRules })
  await runAgent(platform)
  await (await platform.ask('/health')).text()
  const { page } = await openActivity(platform)
  const run = row(page, '3 steps')
  await run.waitFor()
  const steps = run.locator('.step:not(.gap)', { has: page.getByRole('link') })
  expect((await steps.allInnerTexts()).map(text => text.split('\n').slice(0, 2))).toEqual([
    ['chat', '→ find_order(A-1042)'],
    ['GET', '/orders/A-1042'],
    ['chat', 'It left on Monday.'],
  ])
  for (const text of await steps.allInnerTexts()) expect(text).toMatch(/\d (ms|s)\b/)
  expect(await rows(page).count()).toBe(2)
  await run.getByRole('button', { name: 'Copy the run as a test' }).click()
  await page.getByText('Copied the run as a test.').waitFor()
  expect(await clipboardOf(page)).toContain('test("Where is my order?"')
  await steps.getByRole('link', { name: 'It left on Monday.' }).click()
  await panel(page).getByRole('heading', { name: 'Conversation' }).waitFor()
  await panel(page).getByText('● new').first().waitFor()
  expect(await panel(page).innerText()).toMatch(/user\s+Where is my order\?\s+assistant ● new\s+→ find_order/)
  await expectAccessible(page)
})

inBrowser('a 401 says which key was tried, what to do, and gives a key that works', async () => {
  const platform = await platformWith()
  await (await platform.chat(hello, { bearer: 'sk-proj-of-the-live-platform-0123456789' })).text()
  const { page } = await openActivity(platform)
  await row(page, 'hello').getByText('unknown key (sk-proj-').waitFor()
  await row(page, 'hello').getByRole('button', { name: 'Copy a key that works' }).click()
  await page.getByText('Copied a key that works.').waitFor()
  expect(await clipboardOf(page)).toBe(platform.apiKey)
  await row(page, 'hello').getByRole('link', { name: 'hello' }).click()
  await panel(page).getByText('→ This is a key of a live platform.').waitFor()
  expect(await panel(page).innerText()).not.toContain(platform.apiKey)
})

/** A platform that replays one recording of a request, which was sent with this temperature. */
async function replaying(more: PlatformOptions = {}) {
  let count = 0
  const answer = () => ({ choices: [{ message: { role: 'assistant', content: `answer ${++count}` } }] })
  const live = await liveWith((request, response) => saying(answer())(request, response))
  const scene = tape(live.url)
  const recording = await scene.recording()
  await (await recording.chat({ ...hello, temperature: 0.2 })).text()
  await recording.stop()
  const platform = (await scene.replaying(more)) as unknown as Scene
  await platform.chat({ ...hello, temperature: 0.7 })
  return { platform, again: async () => (await platform.chat({ ...hello, temperature: 0.7 })).text() }
}

inBrowser(
  'a miss says what differs, and is repaired in its row: from the nearest, by ignoring, or by recording',
  async () => {
    const { platform, again } = await replaying()
    const { page } = await openActivity(platform)
    const miss = row(page, 'temperature 0.7, recorded 0.2')
    await expectAccessible(page)
    await miss.getByRole('button', { name: /^Use nearest/ }).click()
    await miss.getByText(/From now on .* answers this request/).waitFor()
    expect(await again()).toContain('answer 1')
    await miss.getByRole('button', { name: 'Undo' }).click()
    await vi.waitFor(async () => expect(await again()).toContain('No recording'))
    await miss.getByRole('button', { name: 'Ignore temperature' }).first().click()
    const dialog = page.getByRole('dialog', { name: 'Ignore what differs' })
    await dialog.getByText('no other of the last 2 requests').waitFor({ state: 'detached' })
    await dialog.getByRole('button', { name: 'Ignore temperature' }).click()
    await miss.getByRole('button', { name: 'Copy YAML that makes it last' }).click()
    await vi.waitFor(async () => expect(await clipboardOf(page)).toBe('recordings:\n  ignore:\n    - temperature\n'))
    expect(await again()).toContain('answer 1')
    await page.getByRole('button', { name: 'Undo temperature is ignored' }).click()
    await vi.waitFor(async () => expect(await again()).toContain('No recording'))
    await miss.getByRole('button', { name: 'Record now' }).click()
    await miss.getByText(/Recorded. From now on the recording answers: 200/).waitFor()
    await miss.getByRole('button', { name: 'Show the new answer' }).click()
    await panel(page).getByText('answer 2', { exact: true }).waitFor()
    expect(await again()).toContain('answer 2')
  },
)

inBrowser(
  'an answer by hand is a rule that is tried first at once: words, a tool call or a fault; and is undone',
  async () => {
    const platform = await platformWith({
      rules: [{ when: { user: 'order' }, reply: { text: 'The old answer.' }, priority: 9 }],
    })
    const order = saidBy('Where is my order?')
    const ask = async () => (await platform.chat(order)).text()
    await ask()
    const { page } = await openActivity(platform)
    await row(page, 'Where is my order?').getByRole('link', { name: 'Where is my order?' }).click()
    const dialog = page.getByRole('dialog', { name: 'Answer this' })
    const answerWith = async (kind: string, fill: () => Promise<void>) => {
      await panel(page).getByRole('button', { name: 'Answer', exact: true }).click()
      await dialog.getByLabel('Reply').selectOption(kind)
      await fill()
      await dialog.getByRole('button', { name: 'Use from now on' }).click()
      await dialog.waitFor({ state: 'detached' })
      await panel(page).getByText('It answers from the next request on').waitFor()
    }
    await answerWith('Text', () => dialog.getByLabel('What it says').fill('It left on Monday.'))
    expect(await ask()).toContain('It left on Monday.')
    await panel(page).getByRole('button', { name: 'Copy YAML that makes it last' }).click()
    await vi.waitFor(async () => expect(await clipboardOf(page)).toContain('text: It left on Monday.'))
    await expectAccessible(page)
    await answerWith('Tool call', async () => {
      await dialog.getByLabel('Tool').fill('find_order')
      await dialog.getByLabel('Arguments').fill('{"number": "A-1042"}')
    })
    expect(await ask()).toContain('"name":"find_order"')
    await panel(page).getByRole('button', { name: 'Undo' }).click()
    await vi.waitFor(async () => expect(await ask()).toContain('The old answer.'))
    await panel(page).getByRole('button', { name: 'Answer', exact: true }).click()
    await dialog.getByLabel('Reply').selectOption('JSON')
    await dialog.getByLabel('The JSON that it says').fill('{"left": ')
    await dialog.getByRole('button', { name: 'Use from now on' }).click()
    await dialog.getByText('says is no valid JSON.').waitFor()
    expect(await hasFocus(page, dialog.getByLabel('The JSON that it says'))).toBe(true)
  },
)

inBrowser('a request to the auth backend says whose it was, and leads to its message', async () => {
  const platform = await platformWith({ users: [{ email: 'grace@example.com', password: 'another battery' }] })
  const headers = { apikey: platform.anonKey, 'content-type': 'application/json' }
  const body = JSON.stringify({ email: 'grace@example.com' })
  await platform.ask('/auth/v1/otp', { method: 'POST', bearer: null, headers, body })
  const { page } = await openActivity(platform)
  await row(page, 'grace@example.com').getByText('asked for a code or a link').waitFor()
  await row(page, 'grace@example.com').getByRole('link', { name: 'its message' }).click()
  await page.getByRole('heading', { name: 'People', level: 1 }).waitFor()
  expect(new URL(page.url()).search).toMatch(/tab=messages&message=/)
})

inBrowser(
  'problems are counted in the title; a click on a value, a search and the toggle show fewer rows',
  async () => {
    const platform = await platformWith({ strict: true })
    await (await platform.chat(hello)).text()
    await (await platform.ask('/v1/models')).text()
    await (await platform.ask('/v1/nowhere')).text()
    const { page } = await openActivity(platform)
    await vi.waitFor(async () => expect(await page.title()).toBe('(2) Standin'))
    await page.getByRole('button', { name: 'Problems 2' }).click()
    await row(page, '/v1/models').waitFor({ state: 'detached' })
    await page.getByText('2 of 3').waitFor()
    await page.getByRole('button', { name: 'Problems 2' }).click()
    await row(page, '/v1/nowhere').getByTitle('Only status: 404').click()
    await row(page, '/v1/models').waitFor({ state: 'detached' })
    expect(await page.getByLabel('Search requests').inputValue()).toBe('status:404')
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(1))
    await page.getByLabel('Search requests').fill('text:hello')
    await row(page, 'hello').waitFor()
    await vi.waitFor(async () => expect(await rows(page).count()).toBe(1))
    await page.getByLabel('Search requests').fill('nothing like this')
    await page.getByText('No requests match').waitFor()
  },
)

inBrowser('everything works by keyboard, also on a phone', async () => {
  const platform = await platformWith()
  for (const text of ['first', 'second', 'third']) await (await platform.chat(saidBy(text))).text()
  const { page } = await openActivity(platform, { viewport: phone })
  const link = (name: string) => page.getByRole('link', { name, exact: true })
  await tabTo(page, link('third'))
  await page.keyboard.press('ArrowDown')
  expect(await hasFocus(page, link('second'))).toBe(true)
  await page.keyboard.press('Enter')
  await panel(page).getByRole('heading', { name: 'second' }).waitFor()
  await page.keyboard.press('j')
  await panel(page).getByRole('heading', { name: 'first' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await panel(page).waitFor({ state: 'detached' })
  await page.keyboard.press('/')
  expect(await hasFocus(page, page.getByLabel('Search requests'))).toBe(true)
})

inBrowser('of prompts that begin alike, the rows show what differs', async () => {
  const platform = await platformWith()
  const preamble = 'You answer for a small shop, in one sentence, and never promise a date. '
  for (const question of ['Where is my order?', 'Why was it late?'])
    await (await platform.chat(saidBy(preamble + question))).text()
  const { page } = await openActivity(platform)
  await page.getByRole('link', { name: '… Where is my order?', exact: true }).waitFor()
  await page.getByRole('link', { name: '… Why was it late?', exact: true }).click()
  await panel(page).getByText(preamble).first().waitFor()
})

inBrowser('one key answers, sends again, holds the next chat, moves, and tells the keys', async () => {
  const platform = await platformWith()
  for (const text of ['first', 'second']) await (await platform.chat(saidBy(text))).text()
  const { page } = await openActivity(platform)
  const opened = (name: string) => panel(page).getByRole('heading', { name }).waitFor()
  const dialog = page.getByRole('dialog')
  await row(page, 'second').waitFor()
  await page.keyboard.press('j')
  await opened('second')
  await page.keyboard.press('j')
  await opened('first')
  await page.keyboard.press('k')
  await opened('second')
  await page.keyboard.press('a')
  await dialog.getByLabel('What it says').fill('By hand: j, k and r are letters here.')
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Use from now on' }).click()
  await panel(page).getByText('It answers from the next request on').waitFor()
  const before = new URL(page.url()).searchParams.get('id')
  await page.keyboard.press('r')
  await panel(page).getByRole('listitem').filter({ hasText: 'By hand: j, k and r are letters here.' }).first().waitFor()
  expect(new URL(page.url()).searchParams.get('id')).not.toBe(before)
  await page.keyboard.press('?')
  await dialog.getByText('hold the next chat').waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await page.keyboard.press('h')
  await page.getByRole('region', { name: 'What decides the next answer' }).getByText('hold-1').waitFor()
  const held = platform.chat(saidBy('third')).then(response => response.text())
  await page.getByRole('button', { name: 'Release' }).click()
  expect(await held).toContain('choices')
})

inBrowser('sixty requests in flight fold into one line, and each can be let go', async () => {
  const platform = await platformWith()
  const { page } = await openActivity(platform)
  await platform.hold({ times: 60 })
  const all = Promise.all(
    Array.from({ length: 60 }, async (_, nth) => (await platform.chat(saidBy(`one of many, ${nth}`))).text()),
  )
  const line = page.locator('summary', { hasText: '60 in flight' })
  await line.waitFor()
  expect(await page.getByRole('list', { name: 'Requests in flight' }).count()).toBe(0)
  await line.click()
  const flights = page.getByRole('list', { name: 'Requests in flight' }).getByRole('listitem')
  await vi.waitFor(async () => expect(await flights.count()).toBe(60))
  await expectAccessible(page)
  await flights.filter({ hasText: 'one of many, 17' }).getByRole('button', { name: 'Release' }).click()
  await row(page, 'one of many, 17').waitFor()
  await platform.reset()
  await all
})

inBrowser('a paused list stays as it is, and says how many requests came since', async () => {
  const platform = await platformWith()
  await (await platform.chat(saidBy('before'))).text()
  const { page } = await openActivity(platform)
  await row(page, 'before').waitFor()
  await page.getByRole('button', { name: 'Pause' }).click()
  await (await platform.chat(saidBy('after'))).text()
  await page.getByRole('button', { name: 'Show 1 new' }).click()
  await row(page, 'after').waitFor()
  await page.getByRole('button', { name: 'Clear' }).click()
  await page.getByRole('heading', { name: 'Waiting for your first request' }).waitFor()
})

inBrowser('after a restart the list starts over, and the page is as before', async () => {
  const before = await platformWith()
  const { port } = new URL(before.url)
  await (await before.chat(saidBy('before'))).text()
  const { page } = await openActivity(before)
  await row(page, 'before').waitFor()
  await before.stop()
  await page.getByText('Standin isn’t running.').first().waitFor()
  const after = await platformWith({ port: Number(port) })
  await (await after.chat(saidBy('after'))).text()
  await row(page, 'after').waitFor()
  await page.getByText('Standin isn’t running.').first().waitFor({ state: 'detached' })
  expect(await rows(page).count()).toBe(1)
})

inBrowser('of a flood, the newest rows are drawn, and the rest is counted', async () => {
  const platform = await platformWith()
  const { page } = await openActivity(platform)
  for (let batch = 0; batch < 20; batch++)
    await Promise.all(Array.from({ length: 30 }, async () => (await platform.ask('/health')).text()))
  await (await platform.chat(saidBy('the last one'))).text()
  await row(page, 'the last one').waitFor()
  expect(await rows(page).count()).toBeLessThanOrEqual(300)
})
