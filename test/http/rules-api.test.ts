import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import type { Explained, ListedRule } from '../../src/replies/operations.js'
import { folderWith } from '../command.js'
import { hello, platformWith, type Scene } from '../scene.js'
import { AN_OBJECT, isUnknown, lacks, mustBe } from '../sentences.js'

const shop = `# The shop.

# Greets.
- name: greeting # in the log
  when: { user: 'hello' }
  reply:
    text: "Welcome!"

- name: bye
  when: { user: hello }
  reply: { text: Bye }
`

/** A platform with its rules in files. */
async function inFiles(
  files: Readonly<Record<string, string>> = { 'rules/shop.yaml': shop },
  config = 'replies: rules/*.yaml',
) {
  const cwd = folderWith({ 'platform.config.yaml': `port: 0\nstate: memory\n${config}\n`, ...files })
  const platform = await openPlatform({ cwd })
  onTestFinished(() => platform.stop())
  const call = async <T = { error?: string; id?: string }>(method: string, at: string, body?: object) => {
    const response = await fetch(`${platform.url}/__standin/replies${at}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
    })
    const text = await response.text()
    return [response.status, (text === '' ? {} : JSON.parse(text)) as T] as const
  }
  const rules = async () => (await call<{ data: readonly ListedRule[] }>('GET', ''))[1].data
  const answer = async () => {
    const headers = { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' }
    const response = await fetch(`${platform.url}/v1/chat/completions`, {
      method: 'POST',
      headers,
      body: JSON.stringify(hello),
    })
    const { choices } = (await response.json()) as { choices?: readonly { message: { content: string } }[] }
    return choices?.[0]?.message.content
  }
  return { cwd, platform, call, rules, answer }
}

test('the counters and sequences of rules survive edits of other rules, and being switched off', async () => {
  const counting = (more = '') =>
    `- name: counting\n  times: 3\n${more}  replies: [{ text: one }, { text: two }, { text: three }]\n`
  const { answer, rules, cwd, platform } = await inFiles({ 'rules/a.yaml': counting(), 'rules/b.yaml': shop })
  const write = async (file: string, text: string) => {
    writeFileSync(path.join(cwd, file), text)
    await platform.reload()
  }
  expect(await answer()).toBe('one')
  await write('rules/b.yaml', `# More.\n${shop}`)
  expect([await answer(), (await rules())[0]?.answered]).toEqual(['two', 2])
  await write('rules/a.yaml', counting('  enabled: false\n'))
  expect((await rules()).map(({ enabled }) => enabled)).toEqual([false, true, true])
  await write('rules/a.yaml', `- name: new\n  when: { user: nothing }\n  reply: { text: x }\n${counting()}`)
  expect([await answer(), await answer()]).toEqual(['three', 'Welcome!'])
  expect((await rules()).map(({ answered }) => answered)).toEqual([0, 3, 1, 0])
})

test('a rule with another text, in another file, or per caller starts over after a reload', async () => {
  const rule = (name: string, more = '') =>
    `- name: ${name}\n  when: { user: hello }\n  times: 1\n  reply: { text: ${name} }\n${more}`
  const { answer, cwd, platform } = await inFiles({
    'rules/a.yaml': rule('edited'),
    'rules/b.yaml': rule('moved') + rule('each', '  per: caller\n'),
    'rules/c.yaml': `${rule('same') + rule('same')}- reply: { text: rest }\n`,
  })
  const six = async () => {
    const received: unknown[] = []
    while (received.length < 6) received.push(await answer())
    return received
  }
  expect(await six()).toEqual(['edited', 'moved', 'each', 'same', 'same', 'rest'])
  writeFileSync(path.join(cwd, 'rules/a.yaml'), rule('moved') + rule('edited', '  priority: 0\n'))
  writeFileSync(path.join(cwd, 'rules/b.yaml'), rule('each', '  per: caller\n'))
  await platform.reload()
  expect(await six()).toEqual(['moved', 'edited', 'each', 'rest', 'rest', 'rest'])
})

test('the list names the file of each rule, and only rules added at run time have an id and can be removed', async () => {
  const { call, rules } = await inFiles()
  await call('POST', '', { name: 'added', when: { user: 'hello' }, reply: { text: 'x' } })
  expect(await rules()).toMatchObject([
    { id: 'rule-1', title: 'rule "added"', file: null },
    { id: null, place: 'rules/shop.yaml:4', file: 'rules/shop.yaml' },
    { id: null, place: 'rules/shop.yaml:9', file: 'rules/shop.yaml' },
  ])
  expect((await call('DELETE', '/rule-9'))[0]).toBe(404)
  expect((await call('DELETE', '/rule-1'))[0]).toBe(204)
  expect(await rules()).toHaveLength(2)
})

test('trying a prompt shows the reply and why the other rules do not answer, and counts nothing', async () => {
  const { call, rules } = await inFiles({
    'rules/a.yaml': `- name: weather
  when: { user: weather }
  reply: { text: It rains. }
- name: greeting
  when: { user: /^hello (\\w+)/ }
  times: 1
  reply: { text: 'Hi {{match[1]}}!' }
- name: all
  reply: { text: Hm. }
`,
  })
  const tryOut = async (body: object) => (await call<Explained>('POST', '/try', body))[1]
  expect(await tryOut({ prompt: 'hello Ada' })).toEqual({
    rule: { title: 'rule "greeting"', place: 'rules/a.yaml:4', why: 'when { user: /^hello (\\w+)/ }' },
    source: 'rule "greeting"',
    reply: 'Hi Ada!',
    hint: null,
    others: [
      {
        title: 'rule "weather"',
        place: 'rules/a.yaml:1',
        isBefore: true,
        reasons: [lacks('user', 'weather')],
      },
      { title: 'rule "all"', place: 'rules/a.yaml:8', isBefore: false, reasons: [] },
    ],
    total: 3,
  })
  expect((await tryOut({ prompt: 'hello Ada' })).reply).toBe('Hi Ada!')
  expect((await rules()).map(({ answered }) => answered)).toEqual([0, 0, 0])
})

/** A request to the control API, without a credential. */
const call = (method: string, body?: unknown, headers: Record<string, string> = {}) => ({
  method,
  bearer: null,
  ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
})

const replies = '/__standin/replies'
const inScope = (scope: string) => ({ headers: { 'x-standin-scope': scope } })

const statusOf = async (response: Promise<Response>) => (await response).status

const replyIn = async ({ chat }: Pick<Scene, 'chat'>, scope = '') => {
  const response = await chat(hello, inScope(scope))
  const { choices } = (await response.json()) as { choices: readonly { message: { content: string } }[] }
  return choices[0]?.message.content
}

const rule = (text: string, more: object = {}) => ({ when: { user: 'hello' }, reply: { text }, ...more })

test('a rule can be added, used and removed over HTTP', async () => {
  const platform = await platformWith({ rules: [{ name: 'old', ...rule('old') }] })
  const made = await platform.ask(replies, call('POST', rule('new', { name: 'fresh' })))
  expect([made.status, await made.json()]).toEqual([201, { data: [{ id: 'rule-1' }] }])
  expect(await replyIn(platform)).toBe('new')
  expect(await (await platform.ask(replies, call('GET'))).json()).toEqual({
    data: [
      {
        ...{
          id: 'rule-1',
          title: 'rule "fresh"',
          place: 'at run time #1',
          scope: null,
          answered: 1,
          enabled: true,
          file: null,
        },
        rule: { name: 'fresh', ...rule('new') },
      },
      {
        ...{
          id: null,
          title: 'rule "old"',
          place: 'rules[0]',
          scope: null,
          answered: 0,
          enabled: true,
          file: null,
        },
        rule: { name: 'old', ...rule('old') },
      },
    ],
  })
  expect(await statusOf(platform.ask(`${replies}/rule-1`, call('DELETE')))).toBe(204)
  expect(await replyIn(platform)).toBe('old')
  const again = await platform.ask(`${replies}/rule-1`, call('DELETE'))
  expect([again.status, await again.json()]).toEqual([404, { error: 'There is no rule with the id "rule-1".' }])
})

test.each([
  ['"x"', 400, mustBe('The request body', AN_OBJECT, 'x')],
  [{ reply: { text: 1 } }, 400, mustBe('reply.text', 'a string', 1)],
  [{ reply: { text: 'a' }, whn: {} }, 400, expect.stringContaining(`whn ${isUnknown('when')}`)],
  [[{ reply: { text: 'a' } }, { reply: { text: '{% if %}' } }], 400, expect.stringMatching(/^\[1\]\.reply\.text: /)],
  [{ reply: { file: '/etc/passwd' } }, 400, 'reply.file: A rule that is sent cannot use files. Send the text itself.'],
])('an invalid rule is refused by the name of its field, and none is added: %j', async (body, status, error) => {
  const { ask } = await platformWith()
  const response = await ask(replies, call('POST', body))
  expect([response.status, await response.json()]).toEqual([status, { error }])
  expect(await (await ask(replies, call('GET'))).json()).toEqual({ data: [] })
})
