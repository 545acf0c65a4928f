import { expect, vi } from 'vitest'
import { playgroundWith } from '../../src/dashboard/routes.js'
import { clipboardOf, goWithin, hasFocus, inBrowser, tabTo, useBrowser } from './browser.js'
import { createKeyOn, openSignedIn } from './people.js'
import { answersOn, chatRequestsOf, messageIn, overOn, playOn, sayOn, unfold } from './playground.js'
import { platformWith } from './scene.js'

const openPage = useBrowser()

const greeting = { name: 'greeting', when: { user: 'hello' }, reply: { text: 'Hello yourself.' } }
const slow = {
  name: 'slow',
  when: { user: 'slowly' },
  reply: { text: Array.from({ length: 400 }, (_, i) => `word${i}`).join(' ') },
  pace: { firstTokenMs: 0, tokensPerSecond: 50 },
}
const weather = [
  {
    name: 'asks',
    when: { user: 'weather', toolResult: false },
    reply: { toolCalls: [{ name: 'get_weather', arguments: { city: 'Oslo' } }] },
  },
  { name: 'tells', when: { toolResult: { tool: 'get_weather' } }, reply: { text: 'The tool says {{tool.text}}.' } },
]

inBrowser(
  'an answer arrives piece by piece; when the user stops it, the text so far stays and the server stops as well',
  async () => {
    const platform = await platformWith({ rules: [{ ...slow, pace: { firstTokenMs: 0, tokensPerSecond: 20 } }] })
    const { page } = await openPage()
    await playOn(page, platform)
    await messageIn(page).fill('slowly')
    await page.keyboard.press('Enter')
    await answersOn(page).locator('.said').getByText('word3 ').waitFor()
    expect(await answersOn(page).innerText()).toMatch(/Answering.*word0 word1 word2 word3/s)
    expect(await hasFocus(page, messageIn(page))).toBe(true)

    await page.getByRole('button', { name: 'Stop' }).click()
    await overOn(page)
    expect(await answersOn(page).innerText()).toMatch(/Stopped.*word0 word1 word2 word3 /s)
    expect(await answersOn(page).innerText()).not.toContain('word399')
    expect(await hasFocus(page, messageIn(page))).toBe(true)
    await vi.waitFor(
      async () => {
        const { data } = await journalOf(platform)
        expect(data).toEqual([expect.objectContaining({ source: 'rule "slow"', complete: false })])
      },
      { timeout: 60_000 },
    )
  },
)

inBrowser('an answer that is stopped before its first word is not confused with an earlier one', async () => {
  const platform = await platformWith({
    rules: [
      { name: 'first', reply: { text: 'Hello.' }, times: 1 },
      { name: 'second', reply: { text: 'Hello again.' }, pace: { firstTokenMs: 60_000 } },
    ],
  })
  const { page } = await openPage()
  await playOn(page, platform)
  await sayOn(page, 'hello')
  await answersOn(page).getByText('rule "first"').waitFor()
  await page.getByRole('button', { name: /^Regenerate answer/ }).click()
  await page.getByRole('button', { name: 'Stop' }).click()
  await overOn(page)
  await answersOn(page).getByText('rule "second"').waitFor()
})

inBrowser('a finished answer shows its times, its tokens and the rule that gave it', async () => {
  const platform = await platformWith({ rules: [{ ...slow, pace: { firstTokenMs: 0, tokensPerSecond: 1000 } }] })
  const { page, complaints } = await openPage()
  await playOn(page, platform)
  await sayOn(page, 'slowly')
  expect(await answersOn(page).locator('.said').innerText()).toBe(slow.reply.text)
  await answersOn(page).getByText('rule "slow"').waitFor()
  expect(await answersOn(page).locator('.answer-facts').innerText()).toMatch(
    /Status\s*200.*First token\s*[\d.]+ m?s.*Total\s*[\d.]+ m?s.*Tokens\s*\d+ \+ \d+.*Finish reason\s*stop/s,
  )
  expect(complaints).toEqual([])
})

