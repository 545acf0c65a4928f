import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { RuleInput } from '../../src/index.js'
import { anyCharacter } from '../characters.js'
import { runs } from '../runs.js'
import { platformWith, type Scene } from '../scene.js'

/** A rule that repeats the prompt in every field that takes a template. */
const echo: RuleInput = {
  when: { user: '/^(?<all>[^]*)$/' },
  reply: {
    text: '<{{user}}|{{match[1]}}|{{match.all}}>',
    reasoning: '{{user}}',
    toolCalls: [
      { name: 'map', arguments: { said: '{{user}}', deep: [{ within: 'x {{user}} y' }], all: '{{request.messages}}' } },
      { name: 'text', arguments: '{"said": {{user | json}}}' },
    ],
  },
}
const refusing: RuleInput = { when: { system: 'refuse' }, reply: { refusal: 'No: {{user}}' }, priority: 1 }
const json: RuleInput = {
  when: { system: 'json' },
  reply: { json: { said: '{{user}}', 'as {{user}}': 'in {{user}}' } },
  priority: 1,
}

const platform = () => platformWith({ rules: [echo, refusing, json] })

interface Message {
  readonly content: string
  readonly reasoning_content: string
  readonly refusal: string
  readonly tool_calls: readonly { readonly function: { readonly arguments: string } }[]
}

async function messageOf({ chat }: Scene, user: string, system = ''): Promise<Message> {
  const messages = [
    { role: 'system', content: system },
    { role: 'user', content: user },
  ]
  const response = await chat({ model: 'gpt-4o-mini', messages })
  const body = (await response.json()) as { readonly choices: [{ readonly message: Message }] }
  expect(response.status, JSON.stringify(body)).toBe(200)
  return body.choices[0].message
}

/** Each field repeats the prompt and nothing else. */
async function expectEchoed(scene: Scene, said: string): Promise<void> {
  const { content, reasoning_content, tool_calls } = await messageOf(scene, said)
  expect(content).toBe(`<${said}|${said}|${said}>`)
  expect(reasoning_content).toBe(said)
  const [map, text] = tool_calls.map(call => JSON.parse(call.function.arguments))
  expect(map).toMatchObject({ said, deep: [{ within: `x ${said} y` }] })
  expect(map.all[1]).toEqual({ role: 'user', content: said })
  expect(text).toEqual({ said })
  expect((await messageOf(scene, said, 'refuse')).refusal).toBe(`No: ${said}`)
  const object = JSON.parse((await messageOf(scene, said, 'json')).content)
  expect(object).toEqual(
    Object.fromEntries([
      ['said', said],
      [`as ${said}`, `in ${said}`],
    ]),
  )
}

test.each([
  '{{user}}',
  '{% assign user = "x" %}{% raw %}',
  "$& $1 $$ $` $'",
  '__proto__',
  '\ud800 alone, \udc00 alone',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what the prompt says
  '${HOME}',
])('%j comes back unchanged from every template', async said => {
  await expectEchoed(await platform(), said)
})

test('a prompt of a million characters comes back whole', async () => {
  await expectEchoed(await platform(), '{{user}} " \\ 😀 '.repeat(65_000))
})

test('any prompt comes back unchanged from every template', async () => {
  const scene = await platform()
  const syntax = fc.constantFrom('{{', '}}', '{%', '%}', 'user', 'raw', '|', '"', "'", '\\', '$&', '\n', '\u0000')
  const surrogates = fc.integer({ min: 0xd800, max: 0xdfff }).map(unit => String.fromCharCode(unit))
  const part = fc.oneof(syntax, surrogates, fc.string({ unit: anyCharacter, maxLength: 8 }))
  const said = fc.array(part, { maxLength: 12 }).map(parts => parts.join(''))
  await fc.assert(
    fc.asyncProperty(said, text => expectEchoed(scene, text)),
    { numRuns: runs(150) },
  )
})

test('headers in a template contain no credential', async () => {
  const { chat, apiKey } = await platformWith({ rules: [{ reply: { text: '{{headers}} {{headers.authorization}}' } }] })
  const names = ['apikey', 'api-key', 'x-api-key', 'x-goog-api-key', 'cookie', 'proxy-authorization']
  const secrets = Object.fromEntries(names.map(name => [name, 'secret-of-somebody']))
  const headers = { ...secrets, 'x-tenant': 'acme' }
  const answer = await (
    await chat({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'x' }] }, { headers })
  ).text()
  expect(answer).toContain('acme')
  expect(answer).not.toContain('secret-of-somebody')
  expect(answer).not.toContain(apiKey)
})
