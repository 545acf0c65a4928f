// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} in plain text is what the tests are about

import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import type { ChatRequest } from '../../src/chat/request.js'
import { ProblemsError } from '../../src/check/problem.js'
import { readYaml } from '../../src/check/yaml.js'
import { sourceInWords } from '../../src/core/reply.js'
import { ChatInput } from '../../src/replies/chat/input.js'
import { replyAt } from '../../src/replies/engine.js'
import { createReplies, type Generation, type LoadedRules, loadRules } from '../../src/replies/index.js'
import { type Files, folderWith } from '../command.js'
import { schemaFiles } from '../schemas.js'
import { AN_OBJECT, isUnknown, mustBe, notValid, unquoted, validPattern } from '../sentences.js'
import { textOf } from './replies.js'

const root = new URL('../../', import.meta.url)

/** Reads the rules of these files, by default of all in `replies/`. */
const load = (files: Files, patterns: readonly string[] = ['replies/*.yaml']) =>
  loadRules({ patterns, dir: folderWith(files), required: true }, 0)

/** The texts of the rules in their order. */
const textsOf = async (files: Files, patterns?: readonly string[]) =>
  (await saidBy(await load(files, patterns))).map(textOf)

/** The replies of the rules, one by one. */
const saidBy = ({ rules }: LoadedRules) =>
  Promise.all(rules.map(rule => replyAt(rule, 1).generate(new ChatInput(hello), 1) as Promise<Generation>))
const hello: ChatRequest = { model: 'm', messages: [{ role: 'user', content: 'hello' }] }

/** The mistakes, as they would be printed. */
const complaintsAbout = (files: Files, patterns?: readonly string[]) =>
  load(files, patterns).then(
    () => [],
    error => {
      if (error instanceof ProblemsError) return error.message.split('\n')
      throw error
    },
  )

const saying = (...texts: string[]) => texts.map(text => `- reply: { text: ${text} }\n`).join('')

test('a rule takes over the keys of another with a YAML merge key', async () => {
  const files = {
    'replies/a.yaml': '- &one { name: one, when: { user: hello }, reply: { text: said } }\n- { <<: *one, name: two }\n',
  }
  expect(await textsOf(files)).toEqual(['said', 'said'])
})

test('rules are ordered by pattern, then by file name, then by position in the file', async () => {
  const files = {
    'replies/b.yaml': saying('b1', 'b2'),
    'replies/a.yaml': saying('a1', 'a2'),
    'more/c.yaml': saying('c1'),
    'replies/notes.txt': 'not a reply file',
  }
  expect(await textsOf(files)).toEqual(['a1', 'a2', 'b1', 'b2'])
  expect(await textsOf(files, ['more/c.yaml', 'replies/*.yaml'])).toEqual(['c1', 'a1', 'a2', 'b1', 'b2'])
  expect(await textsOf(files, ['replies/b.yaml', 'replies/a.yaml'])).toEqual(['b1', 'b2', 'a1', 'a2'])
  expect(await textsOf(files, ['**/*.yaml'])).toEqual(['c1', 'a1', 'a2', 'b1', 'b2'])
})

test('a rule without a name is named after its file and line', async () => {
  const files = { 'replies/a.yaml': `# a comment\n\n${saying('x')}- name: last\n  reply: { text: y }\n` }
  const sources = (await saidBy(await load(files))).map(({ answeredBy }) => sourceInWords(answeredBy))
  expect(sources).toEqual(['rule "replies/a.yaml:3"', 'rule "last"'])
})

test.each(['', '# - reply: { text: x }\n', '[]'])('a file without rules is fine: %j', async text => {
  expect(await textsOf({ 'replies/a.yaml': text, 'replies/b.yaml': saying('b') })).toEqual(['b'])
})

test('prompts full of foreign syntax are plain text', async () => {
  const said = 'a: { b } ${HOME} $${HOME} <%= x %> [^/]+ \\d #not a comment & *star !bang "q" \'q\' | > @ `'
  const text = `- when:\n    user: ${JSON.stringify(said)}\n  reply:\n    text: |-\n      ${said}\n`
  const replies = createReplies({ ...(await load({ 'replies/a.yaml': text })), seed: 0, strict: false })
  const ask = (content: string) => replies.answer({ model: 'm', messages: [{ role: 'user', content }] })
  expect(textOf(await ask(`Please: ${said}`))).toBe(said)
  expect(sourceInWords((await ask('a: { c }')).answeredBy)).toBe('canned reply')
})

test('rules of a file can share a reply with a YAML anchor', async () => {
  const text = '- when: { user: a }\n  reply: &r { text: same }\n- when: { user: b }\n  reply: *r\n'
  expect(await textsOf({ 'replies/a.yaml': text })).toEqual(['same', 'same'])
})