inBrowser('a request of an app is opened, changed and sent again', async () => {
  const platform = await platformWith({ rules: weather })
  const { page } = await openPage()
  const requests = chatRequestsOf(page)
  const asked = {
    model: 'gpt-4o',
    messages: [
      { role: 'system', content: 'Be brief.' },
      { role: 'user', content: 'the weather?' },
    ],
    top_p: 0.5,
  }
  await platform.chat(asked)
  const [exchange] = platform.journal.find()
  await page.goto(platform.url + playgroundWith(exchange?.id ?? ''))
  await page.getByText('Be brief.').waitFor()
  expect(await messageIn(page).inputValue()).toBe('the weather?')
  await messageIn(page).press('Enter')
  await overOn(page)
  expect(requests).toEqual([{ ...asked, stream: false }])

  // A conversation is not replaced without confirmation.
  await goWithin(page, playgroundWith(exchange?.id ?? ''))
  await page.getByRole('dialog', { name: 'Replace the conversation?' }).getByRole('button', { name: 'Replace' }).click()
  await answersOn(page).waitFor({ state: 'detached' })
  expect(await messageIn(page).inputValue()).toBe('the weather?')
  expect(await hasFocus(page, messageIn(page))).toBe(true)
})

inBrowser(
  'a suggestion is sent immediately, and the focus moves to the message, where Shift and Enter begin a new line',
  async () => {
    const platform = await platformWith({ rules: [greeting] })
    const { page } = await openPage()
    const requests = chatRequestsOf(page)
    await playOn(page, platform)
    await tabTo(page, page.getByRole('button', { name: 'Hello' }))
    await page.keyboard.press('Enter')
    await overOn(page)
    expect(await hasFocus(page, messageIn(page))).toBe(true)
    await page.keyboard.type('hello')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('there')
    expect(requests.length).toBe(1)
    await page.keyboard.press('Enter')
    await overOn(page, 1)
    expect(requests.at(-1)?.messages.at(-1)).toEqual({ role: 'user', content: 'hello\nthere' })
    expect(await messageIn(page).inputValue()).toBe('')
  },
)

const journalOf = async ({ url }: { readonly url: string }) =>
  (await (await fetch(`${url}/__standin/journal?path=/v1/chat/completions`)).json()) as { data: readonly object[] }

inBrowser('a tool is called, its result is filled in, and the model continues with it', async () => {
  const platform = await platformWith({ rules: weather })
  const { page } = await openPage()
  const requests = chatRequestsOf(page)
  await playOn(page, platform)
  await unfold(page, 'Tools')
  await page.getByRole('button', { name: 'Fill in a sample of Tools' }).click()
  await page.getByLabel('Tool choice').selectOption('get_weather')
  await sayOn(page, 'the weather?')
  const call = page.getByRole('group', { name: 'Calls get_weather' })
  expect(await call.locator('pre').innerText()).toBe('{\n  "city": "Oslo"\n}')

  await page.getByLabel('Tool choice').selectOption('auto')
  await page.getByLabel('Result of get_weather').fill('four degrees')
  await page.getByRole('button', { name: 'Send result' }).click()
  await overOn(page, 1)
  expect(await answersOn(page).last().locator('.said').innerText()).toBe('The tool says four degrees.')
  expect(await call.innerText()).toContain('four degrees')
  const [first, second] = requests
  expect(first).toMatchObject({
    tools: [{ type: 'function', function: { name: 'get_weather' } }],
    tool_choice: { type: 'function', function: { name: 'get_weather' } },
    stream: true,
    stream_options: { include_usage: true },
  })
  const id = expect.stringMatching(/^call_/)
  expect(second).not.toHaveProperty('tool_choice')
  expect(second?.messages).toEqual([
    { role: 'user', content: 'the weather?' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id, type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }],
    },
    { role: 'tool', tool_call_id: id, content: 'four degrees' },
  ])
})

