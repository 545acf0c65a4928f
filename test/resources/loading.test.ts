/** Problems with resources in a configuration are reported with file and line. */
import path from 'node:path'
import { expect, test } from 'vitest'
import { ProblemsError } from '../../src/check/problem.js'
import { folderWith } from '../command.js'
import { platformWith } from '../scene.js'
import { AN_OBJECT, cannotBeRead, mustBe } from '../sentences.js'

async function problemsOf(written: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const config = path.join(folderWith(written), 'platform.config.yaml')
  const platform = platformWith({ config, state: 'memory' })
  const error = await platform.then(
    () => new Error('It has started.'),
    error => error,
  )
  if (!(error instanceof ProblemsError)) throw error
  return error.message.split('\n').map(line => line.replace(/^\S+\/(?=platform\.config)/, ''))
}

const resources = (yaml: string) => ({ 'platform.config.yaml': `state: memory\nresources:\n${yaml}` })

test.each([
  ['  /a/*: {}', 'platform.config.yaml:3:3: /a/* must end with the name of the collection, such as /builder/projects.'],
  [
    '  /a/:id: {}',
    'platform.config.yaml:3:3: /a/:id must end with the name of the collection, such as /builder/projects.',
  ],
  [
    '  /health: {}',
    'platform.config.yaml:3:3: /health is a documented endpoint of the platform, which cannot be replaced.',
  ],
  ['  /dashboard/x: {}', "platform.config.yaml:3:3: /dashboard/x is below /dashboard, which is Standin's own."],
  ['  /a/:x/b: {}\n  /a/{y}/b: {}', 'platform.config.yaml:4:3: /a/{y}/b matches the same paths as /a/:x/b.'],
  ['  a: {}', /a path such as \/builder\/projects/],
  ['  /a: { dat: x.yaml }', /\.dat .*"data"\?/],
  ['  /a: { data: missing.yaml }', `missing.yaml: ${cannotBeRead()}`],
  ['  /a: { schema: { properties: { a: { pattern: "(" } } } }', /The schema cannot be used: the pattern/],
  ['  /a: { only: [lst] }', /only\[0\] .*list, get, create, update, replace, delete, not "lst"/],
])('%j is reported', async (yaml, expected) => {
  const [first] = await problemsOf(resources(yaml))
  if (typeof expected === 'string') expect(first).toBe(expected)
  else expect(first).toMatch(expected)
})

test('problems in rows, OpenAPI documents and replies are reported together', async () => {
  const problems = await problemsOf({
    'platform.config.yaml': 'resources: { /a: { data: rows.yaml } }\nopenapi: missing.yaml\nreplies: replies.yaml\n',
    'rows.yaml': '- just text\n',
    'replies.yaml': 'reply: x\n',
  })
  const files = problems.map(problem => problem.split(':', 1)[0])
  expect([...new Set(files)].toSorted()).toEqual(['platform.config.yaml', 'replies.yaml', 'rows.yaml'])
})

const rows = `- id: 1
  name: Atlas
- id: 2
  name: 5
- id: 1
- name: Nameless
- just text
`

test.each([
  ['rows.yaml', rows, [4, 5, 6, 7]],
  [
    'rows.json',
    JSON.stringify([{ id: 1, name: 'Atlas' }, { id: 2, name: 5 }, { id: 1 }, {}, 'just text'], null, 1),
    [8, 10, 13, 14],
  ],
])('problems of rows in %s are reported with row and line', async (file, text, lines) => {
  const problems = await problemsOf({
    ...resources(`  /a: { data: ${file}, schema: schema.json }`),
    [file]: text,
    'schema.json': JSON.stringify({ properties: { name: { type: 'string' } } }),
  })
  expect(problems.map(line => line.replace(/^(\S+?:\d+):\d+:/, '$1'))).toEqual([
    mustBe(`${file}:${lines[0]} Row 2: name`, 'a string', 5),
    `${file}:${lines[1]} Row 3 has the same id as row 1: 1.`,
    `${file}:${lines[2]} Row 4: id must be a string or a number that identifies the row.`,
    mustBe(`${file}:${lines[3]} Row 5: it`, AN_OBJECT),
  ])
})

test('rows that belong to users must name an existing user', async () => {
  const problems = await problemsOf({
    ...resources('  /a: { data: rows.yaml, owner: user }'),
    'rows.yaml': '- id: 1\n  user_id: someone@example.com\n- id: 2\n- id: 3\n  user_id: null\n',
  })
  expect(problems).toEqual([
    'rows.yaml:2:3: Row 1: user_id: someone@example.com is not the email address of a user in the option users.',
    'rows.yaml:3:3: Row 2: user_id must be the email address or the id of a user, or null for a row that only the service key sees.',
  ])
})
