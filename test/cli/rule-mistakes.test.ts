import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { NOT_UTF8 } from '../../src/check/problem.js'
import { openPlatform } from '../../src/platform.js'
import { askChat, folderWith, run } from '../command.js'
import { platformOf } from '../keys/edited.js'
import { hello } from '../scene.js'
import { cannotBeRead, didYouMean, mustBe, notInTemplates, notValid, RAW_HINT, validPattern } from '../sentences.js'

const name = 'fixtures/replies/a.yaml'

/** The error about an invalid rule file. A start prints the same, which `dev.test.ts` tests. */
async function errorAbout(text: string): Promise<string> {
  const { code, stdout, stderr } = await run(['config', 'check'], { files: { [name]: text } })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).not.toMatch(/\n +at /)
  return stderr.trimEnd()
}

const noWord = "A key must be a word, not a map or a list. A text that begins with { or [ must be quoted: '{{user}}'."

test.each([
  ['- reply: { text: {{user}} }', `1:19: ${noWord}`],
  [
    '- when: { user: "/^hi (\\w+)/" }\n  reply: { text: x }',
    `1:24: ${notValid('YAML')}: Invalid escape sequence. Inside single quotes a backslash is an ordinary character, as in '/\\d+/'.`,
  ],
  [
    '- reply:\n    text: Hi: there',
    `2:11: ${notValid('YAML')}: Nested mappings are not allowed in compact mappings. A text that contains a colon must be quoted.`,
  ],
  [
    "- reply: { text: 'it's' }",
    `1:22: ${notValid('YAML')}: Unexpected scalar at node end. Double a quote inside single quotes, and indent lines with spaces.`,
  ],
  [
    "- when: { user: '/(/' }\n  reply: { text: x }",
    mustBe('1:11: [0].when.user', validPattern('unterminated group'), '/(/'),
  ],
  [
    '- when: { user: /usr/bin }\n  reply: { text: x }',
    mustBe(
      '1:11: [0].when.user',
      validPattern('"bin" are not flags; write a text that begins with a slash as { contains: … }'),
      '/usr/bin',
    ),
  ],
  [
    '- when: { header: [x-tenant] }\n  reply: { text: x }',
    mustBe('1:11: [0].when.header', 'a map of names and values', [1]),
  ],
  ['- reply: { file: nowhere.md }', `1:12: [0].reply.file: nowhere.md ${cannotBeRead()}`],
  [
    '- reply:\n    text: |\n      Hello,\n      {{usr}}',
    `2:5: [0].reply.text: In line 2: ${notInTemplates('usr')}${didYouMean('user')} ${RAW_HINT}`,
  ],
])('%j is explained to its author in one sentence', async (text, sentence) => {
  expect(await errorAbout(text)).toBe(`${name}:${sentence}`)
})

test('a byte order mark, as editors on Windows write it, is accepted', async () => {
  const files = { [name]: '\ufeff- reply: { file: story.md }\n', 'fixtures/replies/story.md': '\ufeffOnce' }
  const { platform } = await platformOf({}, files)
  expect(await (await askChat(platform, hello)).json()).toMatchObject({ choices: [{ message: { content: 'Once' } }] })
})

test('a text file in another encoding is called so, whoever reads it, and its content is not shown', async () => {
  const rules = { 'rules.yaml': '- reply: { file: story.md }\n- reply: { file: picture.png }\n', 'story.md': 'x' }
  const openapi = "openapi: 3.1.0\ninfo: { title: t, version: '1' }\npaths: { /x: { $ref: paths.yaml } }\n"
  const files = { ...rules, 'api.yaml': openapi, 'paths.yaml': '{}', '.env': 'A=é', 'rows.json': '[]', 'a.har': '{}' }
  const config = 'replies: rules.yaml\nopenapi: api.yaml\nresources: { /rows: { data: rows.json } }\n'
  const complaints = async (name: string, bytes: Buffer) => {
    const dir = folderWith({ 'platform.config.yaml': config, 'picture.png': '', ...files })
    writeFileSync(path.join(dir, name), bytes)
    const line = name.endsWith('.har') ? ['import', path.join(dir, name)] : ['config', 'check']
    const { code, stderr } = await run([...line, '--config', path.join(dir, 'platform.config.yaml')])
    return { code, stderr: stderr.replace(/\S*standin-\w+\//g, '').trimEnd() }
  }
  const utf16 = (text: string) => Buffer.from(text, 'utf16le')
  const latin1 = (text: string) => Buffer.from(`${text} # \xfc`, 'latin1')
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00, 0xff])
  for (const [name, bytes, where = name] of [
    ['platform.config.yaml', utf16(`\ufeff${config}`)],
    ['platform.config.yaml', utf16(config)],
    ['.env', latin1('A=b')],
    ['rules.yaml', latin1(rules['rules.yaml'])],
    ['story.md', utf16('Once'), 'rules.yaml:1:12: [0].reply.file: story.md'],
    ['picture.png', png, 'rules.yaml:2:12: [1].reply.file: picture.png'],
    ['rows.json', utf16('[]')],
    ['api.yaml', latin1(openapi)],
    ['paths.yaml', latin1('{}'), 'api.yaml:3:14: paths["/x"].$ref "paths.yaml"'],
    ['a.har', latin1('{}')],
  ] as const) {
    const isNamed = where === name ? `${name}: ${NOT_UTF8}` : `${where} ${NOT_UTF8}`
    expect.soft(await complaints(name, bytes)).toEqual({ code: 2, stderr: isNamed })
  }
})

test('a file that a rule names may not be a pipe, which might never end', async () => {
  const dir = folderWith({ 'platform.config.yaml': 'replies: says.yaml\n', 'says.yaml': '- reply: { file: pipe }\n' })
  execFileSync('mkfifo', [path.join(dir, 'pipe')])
  const { stderr } = await run(['config', 'check', '--config', path.join(dir, 'platform.config.yaml')])
  expect(stderr).toBe(`says.yaml:1:12: [0].reply.file: pipe ${cannotBeRead('it is not a file')}\n`)
})

const mayTakeForever = (path: string) => `: ${path}: Matching may take forever: the expression repeats something that`

test('config check and a start warn of an expression whose matching may take forever', async () => {
  const files = {
    [name]: "- when: { user: '/^(a+)+$/' }\n  reply: { text: x }\n",
    'platform.config.yaml': "recordings:\n  ignore: ['/(\\w+ ?)*!/']\n",
  }
  const rule = `${name}:1:11${mayTakeForever('[0].when.user')}`
  const { code, stderr } = await run(['config', 'check'], { files: { [name]: files[name] } })
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(rule) })
  const warnings: string[] = []
  const cwd = folderWith({ ...files, 'platform.config.yaml': `state: memory\n${files['platform.config.yaml']}` })
  const platform = await openPlatform({ cwd, env: {}, warn: sentence => warnings.push(sentence) })
  await platform.stop()
  expect(warnings).toEqual([
    expect.stringContaining(`platform.config.yaml:3:12${mayTakeForever('recordings.ignore[0]')}`),
    expect.stringContaining(rule),
  ])
})