test.each([
  ['- reply: { txt: x }', [`1:12: [0].reply.txt ${isUnknown('text')}`]],
  ['- reply: { text: 42 }', [unquoted(mustBe('1:12: [0].reply.text', 'a string', 42))]],
  ['- reply: hello', [mustBe('1:3: [0].reply', AN_OBJECT, 'hello')]],
  ['reply: { text: x }', [mustBe('1:1: the file', 'a list of rules', {})]],
  [
    '- when: { user: "" }\n  reply: { text: x }',
    [mustBe('1:11: [0].when.user', 'text, or /a regular expression/', '')],
  ],
  [
    '- reply: { text: x }\n- when:\n    user: /[a-/\n  reply: { text: x }',
    [mustBe('3:5: [1].when.user', validPattern('unterminated character class'), '/[a-/')],
  ],
  [
    '- when: { user: /a/xyz }\n  reply: { text: x }',
    [
      mustBe(
        '1:11: [0].when.user',
        validPattern('"xyz" are not flags; write a text that begins with a slash as { contains: … }'),
        '/a/xyz',
      ),
    ],
  ],
  [
    '- when: { usr: a, modle: b }\n  reply: { text: x }',
    [`1:11: [0].when.usr ${isUnknown('user')}`, `1:19: [0].when.modle ${isUnknown('model')}`],
  ],
  [
    '- reply: { text: x }\n  reply: { text: y }',
    [`2:3: ${notValid('YAML')}: The key "reply" appears twice, first on line 1. Remove one of them.`],
  ],
])('%j is an error with its place', async (text, expected) => {
  const complaints = await complaintsAbout({ 'replies/a.yaml': text })
  expect(complaints).toEqual(expected.map(complaint => `replies/a.yaml:${complaint}`))
})

test('mistakes in several files are all reported at once', async () => {
  const files = {
    'replies/a.yaml': '- rply: { text: x }\n- 3',
    'replies/b.yaml': saying('fine'),
    'replies/c.yaml': '- reply: [',
  }
  expect(await complaintsAbout(files, ['replies/*.yaml', 'missing.yaml', 'none/*.yaml'])).toEqual([
    expect.stringMatching(/^replies\/a\.yaml:1:3: .*"reply"\?$/),
    mustBe('replies/a.yaml:2:3: [1]', AN_OBJECT, 3),
    expect.stringMatching(/^replies\/c\.yaml:\d+:\d+: .*YAML: /),
    'missing.yaml: cannot be read (ENOENT).',
    expect.stringMatching(/^replies: No file matches "none\/\*\.yaml" in /),
  ])
})

test('a folder that exists is a folder, and a file is a file, whatever characters their names have', async () => {
  const files = {
    'app/(chat)/replies/a.yaml': saying('route group'),
    '[team] (ai)/{c++}/b.yml': saying('brackets'),
    '[team] (ai)/!x/(y)/c.yaml': saying('after a wildcard'),
    'what?/*.yaml': saying('a file'),
  }
  const patterns = ['app/(chat)/replies', '[team] (ai)/{c++}/*.yml', '[team] (ai)/*/(y)/c.yaml', 'what?/*.yaml']
  expect(await textsOf(files, patterns)).toEqual(['route group', 'brackets', 'after a wildcard', 'a file'])
})

test('a pattern that matches nothing is an error, unless it is only the default', async () => {
  const dir = folderWith()
  const patterns = ['none/*.yaml']
  await expect(loadRules({ patterns, dir, required: true }, 0)).rejects.toThrow(
    new ProblemsError([{ origin: 'replies', sentence: `No file matches "none/*.yaml" in ${dir}.` }]),
  )
  expect((await loadRules({ patterns, dir, required: false }, 0)).rules).toEqual([])
})

test.each([
  ['Hello!', 'rule "greeting"', /teach me what to say/],
  ['How do I get a refund?', 'rule "refund policy"', /within thirty days/],
  ['Please write me a short\nstory', 'rule "story"', /^Once upon a time .* by day\.\n/],
  ['Say hello', 'canned reply', /./],
])('the examples in fixtures answer %j with the %s', async (content, source, text) => {
  const { rules } = await loadRules({ patterns: ['fixtures/replies/*.yaml'], dir: root.pathname, required: true }, 0)
  const reply = await createReplies({ rules, seed: 0, strict: false }).answer({
    model: 'm',
    messages: [{ role: 'user', content }],
  })
  expect(sourceInWords(reply.answeredBy)).toBe(source)
  expect(textOf(reply)).toMatch(text)
})

const rulesJsonSchema = (await schemaFiles())['dist/replies.schema.json'] ?? ''

// Compiled once: that takes half a second.
let validate: ValidateFunction | undefined

/** What an editor with our JSON Schema complains about in a YAML file of rules. */
function complaintsOfEditor(yaml: string): readonly unknown[] {
  validate ??= new Ajv2020({ strict: false, allErrors: true }).compile(JSON.parse(rulesJsonSchema))
  return validate(readYaml(yaml, 'a.yaml').value) ? [] : (validate.errors ?? [])
}

test('an editor finds nothing wrong with the rules in fixtures and on the page about rules', () => {
  const read = (name: string) => readFileSync(new URL(name, root), 'utf8')
  expect(complaintsOfEditor(read('fixtures/replies/examples.yaml'))).toEqual([])
  const chapter = read('docs/rules-and-replies.md')
  expect(complaintsOfEditor(chapter.match(/^```yaml\n(.*?)^```/ms)?.[1] ?? '- 3')).toEqual([])
})

test.each(['- rply: { text: x }', '- when: { usr: a }\n  reply: { text: x }', '- reply: { fault: { statis: 500 } }'])(
  'an editor marks %j as wrong',
  yaml => expect(complaintsOfEditor(yaml)).not.toEqual([]),
)
