/** Tries calls against the rules, on the command line and through the control API. */
import { expect, test } from 'vitest'
import { runInProcess } from '../command.js'
import { control } from '../http/controlled.js'
import { platformWith } from '../scene.js'
import { NO_RULE } from '../sentences.js'
import { connected } from './everything.js'

const rules = `- name: frost
  on: tools/call get_weather
  when: { arguments: { city: Oslo } }
  reply: { text: 'Minus three in {{ arguments.city }}.' }
- { name: any file, on: 'resources/read docs://*', reply: { text: 'This is {{ uri }}.' } }
- { name: names, on: completion/complete greet, when: { arguments: { who: A } }, reply: { values: [Ada] } }
- { name: no list, on: tools/list, reply: { error: { code: -32603, message: Not now. } } }
`
const files = { 'platform.config.yaml': 'replies: rules.yaml\nmcp: { /mcp: {} }\n', 'rules.yaml': rules }

const tried = async (...words: readonly string[]) => runInProcess(['replies', 'try', ...words], { files })

test.each([
  [
    ['tools/call', 'get_weather', '{"city":"Oslo"}'],
    /^rule "frost" .* answers\.\n.*\n\n {2}text Minus three in Oslo\.\n$/,
  ],
  [['resources/read docs://readme'], /text This is docs:\/\/readme\.\n$/],
  [['completion/complete greet {"who":"A"}'], /^rule "names"/],
  [['tools/list'], /error -32603 Not now\.\n$/],
  [['tools/call get_weather {"city":"Rome"}'], /^No rule answers\.\nThe nearest .*rule "frost"[^\n]*Oslo/],
  [['tools/call get_weather {"city":"Rome"}'], /Skipped:\n {2}rule "frost" \(rules\.yaml:1\): /],
])('replies try %j prints %s', async (words, expected) => {
  expect((await tried(...words)).stdout).toMatch(expected)
})

test('text that is not a call is a prompt, and a call with malformed arguments is refused', async () => {
  expect((await tried('read/write the file')).stdout).toMatch(/Answer without a rule/)
  const { stderr, code } = await tried('tools/call get_weather {city}')
  expect(stderr).toContain('The arguments must be a JSON object, such as {"city":"Oslo"}.')
  expect(code).not.toBe(0)
  expect((await tried('tools/call')).stderr).toContain('The call has no name.')
})

test('the first matching rule answers, by name or by pattern, as replies try predicts', async () => {
  const some = (name: string, on: string) => ({ name, on, reply: { text: name } })
  const platform = await platformWith({
    mcp: { tools: [{ name: 'get_weather' }] },
    rules: [some('every tool', 'tools/call *'), some('weather', 'tools/call get_weather')],
  })
  const { body } = await control(platform, 'POST /replies/try', { prompt: 'tools/call get_weather {}' })
  expect(body).toMatchObject({ rule: { title: 'rule "every tool"' } })
  const { client } = await connected(platform)
  expect(await client.callTool({ name: 'get_weather' })).toMatchObject({ content: [{ text: 'every tool' }] })
})

const frost = { name: 'frost', on: 'tools/call get_weather', when: { arguments: { city: 'Oslo' } } }

test.each([
  [false, 'MCP server /mcp', 'The configured result, or a generated one.'],
  [true, null, expect.stringContaining(NO_RULE)],
])('the control API explains a written or a sent call, with strict: %j', async (strict, source, reply) => {
  const platform = await platformWith({
    ...{ strict, mcp: { tools: [{ name: 'get_weather' }] } },
    rules: [{ ...frost, reply: { text: 'Cold.' } }],
  })
  const explain = (body: object) => control(platform, 'POST /replies/try', body)
  const answering = { rule: { title: 'rule "frost"' }, reply: 'text Cold.' }
  const written = await explain({ prompt: 'tools/call get_weather {"city":"Oslo"}' })
  expect(written).toMatchObject({ status: 200, body: answering })

  const { client } = await connected(platform)
  await client.callTool({ name: 'get_weather', arguments: { city: 'Oslo' } })
  const [call] = await platform.journal.find({ body: { method: 'tools/call' } })
  expect(await explain({ exchange: call?.id })).toMatchObject({ status: 200, body: answering })

  const other = await explain({ prompt: 'tools/call get_weather {"city":"Rome"}' })
  expect(other.body).toMatchObject({ rule: null, source, reply, others: [{ title: 'rule "frost"', isBefore: true }] })
})
