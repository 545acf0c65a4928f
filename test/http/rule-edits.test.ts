import { readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import type { Explained, ListedRule } from '../../src/replies/operations.js'
import { folderWith } from '../command.js'
import { hello, platformWith } from '../scene.js'
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

/** A platform with its rules in files, and the calls that the dashboard makes. */
async function editing(
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
  const at = async (name: string) =>
    `/${encodeURIComponent((await rules()).find(({ title }) => title.includes(name))?.id ?? '')}`
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
  const text = (file = 'rules/shop.yaml') => readFileSync(path.join(cwd, file), 'utf8')
  return { cwd, platform, call, rules, at, answer, text }
}

test('a rule of a file can be read with its comments and edited; the rest of the file stays byte for byte, and the edit takes effect immediately', async () => {
  const { call, at, answer, text } = await editing()
  const [, { yaml }] = await call<{ yaml: string }>('GET', await at('greeting'))
  expect(yaml).toBe(shop.slice(shop.indexOf('# Greets.'), shop.indexOf('\n- name: bye')))
  const [status] = await call('PUT', await at('greeting'), { yaml: yaml.replace('Welcome!', 'Good morning!') })
  expect([status, text(), await answer()]).toEqual([200, shop.replace('Welcome!', 'Good morning!'), 'Good morning!'])
})

test('a rule can be switched off and on again, which restores the file', async () => {
  const { call, at, answer, text, rules } = await editing()
  await call('PUT', await at('greeting'), { enabled: false })
  expect([await answer(), (await rules()).map(({ enabled }) => enabled)]).toEqual(['Bye', [false, true]])
  expect(text()).toBe(shop.replace('- name: greeting', '- enabled: false\n  name: greeting'))
  await call('PUT', await at('greeting'), { enabled: true })
  expect([await answer(), text()]).toEqual(['Welcome!', shop])
})

test('a rule that ends with a text and a comment can be switched off and on again, and deleted without the comment of the next rule', async () => {
  const note = '# Note.\n- name: note\n  reply:\n    text: |\n      Noted.\n\n    # Later: a fault.\n'
  const last = '# Last.\n- name: last\n  reply: { text: Last }\n'
  const { call, at, text } = await editing({ 'rules/a.yaml': `${note}\n${last}` })
  for (const enabled of [false, true]) await call('PUT', await at('note'), { enabled })
  expect(text('rules/a.yaml')).toBe(`${note}\n${last}`)
  await call('DELETE', await at('note'))
  expect(text('rules/a.yaml')).toBe(last)
})

test('rules are moved with their comments', async () => {
  const { call, at, answer, text, rules } = await editing()
  expect((await rules()).map(({ moves }) => moves)).toEqual([['down'], ['up']])
  const [, { id }] = await call('PUT', await at('bye'), { move: 'up' })
  expect([await answer(), (await rules())[0]?.id]).toEqual(['Bye', id])
  expect(text()).toMatch(/^# The shop\.\n\n- name: bye\n[^#]*\n# Greets\.\n- name: greeting # in the log\n/)
  expect(await call('PUT', await at('bye'), { move: 'up' })).toEqual([
    409,
    { error: 'The rule was not saved. It is the first rule of its priority in rules/shop.yaml.' },
  ])
})

test('a copy is inserted before its original, and a rule is deleted with its comments', async () => {
  const { call, at, answer, text } = await editing()
  await call('PUT', await at('bye'), { before: '- name: copy\n  when: { user: hello }\n  reply: { text: Copy }\n' })
  await call('DELETE', await at('greeting'))
  expect(await answer()).toBe('Copy')
  expect(text()).toBe(
    `# The shop.\n\n- name: copy\n  when: { user: hello }\n  reply: { text: Copy }\n\n${shop.slice(shop.indexOf('- name: bye'))}`,
  )
})

test('the last rule of a file can be deleted', async () => {
  const { call, at, text, rules } = await editing({ 'rules/a.yaml': '# Mine.\n- name: only\n  reply: { text: x }\n' })
  expect((await call('DELETE', await at('only')))[0]).toBe(204)
  expect([text('rules/a.yaml'), await rules()]).toEqual(['', []])
})

test('a file that has changed in the meantime is not overwritten', async () => {
  const { cwd, call, at, text } = await editing()
  const place = await at('greeting')
  const theirs = shop.replace('Welcome!', 'By my editor')
  writeFileSync(path.join(cwd, 'rules/shop.yaml'), theirs)
  const error =
    'rules/shop.yaml was changed in the meantime, so nothing was written. Look at the rule again, then repeat the change.'
  for (const [method, body] of [
    ['GET'],
    ['PUT', { yaml: '- reply: { text: x }' }],
    ['PUT', { enabled: false }],
    ['DELETE'],
  ] as const) {
    expect(await call(method, place, body)).toEqual([409, { error }])
  }
  expect([text(), readdirSync(path.join(cwd, 'rules'))]).toEqual([theirs, ['shop.yaml']])
})

test.each([
  ['- name: x\n  rply: { text: y }', /^rules\/shop\.yaml:4:3: \[0\]\.rply .*"reply"\?/],
  ['- reply: { text: "{{ usr }}" }', /^rules\/shop\.yaml:3:12: \[0\]\.reply\.text: usr .*templates/],
  ['- reply: {', /^rules\/shop\.yaml:\d+:\d+: .*YAML/],
  ['name: x', /^rules\/shop\.yaml:\d+:\d+: /],
  ['- reply: { text: x }\n---\n- reply: { text: y }', /^rules\/shop\.yaml:\d+:\d+: /],
  ['# nothing', /^There is no rule here\./],
])(
  'an invalid rule is refused with its field, file and line, and the file stays unchanged: %j',
  async (yaml, error) => {
    const { call, at, text } = await editing()
    const place = await at('greeting')
    expect(await call('PUT', place, { yaml })).toEqual([400, { error: expect.stringMatching(error) }])
    expect(text()).toBe(shop)
    const id = decodeURIComponent(place.slice(1))
    const [, { problems }] = await call<{ problems: readonly { line: number }[] }>('POST', '/check', { yaml, id })
    expect(problems[0]?.line).toBeLessThanOrEqual(yaml.split('\n').length)
  },
)

test('no id leads to a file that holds no rules: neither by dots nor by links', async () => {
  const { cwd, call, rules } = await editing({
    'rules/a.yaml': '- name: a\n  reply: { text: a }\n',
    'secret.yaml': shop,
  })
  symlinkSync(path.join(cwd, 'secret.yaml'), path.join(cwd, 'rules/linked.yaml'))
  const { id = '' } = (await rules())[0] ?? {}
  const version = id?.split('@')[1]
  const { versionOf } = await import('../../src/replies/load.js')
  for (const file of [
    'secret.yaml',
    'rules/../secret.yaml',
    path.join(cwd, 'secret.yaml'),
    '/etc/passwd',
    'rules/a.yaml\0',
  ]) {
    for (const stamp of [version, versionOf(shop)]) {
      const [status] = await call('PUT', `/${encodeURIComponent(`${file}#1@${stamp}`)}`, {
        yaml: '- reply: { text: x }',
      })
      expect([file, status]).toEqual([file, 404])
    }
  }
  const linked = await call('DELETE', `/${encodeURIComponent(`rules/linked.yaml#1@${versionOf(shop)}`)}`)
  expect(linked).toEqual([
    409,
    { error: 'The rule was not saved. rules/linked.yaml is a symbolic link. Change the file that it points to.' },
  ])
  expect(readFileSync(path.join(cwd, 'secret.yaml'), 'utf8')).toBe(shop)
})

test('an edited rule cannot refer to a file outside of its folder, unless the rules refer to it already', async () => {
  const own = '- name: own\n  reply: { file: ../greeting.md }\n- name: other\n  reply: { text: x }\n'
  const files = { 'rules/a.yaml': own, 'greeting.md': 'Hi', 'secret.md': 'S', 'rules/texts/long.md': 'Long' }
  const { cwd, call, at, text } = await editing(files)
  symlinkSync(path.join(cwd, 'secret.md'), path.join(cwd, 'rules/link.md'))
  for (const file of ['../secret.md', '/etc/hostname', 'link.md']) {
    const refused = await call('PUT', await at('other'), { yaml: `- name: other\n  reply: { file: ${file} }\n` })
    expect(refused).toEqual([
      400,
      { error: expect.stringContaining(`${file} is outside the folder of the rule file.`) },
    ])
  }
  for (const file of ['../greeting.md', 'texts/long.md']) {
    expect((await call('PUT', await at('other'), { yaml: `- name: other\n  reply: { file: ${file} }\n` }))[0]).toBe(200)
  }
  expect(text('rules/a.yaml')).toContain('texts/long.md')
})

test('an edit keeps the mode and the byte order mark of the file, and leaves no other file behind', async () => {
  const { cwd, call, at } = await editing({ 'rules/a.yaml': '\ufeff- name: a\r\n  reply: { text: a }\r\n' })
  const file = path.join(cwd, 'rules/a.yaml')
  const { mode } = statSync(file)
  await call('PUT', await at('a'), { enabled: false })
  expect(readFileSync(file, 'utf8')).toBe('\ufeff- enabled: false\r\n  name: a\r\n  reply: { text: a }\r\n')
  expect([statSync(file).mode, readdirSync(path.dirname(file))]).toEqual([mode, ['a.yaml']])
})

test('when two edits of one file arrive at once, the second is refused because the file has changed', async () => {
  const { call, at, text } = await editing()
  const [one, two] = [await at('greeting'), await at('bye')]
  const answers = await Promise.all([call('PUT', one, { enabled: false }), call('DELETE', two)])
  expect(answers.map(([status]) => status)).toEqual([200, 409])
  expect(text()).toContain('enabled: false')
})

test('added rules can be edited, switched, moved and read in the same way', async () => {
  const { call, rules, answer } = await editing()
  await call('POST', '', [
    { name: 'one', when: { user: 'hello' }, reply: { text: 'one' } },
    { name: 'two', when: { user: 'hello' }, reply: { text: 'two' } },
  ])
  expect((await rules()).map(({ moves }) => moves)).toEqual([['down'], ['up'], ['down'], ['up']])
  await call('PUT', '/rule-2', { move: 'up' })
  expect(await answer()).toBe('two')
  await call('PUT', '/rule-2', { enabled: false })
  expect(await answer()).toBe('one')
  const [, { yaml }] = await call<{ yaml: string }>('GET', '/rule-1')
  expect(yaml).toBe('- name: one\n  when:\n    user: hello\n  reply:\n    text: one\n')
  await call('PUT', '/rule-1', { yaml: yaml.replace('text: one', 'text: uno') })
  expect(await answer()).toBe('uno')
  expect((await call('PUT', '/rule-1', { yaml: '- reply: {}' }))[0]).toBe(400)
  expect((await call('PUT', '/rule-9', { enabled: false }))[0]).toBe(404)
  expect((await call('PUT', '/rule-1', { enabled: true, move: 'up' }))[0]).toBe(400)
  expect((await rules()).slice(0, 2).map(({ title, enabled }) => [title, enabled])).toEqual([
    ['rule "two"', false],
    ['rule "one"', true],
  ])
})

test('an added rule goes on counting after it was switched off and on, and starts over when it is edited', async () => {
  const { call, answer } = await editing()
  await call('POST', '', { name: 'added', when: { user: 'hello' }, replies: [{ text: 'one' }, { text: 'two' }] })
  expect(await answer()).toBe('one')
  await call('PUT', '/rule-1', { enabled: false })
  await call('PUT', '/rule-1', { enabled: true })
  expect(await answer()).toBe('two')
  const [, { yaml }] = await call<{ yaml: string }>('GET', '/rule-1')
  await call('PUT', '/rule-1', { yaml: yaml.replace('text: one', 'text: uno') })
  expect(await answer()).toBe('uno')
})

test('the counters and sequences of rules survive edits of other rules, and being switched off', async () => {
  const counting =
    '# Counts.\n- name: counting\n  times: 3\n  replies: [{ text: one }, { text: two }, { text: three }]\n'
  const { call, at, answer, rules, cwd, platform } = await editing({ 'rules/a.yaml': counting, 'rules/b.yaml': shop })
  expect(await answer()).toBe('one')
  writeFileSync(path.join(cwd, 'rules/b.yaml'), `# More.\n${shop}`)
  await platform.reload()
  expect([await answer(), (await rules())[0]?.answered]).toEqual(['two', 2])
  for (const enabled of [false, true]) await call('PUT', await at('counting'), { enabled })
  await call('PUT', await at('counting'), { before: '- name: new\n  when: { user: nothing }\n  reply: { text: x }\n' })
  expect([await answer(), await answer()]).toEqual(['three', 'Welcome!'])
  expect((await rules()).map(({ answered }) => answered)).toEqual([0, 3, 1, 0])
})

test('a rule with another text, in another file, or per caller starts over after a reload', async () => {
  const rule = (name: string, more = '') =>
    `- name: ${name}\n  when: { user: hello }\n  times: 1\n  reply: { text: ${name} }\n${more}`
  const { answer, cwd, platform } = await editing({
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

test('a rule in code has no id, because it can only be changed in the code', async () => {
  const platform = await platformWith({ rules: [{ name: 'coded', reply: { text: 'x' } }] })
  await platform.chat(hello)
  const { data } = (await (await platform.ask('/__standin/replies', { bearer: null })).json()) as {
    data: readonly ListedRule[]
  }
  expect(data).toMatchObject([{ id: null, moves: [], answered: 1 }])
})

test('trying a prompt shows the reply and why the other rules do not answer, and counts nothing', async () => {
  const { call, rules } = await editing({
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

test('a draft can be tried without being saved, in place of the rule that it changes', async () => {
  const { call, rules, answer } = await editing()
  const [{ id } = { id: '' }] = await rules()
  const tryOut = async (body: object) => (await call<Explained>('POST', '/try', { prompt: 'hello', ...body }))[1]
  expect(await tryOut({ yaml: '- name: new\n  reply: { text: New }' })).toMatchObject({
    source: 'rule "new"',
    reply: 'New',
  })
  const changed = await tryOut({ id, yaml: '- name: greeting\n  when: { user: nothing }\n  reply: { text: x }' })
  expect(changed).toMatchObject({ source: 'rule "bye"', others: [{ reasons: [lacks('user', 'nothing')] }] })
  expect((await call('POST', '/try', { prompt: 'hello', id, yaml: '- reply: {}' }))[0]).toBe(400)
  expect([await answer(), (await rules()).length]).toEqual(['Welcome!', 2])
})

test('with strict on and no matching rule, the error is shown as the app would get it', async () => {
  const { call } = await editing({ 'rules/shop.yaml': shop }, 'replies: rules/*.yaml\nstrict: true')
  const [status, { rule, source, reply }] = await call<Explained>('POST', '/try', { prompt: 'good night' })
  expect([status, rule, source]).toEqual([200, null, null])
  expect(reply).toBe(`${NO_RULE} ${NEAREST} rule "greeting" (rules/shop.yaml:4): ${lacks('user', 'hello')}.`)
})

test('the request of an exchange can be tried as the app sent it', async () => {
  const { call, answer } = await editing()
  await answer()
  expect((await call<Explained>('POST', '/try', { exchange: '1' }))[1]).toMatchObject({ reply: 'Welcome!' })
  expect((await call('POST', '/try', { exchange: '99' }))[0]).toBe(404)
})
