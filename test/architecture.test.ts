import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { budgets, part, type Source, unusedPlaces, violations, weightOf } from './architecture.js'

const root = path.join(import.meta.dirname, '..')

function realTree(): readonly Source[] {
  const files = readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
  return files
    .filter(file => /\.tsx?$/.test(file))
    .map(file => ({
      file: file.replaceAll(path.sep, '/'),
      text: readFileSync(path.join(root, 'src', file), 'utf8'),
    }))
}

const { dependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { dependencies: object }

/** Violations in planted files; each file gets the opening comment that the rules require. */
const planted = (files: Record<string, string>, installed: readonly string[] = []) =>
  violations(
    Object.entries(files).map(([file, text]) => ({ file, text: `/** Planted. */\n${text}` })),
    installed,
  )

test('the source follows the rules', () => {
  const tree = realTree()
  expect(tree.map(({ file }) => file)).toContain('platform.ts')
  expect(violations(tree, Object.keys(dependencies))).toEqual([])
  expect(unusedPlaces(tree)).toEqual([])
  expect(weightOf(tree, budgets)).toEqual([])
})

test('a file may import lower floors, its own folder and the packages allowed there', () => {
  const files = {
    'core/words.ts': "import { readFile } from 'node:fs/promises'",
    'supabase/tokens.ts': "import { jwtVerify } from 'jose'\nimport { words } from '../core/words.js'",
    'supabase/keys.ts': "import { tokens } from './tokens.js'",
    'cli/dev.ts': "import { openPlatform } from '../platform.js'",
    'platform.ts': "const { keys } = await import('./supabase/keys.js')",
    'cli.ts': "import { dev } from './cli/dev.js'",
  }
  expect(planted(files, ['jose'])).toEqual([])
})

test('internals of Node and of packages are reported', () => {
  const files = {
    'http/a.ts': 'export const isSent = (response: any) => response._header !== null',
    'http/b.ts': 'export const current = ({ _httpMessage: response }: any) => response',
    'http/c.ts': 'export class Request extends IncomingMessage {\n  _dump() {}\n}',
    'http/d.ts': 'Object.setPrototypeOf(request, app.request)',
    'http/e.ts': 'response.write = () => true',
    'mcp/f.ts': 'export const meta = (params: any) => params._meta',
  }
  expect(planted(files)).toEqual([
    'http/a.ts uses _header, which is internal.',
    'http/b.ts uses _httpMessage, which is internal.',
    'http/c.ts uses _dump, which is internal.',
    'http/d.ts uses setPrototypeOf, which is internal.',
    'http/e.ts replaces write of response.',
  ])
})

test('a sideways import is reported', () => {
  expect(planted({ 'keys/keys.ts': "import { load } from '../contract/load.js'" })).toEqual([
    'keys/keys.ts imports ../contract/load.js: sideways, from keys to contract.',
  ])
})

test('an upward import is reported', () => {
  expect(planted({ 'core/words.ts': "import { send } from '../http/send.js'" })).toEqual([
    'core/words.ts imports ../http/send.js: up, from floor 1 to floor 7.',
  ])
})

test('a command that imports an entry point is reported', () => {
  expect(planted({ 'cli/dev.ts': "import '../cli.js'\nimport '../index.js'" })).toEqual([
    'cli/dev.ts imports ../cli.js: sideways, from cli to cli.ts.',
    'cli/dev.ts imports ../index.js: sideways, from cli to index.ts.',
  ])
})

test.each([
  ['type-only', "import type { Config } from '../contract/schema.js'"],
  ['inline type', "import { type Config } from '../contract/schema.js'"],
  ['side-effect', "import '../contract/schema.js'"],
  ['re-exported', "export { configSchema } from '../contract/schema.js'"],
  ['star re-exported', "export * from '../contract/schema.js'"],
  ['dynamic', "export const load = async () => (await import('../contract/schema.js')).configSchema"],
  ['in-type', "export type Config = import('../contract/schema.js').Config"],
  ['required', "import schema = require('../contract/schema.js')"],
])('an import is found when it is %s', (_kind, text) => {
  expect(planted({ 'keys/keys.ts': text })).toEqual([
    'keys/keys.ts imports ../contract/schema.js: sideways, from keys to contract.',
  ])
})

test('imports in comments and strings are ignored', () => {
  const text = "// import '../contract/load.js'\nexport const help = `import { load } from '../contract/load.js'`"
  expect(planted({ 'keys/keys.ts': text })).toEqual([])
})

test('a dynamic import with a computed name is reported', () => {
  expect(planted({ 'keys/keys.ts': 'export const load = (name: string) => import(name)' })).toEqual([
    'keys/keys.ts imports (computed), which no file may import.',
  ])
})

test('an import cycle is reported with every file on it', () => {
  const files = {
    'keys/a.ts': "import { b } from './b.js'",
    'keys/b.ts': "import type { C } from './c.js'",
    'keys/c.ts': "export const a = () => import('./a.js')",
  }
  expect(planted(files)).toEqual(['keys/a.ts imports keys/b.ts imports keys/c.ts imports keys/a.ts: a cycle.'])
})

test('a package import outside the allowed files is reported', () => {
  expect(planted({ 'keys/keys.ts': "import { importJWK } from 'jose'" })).toEqual([
    'keys/keys.ts imports jose, which only supabase/tokens.ts may import.',
  ])
  expect(planted({ 'replies/rules.ts': "import en from '@faker-js/faker/locale/en'" })).toEqual([
    'replies/rules.ts imports @faker-js/faker/locale/en, which only replies/fake.ts may import.',
  ])
})

test('an import of an unlisted package is reported', () => {
  expect(planted({ 'core/words.ts': "import { merge } from 'lodash/fp'\nimport fs from 'fs'" })).toEqual([
    'core/words.ts imports lodash/fp, which no file may import.',
    'core/words.ts imports fs, which no file may import.',
  ])
})

test('a dependency that nothing uses is reported', () => {
  expect(planted({ 'supabase/tokens.ts': "import 'jose'" }, ['jose', 'yaml'])).toEqual([
    'package.json depends on yaml, which is not used.',
  ])
})

test('a place that may import a package, but does not, is reported', () => {
  const sources = [{ file: 'keys/a.ts', text: "/** Planted. */\nimport 'jose'" }]
  expect(unusedPlaces(sources, { jose: ['keys/', 'supabase/tokens.ts'], pg: ['state/'] })).toEqual([
    'supabase/tokens.ts may import jose, but does not.',
    'state/ may import pg, but does not.',
  ])
})

test('an import that bypasses the index of the replies is reported', () => {
  const text = "import { rulesSchema } from '../replies/rules.js'\nimport { createReplies } from '../replies/index.js'"
  expect(planted({ 'supabase/chat.ts': text })).toEqual([
    'supabase/chat.ts imports ../replies/rules.js: only replies/index.ts and replies/operations.ts may be imported from outside.',
  ])
})

test('a file that is on no floor is reported, and so is an import from outside src', () => {
  const text = "import '../attic/old.js'\nimport '../../test/scene.js'"
  expect(planted({ 'core/words.ts': text, 'attic/old.ts': '' })).toEqual([
    'attic/old.ts is on no floor.',
    'core/words.ts imports ../../test/scene.js, which is outside of src.',
  ])
})

test('meaningless file and folder names are reported', () => {
  expect(planted({ 'core/utils.ts': '', 'http/helpers/body.ts': '', 'core/database.ts': '' })).toEqual([
    'core/utils.ts: the name utils.ts says nothing.',
    'http/helpers/body.ts: the name helpers says nothing.',
  ])
})

test.each([
  ['no comment', 'export const a = 1'],
  ['a comment further down', 'export const a = 1\n/** Counts. */'],
  ['a comment of another kind', '// Counts.\nexport const a = 1'],
  ['an empty comment', '/** */\nexport const a = 1'],
  ['a comment that is not a sentence', '/** counting */\nexport const a = 1'],
])('a file that opens with %s is reported', (_kind, text) => {
  expect(violations([{ file: 'core/count.ts', text }], [])).toEqual([
    'core/count.ts does not open with a comment of one sentence.',
  ])
})

test('the opening comment of an executable file follows the shebang', () => {
  expect(violations([{ file: 'cli.ts', text: '#!/usr/bin/env node\n/** Begins. */\n' }], [])).toEqual([])
})

/** Needless weight in planted files; each file opens with this comment. */
const weighed = (files: Record<string, string>, comment = 'Planted.') =>
  weightOf(Object.entries(files).map(([file, text]) => ({ file, text: `/** ${comment} */\n${text}` })))

test('two exported types with the same name are reported, whatever their kind', () => {
  const files = { 'auth/a.ts': 'export interface Reply {}', 'replies/b.ts': 'export type Reply = string' }
  expect(weighed(files)).toEqual(['The type Reply is declared in auth/a.ts and replies/b.ts.'])
  expect(
    weighed({ ...files, 'replies/b.ts': "type Reply = string\nexport type { Reply as Other } from './c.js'" }),
  ).toEqual([])
})

test('a file in core that only one folder uses is reported', () => {
  const files = { 'core/words.ts': '', 'http/send.ts': "import '../core/words.js'" }
  expect(weighed(files)).toEqual(['core/words.ts is used by http alone.'])
  expect(weighed({ ...files, 'auth/a.ts': "import type {} from '../core/words.js'" })).toEqual([])
  expect(weighed({ 'core/words.ts': '' })).toEqual(['core/words.ts is used by no folder.'])
})

test('platform.ts and its folder count as one user of core', () => {
  const text = "import type {} from '../core/words.js'"
  const files = { 'core/words.ts': '', 'platform.ts': text.replace('..', '.'), 'platform/app.ts': text }
  expect(weighed(files)).toEqual(['core/words.ts is used by platform alone.'])
})

test('a twentieth file in core is reported', () => {
  const names = Array.from({ length: 20 }, (_, i) => `core/word${i}.ts`)
  const using = (names: readonly string[]) => ({
    ...Object.fromEntries(names.map(name => [name, ''])),
    'http/send.ts': names.map(name => `import '../${name}'`).join('\n'),
    'supabase/a.ts': names.map(name => `import '../${name}'`).join('\n'),
  })
  expect(weighed(using(names))).toEqual(['core/ has 20 files; at most 19.'])
  expect(weighed(using(names.slice(1)))).toEqual([])
})

test('a short file that only its neighbour imports is reported, unless its comment says why it is separate', () => {
  const files = { 'http/body.ts': '', 'http/send.ts': "import './body.js'" }
  const [report] = weighed(files)
  expect(report).toContain('http/body.ts is short, and only http/send.ts imports it.')
  expect(weighed({ ...files, 'http/body.ts': '\n'.repeat(40).replaceAll('\n', 'work()\n') })).toEqual([])
  expect(weighed({ ...files, 'auth/a.ts': "import '../http/body.js'" })).toEqual([])
  expect(weighed(files, 'Reads bodies. A separate file: it is loaded by itself.')).toEqual([])
})

test('a folder with more lines than its budget is reported, and every folder has a budget', () => {
  const sources = [
    { file: 'keys/a.ts', text: 'a\nb\n' },
    { file: 'keys/b.ts', text: 'c\n' },
  ]
  expect(weightOf(sources, { keys: 2 })).toContain('keys/ has 3 lines, and its budget is 2.')
  expect(weightOf(sources, { keys: 3 }).join()).not.toContain('budget')
  const folders = realTree().flatMap(({ file }) => (file.includes('/') ? [part(file)] : []))
  expect(Object.keys(budgets).sort()).toEqual([...new Set(folders)].sort())
})

test('a function of more than 60 lines is reported, unless the comment above it says why', () => {
  const functionOf = (lines: number) => `function all() {\n${'  work()\n'.repeat(lines - 2)}}`
  expect(weighed({ 'http/send.ts': functionOf(60) })).toEqual([])
  const sentence = 'http/send.ts:2 is a function of 61 lines; say above it "Long because …", or split it.'
  expect(weighed({ 'http/send.ts': functionOf(61) })).toEqual([sentence])
  expect(weighed({ 'http/send.ts': `export const send = {\n  a: ${functionOf(61)}\n}` })).toHaveLength(1)
  const reason = '/** Sends. Long because each line is one step of the same list. */'
  expect(weighed({ 'http/send.ts': `${reason}\n${functionOf(61)}` })).toEqual([])
})
