import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import type { Explained, ListedRule } from '../../src/replies/operations.js'
import { folderWith } from '../command.js'
import { hello } from '../scene.js'
import { lacks, NEAREST, NO_RULE } from '../sentences.js'

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

test('with strict on and no matching rule, the error is shown as the app would get it', async () => {
  const { call } = await inFiles({ 'rules/shop.yaml': shop }, 'replies: rules/*.yaml\nstrict: true')
  const [status, { rule, source, reply }] = await call<Explained>('POST', '/try', { prompt: 'good night' })
  expect([status, rule, source]).toEqual([200, null, null])
  expect(reply).toBe(`${NO_RULE} ${NEAREST} rule "greeting" (rules/shop.yaml:4): ${lacks('user', 'hello')}.`)
})

test('the request of an exchange can be tried as the app sent it', async () => {
  const { call, answer } = await inFiles()
  await answer()
  expect((await call<Explained>('POST', '/try', { exchange: '1' }))[1]).toMatchObject({ reply: 'Welcome!' })
  expect((await call('POST', '/try', { exchange: '99' }))[0]).toBe(404)
})
