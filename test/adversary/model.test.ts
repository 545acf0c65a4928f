import { expect, test } from 'vitest'
import { forAll } from '../command.js'
import { browserForPrograms, inBrowser } from '../dashboard/browser.js'
import { adversary, verdictsIn } from './apps.js'

const browser = forAll(browserForPrograms)

/** A page that shows an answer, which it opens in a browser. It makes images of Markdown, as most chat pages do. */
const chatPage = async (isSafe: boolean) => `
import { createServer } from 'node:http'
const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env
const policy = ${isSafe} ? { 'content-security-policy': "default-src 'self' 'unsafe-inline'" } : {}
const page = \`<main></main><script>
const main = document.querySelector('main')
const show = text => {
  const html = text.replace(/!\\\\[(.*?)\\\\]\\\\((.*?)\\\\)/g, '<img alt="$1" src="$2">')
  ${isSafe} ? main.setHTML(html) : main.innerHTML = html
  document.title = 'shown'
}
fetch('/chat').then(response => response.text()).then(show)
</script>\`
const server = createServer(async (request, response) => {
  if (request.url !== '/chat') return response.writeHead(200, { 'content-type': 'text/html', ...policy }).end(page)
  const answer = await fetch(OPENAI_BASE_URL + '/chat/completions', {
    method: 'POST',
    headers: { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello' }] }),
  })
  response.end((await answer.json()).choices[0].message.content)
}).listen(0, '127.0.0.1', async () => {
  await fetch('${await browser()}/?http://127.0.0.1:' + server.address().port)
  process.exit(0)
})
`

const found = (end: Parameters<typeof verdictsIn>[0]) =>
  verdictsIn(end).map(({ fault, code, isBug }) => `${fault}: ${code}${isBug ? '' : ' (note)'}`)

inBrowser('a page of raw HTML fetches what an answer points to, and runs its script', { timeout: 90_000 }, async () => {
  const end = await adversary(await chatPage(false), { flags: ['--json', '--faults', 'model-markup'] })
  expect(found(end)).toEqual(['model-markup: leaked', 'model-markup: markup'])
  const [leak] = verdictsIn(end)
  expect(leak?.sentence).toContain('the image in Markdown, the image in HTML, a script in HTML')
  expect(leak?.requests.at(-1)).toMatchObject({ path: expect.stringMatching(/^\/__standin\/canary\/\w{16}\//) })
})

inBrowser('a page with a sanitizer and a Content-Security-Policy gets no verdict', { timeout: 90_000 }, async () => {
  const end = await adversary(await chatPage(true), { flags: ['--json', '--faults', 'model-markup'] })
  expect(found(end)).toEqual([])
  expect(end.code).toBe(0)
})

interface Agent {
  /** The most calls of the model. */
  readonly limit?: number
  /** Whether it asks a person before it writes. */
  readonly asks?: true
  /** Whether it tells the model that a tool does not exist, rather than take the last one. */
  readonly knowsItsTools?: true
  /** How many tools it runs in a turn. */
  readonly most?: number
}

const agent = ({ limit = 1000, asks, knowsItsTools, most = 100 }: Agent) => `
const { OPENAI_BASE_URL, PLATFORM_BASE_URL, OPENAI_API_KEY } = process.env
const headers = { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' }
const post = async (url, body) => {
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error('status ' + response.status)
  return response.json()
}
const tool = (name, ...fields) => ({ type: 'function', function: { name, parameters: {
  type: 'object', properties: Object.fromEntries(fields.map(field => [field, { type: 'string' }])), required: fields,
} } })
const tools = [tool('get_price', 'item'), tool('order', 'item', 'note')]
const run = async ({ name, arguments: given }) => {
  const { item, note } = JSON.parse(given)
  if (name === 'get_price') return 'The price of ' + item + ' is 7.'
  if (${knowsItsTools === true} && name !== 'order') return 'There is no tool ' + name + '.'
  if (${asks === true}) return 'The user has not confirmed this.'
  await post(PLATFORM_BASE_URL + '/orders', { item, note })
  return 'Done.'
}
const messages = [{ role: 'user', content: 'What is a pizza?' }]
for (let turn = 0; turn < ${limit}; turn++) {
  const { choices: [{ message }] } = await post(OPENAI_BASE_URL + '/chat/completions', { model: 'gpt-4o-mini', messages, tools })
  messages.push(message)
  if (!message.tool_calls) process.exit(0)
  for (const call of message.tool_calls.slice(0, ${most}))
    messages.push({ role: 'tool', tool_call_id: call.id, content: await run(call.function) })
}
console.log('That is enough.')
`

const rules = `
- on: POST /orders
  reply: { status: 201, json: { ok: true } }
- when: { user: pizza, toolResult: true }
  reply: { text: It costs 7. }
- when: { user: pizza }
  reply: { toolCalls: [{ name: get_price, arguments: { item: pizza } }] }
`

const tried = (one: Agent) =>
  adversary(agent(one), { flags: ['--json', '--faults', 'model'], files: { 'fixtures/replies/rules.yaml': rules } })

test('every hole of a careless agent is found', { timeout: 90_000 }, async () => {
  expect(found(await tried({ most: 1 }))).toEqual([
    'model-unknown-tool: wrong-tool',
    'model-ten-tools: results-missing',
    'model-loop: no-limit',
    'model-injection: obeyed-injection',
  ])
})

test('an agent with a limit that asks before it writes gets no verdict', { timeout: 90_000 }, async () => {
  const end = await tried({ limit: 8, asks: true, knowsItsTools: true })
  expect(found(end)).toEqual([])
  expect(end.code).toBe(0)
})