inBrowser('all settings go into the request, and nothing else', async () => {
  const platform = await platformWith({ models: [{ id: 'model-one' }, { id: 'model-two' }] })
  const { page } = await openPage()
  const requests = chatRequestsOf(page)
  await playOn(page, platform)
  await sayOn(page, 'first')
  await page.getByLabel('Model').selectOption('model-two')
  await page.getByLabel('Temperature').fill('0.5')
  await page.getByLabel('Max tokens').fill('30')
  await page.getByLabel('Seed').fill('7')
  await page.getByLabel('Stream the answer').uncheck()
  await unfold(page, 'Response format', 'System message')
  await page.getByRole('button', { name: 'Fill in a sample of Response format' }).click()
  await page.getByLabel('System message').fill('Be brief.')
  await page.getByRole('button', { name: 'Clear' }).click()
  await sayOn(page, 'second')
  expect(requests).toEqual([
    {
      model: 'model-one',
      messages: [{ role: 'user', content: 'first' }],
      stream: true,
      stream_options: { include_usage: true },
    },
    {
      model: 'model-two',
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'second' },
      ],
      temperature: 0.5,
      max_tokens: 30,
      seed: 7,
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'answer', strict: true, schema: expect.objectContaining({ required: ['name', 'age'] }) },
      },
      stream: false,
    },
  ])
  expect(JSON.parse(await answersOn(page).locator('.said').innerText())).toEqual({
    name: expect.any(String),
    age: expect.any(Number),
  })
})

inBrowser('invalid JSON is not sent: it gets the focus, and the line and column are named', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  const requests = chatRequestsOf(page)
  await playOn(page, platform)
  await unfold(page, 'Tools')
  const tools = page.getByLabel('Tools (JSON)')
  await tools.fill('[\n  { "type": "function", }\n]')
  await messageIn(page).fill('hello')
  await page.keyboard.press('Enter')
  expect(await hasFocus(page, tools)).toBe(true)
  await page.getByText('Line 2, column 25: Property name expected.').first().waitFor()
  expect(await messageIn(page).inputValue()).toBe('hello')
  await tools.fill('[{ "type": "function" }]')
  await page.getByText('Tool 1 has no name.').waitFor()
  expect(requests).toEqual([])
})

inBrowser('without a credential, and with a wrong one, the 401 is shown with advice', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await playOn(page, platform, 'sk-local-of-nobody')
  await sayOn(page, 'hello')
  expect(await answersOn(page).getByRole('alert').innerText()).toMatch(
    /^401 The API key is not known\.\s+Choose another credential in the settings/,
  )
  await page.getByRole('button', { name: 'Choose a credential' }).click()
  expect(await hasFocus(page, page.getByLabel('Credential'))).toBe(true)
  await page.getByLabel('Credential').selectOption('None, to see the 401')
  await page.getByRole('button', { name: /^Regenerate answer 2/ }).click()
  await answersOn(page).getByText('An app that sends no key gets this.').waitFor()
  expect(await answersOn(page).getByRole('alert').innerText()).toContain('401 No credential was sent.')
})

inBrowser('an error of the platform is shown in its words, and asking again may help', async () => {
  const platform = await platformWith({ rules: [greeting] })
  const { page } = await openPage()
  await playOn(page, platform)
  const chats = { path: '/v1/chat/completions' }
  platform.failNext({ status: 429, retryAfter: 3, message: 'Slow down.' }, chats)
  await sayOn(page, 'hello')
  expect(await answersOn(page).getByRole('alert').innerText()).toMatch(/^429 Slow down\.\s+Retry-After: 3\s+Wait/)
  platform.failNext({ cutAfterChunks: 2 }, chats)
  await page.getByRole('button', { name: 'Regenerate answer 2' }).click()
  await answersOn(page).getByText('Cut off').waitFor()
  await page.getByRole('button', { name: 'Regenerate answer 2' }).click()
  await answersOn(page).getByText('Hello yourself.').waitFor()
})

