import { expect, test } from 'vitest'
import { run, start } from '../command.js'
import { cannotBeRead, didYouMean, lacks } from '../sentences.js'

const rules = `- name: greet
  when: { user: '/^hello (\\w+)/i' }
  reply: { text: 'Hi {{match[1]}}, you said "{{user}}"' }
- name: weather
  when: { user: weather, tools: [get_weather], toolResult: false }
  reply: { toolCalls: [{ name: get_weather, arguments: { city: Oslo, unit: '{{request.metadata.unit}}' } }] }
- name: story
  when: { user: story }
  reply: { file: story.md, fault: { cut: 30 } }
`
const files = { 'platform.config.yaml': 'replies: rules.yaml\n', 'rules.yaml': rules, 'story.md': 'Once upon a time.' }

test('replies try shows which rule answers, its reply, and why the others do not match', async () => {
  const { stdout, code } = await run(['replies', 'try', 'Once more: a story', '--stream'], { files })
  expect(code).toBe(0)
  expect(stdout).toBe(`rule "story" (rules.yaml:7) answers.
  when { user: story }

  Once upon a time.
  fault { cut: 30 }

Skipped:
  rule "greet" (rules.yaml:1): user does not match /^hello (\\w+)/i
  rule "weather" (rules.yaml:4): ${lacks('user', 'weather')}; tools does not offer get_weather
`)
})

test('replies try fills in templates and shows tool calls', async () => {
  expect((await run(['replies', 'try', 'hello', 'Ada'], { files })).stdout).toContain('Hi Ada, you said "hello Ada"')
  const request = JSON.stringify({
    metadata: { unit: 'celsius' },
    tools: [{ type: 'function', function: { name: 'get_weather' } }],
  })
  const more = { ...files, 'request.json': request }
  const { stdout } = await run(['replies', 'try', 'the weather?', '--request', 'request.json'], { files: more })
  expect(stdout).toContain('(calls) get_weather({"city":"Oslo","unit":"celsius"})')
})

test('replies try reads a request from standard input', async () => {
  const input = JSON.stringify({ messages: [{ role: 'user', content: 'hello Ada' }] })
  const { ended } = start(['replies', 'try', '--request', '-'], { files, input })
  expect(await ended).toMatchObject({ code: 0, stdout: expect.stringContaining('Hi Ada, you said "hello Ada"') })
})

test('replies try reports a template that fails in one sentence', async () => {
  const endless = "- { name: endless, reply: { text: '{% for i in (1..100000000) %}x{% endfor %}' } }"
  expect(await run(['replies', 'try', 'hello'], { files: { ...files, 'rules.yaml': endless } })).toMatchObject({
    ...{ code: 1, stdout: '' },
    stderr: expect.stringMatching(/^A template of rule "endless" failed\. .*\n$/),
  })
})

test('replies try applies magic words before any rule', async () => {
  const error = await run(['replies', 'try', 'weather standin:status-500'], { files })
  expect(error).toMatchObject({
    code: 0,
    stdout: `magic status-500 answers, before any rule.

  fault { status: 500, message: "Status 500, because the prompt says standin:status-500." }
`,
  })
  const strict = { ...files, 'platform.config.yaml': `${files['platform.config.yaml']}strict: true\n` }
  const call = await run(['replies', 'try', 'standin:tool', '--tools', 'get_weather'], { files: strict })
  expect(call.stdout).toBe('magic tool answers, before any rule.\n\n  (calls) get_weather({})\n')
})

test('replies try refuses an unknown magic word as the server does', async () => {
  const unknown = await run(['replies', 'try', 'standin:eror-500'], { files })
  expect(unknown).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('which is not a magic word.') })
})

test('replies try shows the canned reply if no rule answers, and the nearest rule', async () => {
  const { stdout } = await run(['replies', 'try', 'bye'], { files })
  expect(stdout).toMatch(
    /^No rule answers\.\nThe nearest .*rule "weather" \(rules\.yaml:4\): user does not contain .*\n\nAnswer without a rule \(canned reply\):\n {2}\w/,
  )
})

test.each([
  [['replies', 'try'], 'standin replies try needs a prompt'],
  [['replies', 'try', 'x', '--request', 'none.json'], `none.json: ${cannotBeRead()}`],
  [['replies', 'try', 'x', '--request', 'rules.yaml'], 'rules.yaml is not JSON:'],
  [['replies', 'tri'], didYouMean('try')],
  [['config', 'check', '--model', 'x'], 'The flag --model belongs to standin verify and standin replies try.'],
])('%j is refused with an explanation', async (args, sentence) => {
  expect(await run(args, { files })).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) })
})
