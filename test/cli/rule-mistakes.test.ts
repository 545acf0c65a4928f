import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { openPlatform } from '../../src/platform.js'
import { askChat, folderWith, run, writeInto } from '../command.js'
import { platformOf } from '../keys/edited.js'
import { hello } from '../scene.js'
import { cannotBeRead, didYouMean, mustBe, notInTemplates, notValid, validPattern } from '../sentences.js'

const name = 'fixtures/replies/a.yaml'

/** The error about an invalid rule file. A start prints the same, which `dev.test.ts` tests. */
async function errorAbout(text: string): Promise<string> {
  const { code, stdout, stderr } = await run(['replies', 'check'], { files: { [name]: text } })
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
    `2:5: [0].reply.text: In line 2: ${notInTemplates('usr')}${didYouMean('user')}`,
  ],
])('%j is explained to its author in one sentence', async (text, sentence) => {
  expect(await errorAbout(text)).toBe(`${name}:${sentence}`)
})

test('a byte order mark, as editors on Windows write it, is accepted', async () => {
  const files = { [name]: '\ufeff- reply: { file: story.md }\n', 'fixtures/replies/story.md': '\ufeffOnce' }
  const { platform } = await platformOf({}, files)
  expect(await (await askChat(platform, hello)).json()).toMatchObject({ choices: [{ message: { content: 'Once' } }] })
})

test('files that are not text are reported as such, and their content is not shown', async () => {
  const dir = folderWith({ 'platform.config.yaml': 'replies: [latin.yaml, says.yaml]\n' })
  writeFileSync(path.join(dir, 'latin.yaml'), Buffer.from('- reply: { text: "gr\xfc\xdfe" }\n', 'latin1'))
  writeInto(dir, { 'says.yaml': '- reply: { file: picture.png }\n- reply: { file: pipe }\n' })
  writeFileSync(path.join(dir, 'picture.png'), Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x00, 0xff]))
  execFileSync('mkfifo', [path.join(dir, 'pipe')])
  const { stderr } = await run(['replies', 'check', '--config', path.join(dir, 'platform.config.yaml')])
  expect(stderr.trimEnd().split('\n')).toEqual([
    `latin.yaml: ${cannotBeRead('it is not UTF-8 text')}`,
    `says.yaml:1:12: [0].reply.file: picture.png ${cannotBeRead('it is not UTF-8 text')}`,
    `says.yaml:2:12: [1].reply.file: pipe ${cannotBeRead('it is not a file')}`,
  ])
})

const mayTakeForever = (path: string) => `: ${path}: Matching may take forever: the expression repeats something that`

test('replies check and a start warn of an expression whose matching may take forever', async () => {
  const files = {
    [name]: "- when: { user: '/^(a+)+$/' }\n  reply: { text: x }\n",
    'platform.config.yaml': "recordings:\n  ignore: ['/(\\w+ ?)*!/']\n",
  }
  const rule = `${name}:1:11${mayTakeForever('[0].when.user')}`
  const { code, stdout } = await run(['replies', 'check'], { files: { [name]: files[name] } })
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining(rule) })
  const warnings: string[] = []
  const cwd = folderWith({ ...files, 'platform.config.yaml': `state: memory\n${files['platform.config.yaml']}` })
  const platform = await openPlatform({ cwd, env: {}, warn: sentence => warnings.push(sentence) })
  await platform.stop()
  expect(warnings).toEqual([
    expect.stringContaining(`platform.config.yaml:3:12${mayTakeForever('recordings.ignore[0]')}`),
    expect.stringContaining(rule),
  ])
})