inBrowser('a signed-in user needs no key, and a newly created key is selected immediately', async () => {
  const platform = await platformWith({ rules: [greeting] })
  const { page } = await openPage()
  await openSignedIn(page, platform)
  await page.getByRole('link', { name: 'Playground' }).click()
  expect(await page.getByLabel('Credential').locator(':checked').innerText()).toBe('My session (ada@example.com)')
  await sayOn(page, 'hello')
  expect(await answersOn(page).innerText()).toContain('Hello yourself.')

  await page.getByRole('link', { name: 'API keys' }).click()
  await createKeyOn(page, 'laptop')
  await page.getByRole('link', { name: 'Playground' }).click()
  expect(await page.getByLabel('Credential').locator(':checked').innerText()).toBe('New key “laptop”')
  // The conversation so far is still here.
  await sayOn(page, 'hello again')
  expect(await answersOn(page).count()).toBe(2)
  const { data } = await journalOf(platform)
  expect(data).toEqual([
    expect.objectContaining({ caller: expect.objectContaining({ kind: 'user' }) }),
    expect.objectContaining({ caller: expect.objectContaining({ kind: 'apiKey', name: 'laptop' }) }),
  ])
})

inBrowser('signed out on this machine, the first click gets an answer', async () => {
  const platform = await platformWith()
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/playground`)
  await page.getByRole('button', { name: 'Hello', exact: true }).click()
  await overOn(page)
  expect(platform.journal.last()).toMatchObject({ status: 200, caller: { kind: 'apiKey' } })
  await unfold(page)
  expect(await page.getByLabel('Credential').locator(':checked').innerText()).toBe('Development key')
})

inBrowser('if no key can be offered, the first click asks for one and sends nothing', async () => {
  const platform = await platformWith({ apiKeys: [{ name: 'mine', key: 'sk-of-our-own-and-long-enough' }] })
  const { page } = await openPage()
  await page.goto(`${platform.dashboardUrl}/playground`)
  await page.getByRole('button', { name: 'Hello', exact: true }).click()
  await page.getByRole('status').getByText('Not sent. Enter an API key first.').waitFor({ state: 'attached' })
  expect(await hasFocus(page, page.getByLabel('API key', { exact: true }))).toBe(true)
  expect(platform.journal.count({ path: '/v1/chat/completions' })).toBe(0)
})

inBrowser('a pasted key is masked, stored nowhere, and gone for the next user', async () => {
  const platform = await platformWith({ rules: [greeting] })
  const { page, asked } = await openPage()
  await openSignedIn(page, platform)
  await page.getByRole('link', { name: 'Playground' }).click()
  await page.getByLabel('Credential').selectOption('A key that I paste')
  const key = page.getByLabel('API key', { exact: true })
  await key.fill(platform.apiKey)
  expect(await key.getAttribute('type')).toBe('password')
  await page.getByRole('button', { name: 'Show API key' }).click()
  expect(await key.getAttribute('type')).toBe('text')
  await sayOn(page, 'hello')
  await unfold(page, 'Raw and code')
  for (const tab of ['Request', 'curl', 'Python', 'Node']) {
    await page.getByRole('tab', { name: tab }).click()
    expect(await page.getByRole('tabpanel').innerText()).not.toContain(platform.apiKey)
  }
  const kept = await page.evaluate<string>(
    'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state])',
  )
  expect(kept + asked.join()).not.toContain(platform.apiKey)

  await page.getByRole('button', { name: 'Account: ada@example.com' }).click()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  await page.getByRole('link', { name: 'Playground' }).click()
  await page.getByText('No messages yet').waitFor()
  await page.getByLabel('Credential').selectOption('A key that I paste')
  expect(await key.inputValue()).toBe('')
})

inBrowser('an edited message is sent in place of the old one, with the messages before it', async () => {
  const platform = await platformWith({ rules: [greeting] })
  const { page } = await openPage()
  const requests = chatRequestsOf(page)
  await playOn(page, platform)
  for (const text of ['hello one', 'hello two', 'hello three']) await sayOn(page, text)
  await page.getByRole('button', { name: 'Edit answer 2' }).click()
  await page.getByRole('textbox', { name: 'Answer 2' }).fill('Something else.')
  await page.getByRole('button', { name: 'Save' }).click()
  await page.getByRole('button', { name: 'Edit message 3' }).click()
  expect(await hasFocus(page, page.getByRole('textbox', { name: 'Message 3' }))).toBe(true)
  await page.getByRole('textbox', { name: 'Message 3' }).fill('hello instead')
  await page.getByRole('button', { name: 'Send from here' }).click()
  await vi.waitFor(() => expect(requests.length).toBe(4), { timeout: 60_000 })
  await overOn(page)
  expect(requests.at(-1)?.messages).toEqual([
    { role: 'user', content: 'hello one' },
    { role: 'assistant', content: 'Something else.' },
    { role: 'user', content: 'hello instead' },
  ])
  expect(await page.locator('.turn').count()).toBe(4)
})

inBrowser('the answer of a model is shown as text, whatever it contains', async () => {
  const text = `<img src=x onerror="alert(1)"><b>bold</b> &amp; {{user}}\n\n  indented`
  const platform = await platformWith({ rules: [{ name: 'html', reply: { text: text.replace('{{user}}', '') } }] })
  const { page, complaints } = await openPage()
  await playOn(page, platform)
  await sayOn(page, '<script>alert(2)</script>')
  expect(await answersOn(page).locator('.said').innerText()).toBe(text.replace('{{user}}', ''))
  expect(await page.locator('main img, main b, main script').count()).toBe(0)
  expect(complaints).toEqual([])
})

inBrowser('a fast stream of a hundred thousand characters is rendered in few steps', async () => {
  const text = Array.from(
    { length: 1700 },
    (_, i) => `Line ${i} has a few words, and then it ends without more ado.`,
  ).join('\n')
  const flood = {
    name: 'flood',
    when: { user: 'flood' },
    reply: { text },
    pace: { firstTokenMs: 0, tokensPerSecond: 10_000 },
  }
  const platform = await platformWith({ rules: [flood] })
  const { page } = await openPage()
  await playOn(page, platform)
  await page.evaluate(`{
    window.drawn = 0
    new MutationObserver(() => { window.drawn += 1 }).observe(document.body, { subtree: true, childList: true, characterData: true })
  }`)
  await sayOn(page, 'flood')
  expect(
    await answersOn(page)
      .locator('.said')
      .evaluate(said => (said as { textContent?: string }).textContent),
  ).toBe(text)
  // Rendered at most once a frame, so not with every word.
  expect(await page.evaluate<number>('window.drawn')).toBeLessThan(text.split(' ').length / 4)
})

inBrowser('the page follows the end of an answer, unless the user has scrolled away', async () => {
  const lines = { ...slow, reply: { text: slow.reply.text.replaceAll(' ', '\n') } }
  const platform = await platformWith({ rules: [lines] })
  const { page } = await openPage()
  const fromEnd = () =>
    page.evaluate<number>(
      '(({ scrollHeight, clientHeight, scrollTop }) => scrollHeight - clientHeight - scrollTop)(document.documentElement)',
    )
  await playOn(page, platform)
  await messageIn(page).fill('slowly')
  await page.keyboard.press('Enter')
  await page.locator('.said').getByText('word60').waitFor()
  await expect.poll(fromEnd, { timeout: 60_000 }).toBeLessThan(60)
  await page.evaluate('scrollTo(0, 0)')
  await page.locator('.said').getByText('word90').waitFor()
  expect(await page.evaluate<number>('scrollY')).toBe(0)
  await page.getByRole('button', { name: 'Go to the end' }).click()
  await page.locator('.said').getByText('word120').waitFor()
  await expect.poll(fromEnd, { timeout: 60_000 }).toBeLessThan(60)
})

inBrowser('an answer continues while the user is on another view, and is announced once, when it is over', async () => {
  const platform = await platformWith({ rules: [{ ...slow, pace: { firstTokenMs: 0, tokensPerSecond: 200 } }] })
  const { page } = await openPage()
  await playOn(page, platform)
  await page.evaluate(`{
    window.announced = []
    const live = '[role=status], [role=alert], [role=log], [aria-live]'
    new MutationObserver(changes => {
      for (const { target } of changes) {
        const place = (target.nodeType === 1 ? target : target.parentElement)?.closest(live)
        if (place?.textContent) window.announced.push(place.textContent)
      }
    }).observe(document.body, { subtree: true, childList: true, characterData: true })
  }`)
  await messageIn(page).fill('slowly')
  await page.keyboard.press('Enter')
  await page.locator('.said').getByText('word3 ').waitFor()
  await page.getByRole('link', { name: 'Connect' }).click()
  await page.getByRole('heading', { name: 'Connect' }).waitFor()
  await page.getByRole('link', { name: 'Playground' }).click()
  await overOn(page)
  expect(await page.locator('.turn-answer .said').innerText()).toBe(slow.reply.text)
  // The answer is over before the page shows its facts. An announcement is removed again, so it may be gone by now.
  const announced = await page.evaluate<readonly string[]>('window.announced')
  expect(new Set(announced)).toEqual(new Set([expect.stringMatching(/^Answer: word0 word1 .*, and so on$/)]))
})

inBrowser('the raw answer and code for it are shown, and the whole conversation can be copied', async () => {
  const platform = await platformWith({ rules: [greeting] })
  const { page } = await openPage({ permissions: ['clipboard-read', 'clipboard-write'] })
  await playOn(page, platform)
  await sayOn(page, 'hello')
  await unfold(page, 'Raw and code')
  const panel = page.getByRole('tabpanel')
  expect(JSON.parse(await panel.locator('code').innerText())).toMatchObject({ messages: [{ content: 'hello' }] })
  await page.getByRole('tab', { name: 'Response' }).click()
  expect(await panel.locator('code').innerText()).toMatch(/^data: \{"id":"chatcmpl-.*data: \[DONE\]/s)
  await page.getByRole('tab', { name: 'Python' }).click()
  expect(await panel.locator('code').innerText()).toContain(`base_url="${platform.url}/v1"`)
  await page.getByRole('button', { name: 'Copy the conversation' }).click()
  await page.getByRole('button', { name: 'Copied the conversation' }).waitFor()
  expect(JSON.parse(await clipboardOf(page))).toEqual([
    { role: 'user', content: 'hello' },
    { role: 'assistant', content: 'Hello yourself.' },
  ])
})

inBrowser('the mode is shown, and follows when it changes', async () => {
  const platform = await platformWith({ upstream: { baseUrl: 'http://127.0.0.1:9', apiKey: 'sk-live' } })
  const { page } = await openPage()
  await playOn(page, platform)
  await page.getByText('Mode emulate: your rules answer.').waitFor()
  const change = { method: 'PUT', headers: { 'content-type': 'application/json' } }
  const body = JSON.stringify({ mode: 'emulate', modes: { 'POST /v1/chat/*': 'proxy' } })
  expect((await fetch(`${platform.url}/__standin/mode`, { ...change, body })).status).toBe(200)
  await page.getByText('Mode proxy: the live platform answers').waitFor()
})

inBrowser('the playground works by keyboard alone', async () => {
  const platform = await platformWith({ rules: [greeting, ...weather] })
  const { page } = await openPage()
  const press = (key: string) => page.keyboard.press(key)
  await page.goto(`${platform.dashboardUrl}/playground`)
  await tabTo(page, page.locator('summary', { hasText: 'Tools' }))
  await press('Enter')
  await tabTo(page, page.getByRole('button', { name: 'Fill in a sample of Tools' }))
  await press('Enter')
  await tabTo(page, messageIn(page))
  await page.keyboard.type('the weather?')
  await press('Enter')
  await tabTo(page, page.getByLabel('Result of get_weather'))
  await page.keyboard.type('cold')
  await tabTo(page, page.getByRole('button', { name: 'Send result' }))
  await press('Enter')
  await answersOn(page).getByText('The tool says cold.').waitFor()
  expect(await hasFocus(page, messageIn(page))).toBe(true)
  await tabTo(page, page.getByRole('button', { name: 'Clear' }))
  await press('Enter')
  expect(await hasFocus(page, messageIn(page))).toBe(true)
  await page.getByText('No messages yet').waitFor()
})
