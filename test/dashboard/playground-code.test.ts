import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { codeFor } from '../../src/dashboard/page/playground/code.js'
import { platformWith } from '../scene.js'

const run = promisify(execFile)
const noPython = spawnSync('python3', ['--version']).status !== 0

/** A request with everything that a shell or a language could misread. */
const request = {
  model: 'gpt-4o-mini',
  messages: [
    { role: 'system', content: `It's $HOME, \`id\`, "quoted", back\\slash\nand a new line; \u2028 😀` },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c', content: 'true' },
    { role: 'user', content: 'hello' },
  ],
  temperature: 0.5,
  tools: [
    {
      type: 'function',
      function: { name: 'f', strict: true, parameters: { type: 'object', additionalProperties: false } },
    },
  ],
  stream: false,
}

const snippet = (name: string, body: object, url = 'http://127.0.0.1:1') =>
  codeFor(JSON.stringify(body), url).find(one => one.name === name)?.code ?? ''

test('the curl command sends exactly the same request', async () => {
  const platform = await platformWith({ rules: [{ name: 'hi', reply: { text: 'Hi.' } }] })
  for (const stream of [false, true]) {
    const command = snippet('curl', { ...request, stream }, platform.url)
    const { stdout } = await run('sh', ['-c', command.replace('YOUR_API_KEY', platform.apiKey)])
    expect(stdout).toContain(stream ? 'data: [DONE]' : '"content":"Hi."')
  }
  const journal = await (await fetch(`${platform.url}/__standin/journal`)).json()
  const bodies = (journal as { data: { request: { body: object } }[] }).data.map(({ request }) => request.body)
  expect(bodies).toEqual([request, { ...request, stream: true }])
})

test('the code for Node sends exactly the same request with the openai package', async () => {
  const platform = await platformWith({ rules: [{ name: 'hi', reply: { text: 'Hi there.' } }] })
  for (const stream of [false, true]) {
    const code = snippet('Node', { ...request, stream }, platform.url).replace('YOUR_API_KEY', platform.apiKey)
    const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', code])
    expect(stdout).toContain('Hi there.')
  }
  const journal = await (await fetch(`${platform.url}/__standin/journal`)).json()
  const bodies = (journal as { data: { request: { body: object } }[] }).data.map(({ request }) => request.body)
  expect(bodies).toEqual([request, { ...request, stream: true }])
})

/** Replaces the openai package and prints what it was called with. */
const fake = `
import json, sys, types
class Client:
    def __init__(self, base_url, api_key):
        self.chat = types.SimpleNamespace(completions=types.SimpleNamespace(create=self.create))
    def create(self, **asked):
        print(json.dumps(asked))
        sys.exit(0)
sys.modules['openai'] = types.SimpleNamespace(OpenAI=Client)
`

test.skipIf(noPython)('the code for Python sends exactly the same request', async () => {
  for (const stream of [false, true]) {
    const { stdout } = await run('python3', ['-c', fake + snippet('Python', { ...request, stream })])
    expect(JSON.parse(stdout)).toEqual({ ...request, stream })
  }
})

test('any JSON is the same value as a JavaScript literal', () => {
  fc.assert(
    fc.property(fc.jsonValue(), value => {
      const code = snippet('Node', { value })
      const [, object] = /create\((.*)\)\nconsole/s.exec(code) ?? []
      expect(new Function(`return ${object}`)()).toEqual(JSON.parse(JSON.stringify({ value })))
    }),
  )
})

test('the code never contains a key', () => {
  for (const { code } of codeFor(JSON.stringify(request), 'http://127.0.0.1:1')) expect(code).toContain('YOUR_API_KEY')
})
