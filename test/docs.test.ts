import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import type { FormSchema } from '../src/check/form-schema.js'
import { flagsOfAll } from '../src/cli/command.js'
import { findCommand } from '../src/cli/commands.js'
import { recordingIn, recordingText } from '../src/recordings/file-text.js'
import { createReplies, loadRules, neverAnswering } from '../src/replies/index.js'
import { start } from './command.js'
import { loadConfig } from './configuration.js'
import { freePort } from './free-port.js'
import { asking } from './package/apps.js'
import { platformWith } from './scene.js'
import { schemaFiles } from './schemas.js'

const root = path.resolve(import.meta.dirname, '..')
const page = (name: string) => readFileSync(path.join(root, name), 'utf8')
const pages = ['README.md', 'CONTRIBUTING.md', ...readdirSync(path.join(root, 'docs')).map(name => `docs/${name}`)]

/** The code blocks of a page in one language, each with its heading. */
const blocksOf = (name: string, language: string) =>
  page(name)
    .split(/\n#{2,3} /)
    .flatMap(section => {
      const heading = section.split('\n', 1)[0] ?? ''
      const blocks = section.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))
      return [...blocks].map(([, code = '']) => ({ heading, code }))
    })

/** All recipes that run by themselves. */
const recipesIn = (language: string) =>
  ['README.md', 'docs/getting-started.md'].flatMap(name => blocksOf(name, language))

/** A folder inside the repository, so that a recipe finds its packages as an app does. */
function folder(): string {
  const dir = path.join(root, '.standin', `recipe-${process.pid}-${Math.random().toString(36).slice(2)}`)
  mkdirSync(dir, { recursive: true })
  onTestFinished(() => rmSync(dir, { recursive: true }))
  return dir
}

async function run(
  command: string,
  args: readonly string[],
  env: Record<string, string>,
  cwd: string,
): Promise<string> {
  const { stdout } = await promisify(execFile)(command, args, {
    cwd,
    env: { ...process.env, ...env },
    timeout: 100_000,
  })
  return stdout
}

/** The environment that the banner tells people to copy. */
async function environment(): Promise<Record<string, string>> {
  const { url, authUrl, apiKey, anonKey, serviceKey } = await platformWith({
    rules: [
      { when: { user: 'hello' }, reply: { text: 'Hello from the platform!' } },
      { when: { user: 'refund' }, reply: { text: 'Thirty days.' } },
    ],
  })
  return {
    PLATFORM_BASE_URL: url,
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: apiKey,
    SUPABASE_URL: authUrl,
    SUPABASE_ANON_KEY: anonKey,
    SUPABASE_SERVICE_ROLE_KEY: serviceKey,
    STANDIN_STATE: 'memory',
  }
}

const expected: Record<string, RegExp> = {
  openai: /^Thirty days\.$/,
  'Tools, JSON and failures': /^Oslo\nfind_person\nRateLimitError 2$/m,
  'AI SDK': /^Thirty days\.$/,
  'supabase-js': /^ada@example.com$/m,
  'Verifying a user token': /^developer@example.com authenticated$/m,
  'Tokens and keys for tests': /"object":"list".*\{"error":"The token has expired\./s,
  'In scripts': /^pong$/m,
  'Beside the tests': /is ready\.$/m,
}

const scripts = [
  ...recipesIn('js'),
  ...blocksOf('docs/testing.md', 'js').filter(({ heading }) => heading === 'In scripts'),
]
const shells = [...recipesIn('bash'), ...blocksOf('docs/testing-another-process.md', 'bash')]

test.each(scripts)('the recipe "$heading" works as it stands', async ({ heading, code }) => {
  const dir = folder()
  writeFileSync(path.join(dir, 'recipe.mjs'), code)
  const printed = await run(process.execPath, ['recipe.mjs'], await environment(), dir)
  expect(printed).toMatch(expected[heading] as RegExp)
})

test.each(shells)('the recipe "$heading" works as it stands', async ({ heading, code }) => {
  const dir = folder()
  // What npm puts into node_modules/.bin on installation.
  writeFileSync(
    path.join(dir, 'standin'),
    `#!/bin/sh
exec "${process.execPath}" "${root}/dist/cli.js" "$@"
`,
    { mode: 0o755 },
  )
  const env = { ...(await environment()), PORT: String(await freePort()), PATH: `${dir}:${process.env.PATH}` }
  const printed = await run('bash', ['-euc', code], env, dir)
  expect(printed).toMatch(expected[heading] as RegExp)
})

/** The number of rules in a block, and their reply to "Hello Ada". */
async function greetingOf(yaml: string) {
  const dir = folder()
  writeFileSync(path.join(dir, 'rules.yaml'), yaml)
  const { rules } = await loadRules({ patterns: ['rules.yaml'], dir, required: true }, 0)
  expect(neverAnswering(rules, ['gpt-4o-mini'])).toEqual([])
  const replies = createReplies({ rules, seed: 0, strict: true })
  const messages = [{ role: 'user' as const, content: 'Hello Ada' }]
  const { choices } = await replies.answer({ model: 'gpt-4o-mini', messages })
  return { count: rules.length, said: choices[0]?.text }
}

test('the rules in the README are valid and reply as they should', async () => {
  const [rules] = blocksOf('README.md', 'yaml')
  expect(await greetingOf(rules?.code ?? '')).toEqual({ count: 3, said: 'Hi Ada!' })
})

test('the first rules on the page about rules are valid and reply as they should', async () => {
  const [rules] = blocksOf('docs/rules-and-replies.md', 'yaml')
  expect(await greetingOf(rules?.code ?? '')).toEqual({ count: 5, said: 'Hi Ada, you said "Hello Ada"' })
})

/** The names in the first column of each table, on any page, whose first heading this is. */
const tablesBelow = (heading: string): readonly ReadonlySet<string>[] =>
  pages
    .flatMap(name => page(name).match(/^\|.*\n\| ---.*(?:\n\|.*)+/gm) ?? [])
    .map(table => table.split('\n').map(row => row.split(' | ', 1)[0]?.replace(/^\| /, '') ?? ''))
    .filter(([first]) => first === heading)
    .map(([, , ...rows]) => new Set(rows.flatMap(row => [...row.matchAll(/`(\w+)/g)].map(([, name = '']) => name))))

const { $defs: formsOfRules = {}, items: ruleForms }: FormSchema = JSON.parse(
  (await schemaFiles())['dist/replies.schema.json'] ?? '',
)

type Fields = Readonly<Record<string, FormSchema>>

/** The fields of a part of the schema of rules, which may be null, or stand below `$defs`. */
function fieldsIn({ $ref = '', anyOf: [first] = [], properties }: FormSchema = {}): Fields {
  return properties ?? fieldsIn(first ?? formsOfRules[path.basename($ref)])
}

const [ofRule = {}, ofPath = {}] = ruleForms?.anyOf?.map(fieldsIn) ?? []

test.each([
  ['`rule`', [ofRule]],
  ['condition', [fieldsIn(ofPath.when), fieldsIn(ofRule.when)]],
  ['`reply`', [fieldsIn(ofPath.reply), fieldsIn(ofRule.reply)]],
  ['fault', [fieldsIn(fieldsIn(ofRule.reply).fault)]],
  ['`pace`', [fieldsIn(ofRule.pace)]],
])('the tables "%s" list every field, each on one page', (heading, forms) => {
  expect(tablesBelow(heading)).toEqual(forms.map(properties => new Set(Object.keys(properties))))
})

test('the example on the page about recordings is as Standin writes it', () => {
  const [recording, options] = blocksOf('docs/recordings.md', 'yaml').map(({ code }) => code)
  expect(recordingText(recordingIn(recording ?? '', 'recordings.md'))).toBe(recording)
  const dir = folder()
  writeFileSync(path.join(dir, 'platform.config.yaml'), options ?? '')
  expect(loadConfig({ cwd: dir }).config.recordings.ignore).toHaveLength(5)
})

test.each(pages)('the commands on %s and their flags exist', async name => {
  const lines = blocksOf(name, '(?:sh|bash)').flatMap(({ code }) => code.replaceAll('\\\n', ' ').split('\n'))
  for (const line of lines.filter(line => line.startsWith('standin '))) {
    const [own = ''] = line.split(/ -- | [#|<&]/)
    const words = own.trim().split(/ +/).slice(1)
    const found = findCommand(words[0]?.startsWith('-') ? [] : words)
    if (!found) expect.fail(`${name} has an unknown command: ${line}`)
    const known = { ...flagsOfAll, ...(await found.load()).flags }
    const flags = words.filter(word => word.startsWith('--')).map(word => word.slice(2).split('=')[0] ?? '')
    expect(
      flags.filter(flag => !Object.hasOwn(known, flag)),
      line,
    ).toEqual([])
  }
})

test('every recipe that can run here is tested', () => {
  const headings = [...scripts, ...shells].map(({ heading }) => heading)
  expect(headings.toSorted()).toEqual(Object.keys(expected).toSorted())
})

test('the first request in the README gets an answer in pieces', async () => {
  const [code = ''] = blocksOf('README.md', 'sh')
    .map(({ code }) => code)
    .filter(code => code.startsWith('curl'))
  const { PLATFORM_BASE_URL: url = '' } = await environment()
  const printed = await run('bash', ['-euc', code.replace('http://127.0.0.1:4100', url)], {}, folder())
  expect(printed).toMatch(/^data: .*Hello.*data: .*\ndata: \[DONE\]\n+$/s)
})

test('the README can be read in one sitting', () => {
  expect(page('README.md').split(/\s+/).length).toBeLessThanOrEqual(1300)
})

test('the troubleshooting page names only error codes that there are', () => {
  const rows = sources(file => file !== 'supabase/errors.ts').matchAll(
    /(?:refusal|unauthorized)\(\s*(?:\d+,\s*)?'(\w+)'|PlatformError\(\s*\d+,\s*'(\w+)'/g,
  )
  const codes = [...new Set([...rows].map(([, row, made]) => row ?? made))]
  const named = page('docs/troubleshooting.md').matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)
  const gone = [...named].map(([, code = '']) => code).filter(isNotIn(codes))
  expect(codes.length).toBeGreaterThan(80)
  expect(gone).toEqual([])
})

test("the log's advice is about error codes that exist", () => {
  const [, table = ''] = page('src/journal/advice.ts').split(/^const adviceByCode = new Map/m)
  const advised = [...table.matchAll(/^ +\[?\n? *'([a-z_]+)',/gm)].map(([, code]) => code)
  const written = sources(file => file !== 'journal/advice.ts')
  expect(advised.length).toBeGreaterThan(30)
  expect(advised.filter(code => !written.includes(`'${code}'`))).toEqual([])
})

const isNotIn = (list: readonly (string | undefined)[]) => (one: string) => !list.includes(one)

/** The text of the files in src that `isMeant` returns true for. */
const sources = (isMeant = (_file: string) => true) =>
  readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter(file => file.endsWith('.ts') && isMeant(file.replaceAll(path.sep, '/')))
    .map(file => page(`src/${file}`))
    .join('\n')

test('every word of the glossary is a type', () => {
  const words = [...page('CONTRIBUTING.md').matchAll(/^\| `([A-Z]\w+)` \|/gm)].map(([, word]) => word)
  const code = sources()
  expect(words.length).toBeGreaterThan(20)
  expect(words.length).toBeLessThanOrEqual(30)
  expect(words.filter(word => !new RegExp(`^(?:export )?(?:interface|type|class) ${word}\\b`, 'm').test(code))).toEqual(
    [],
  )
})

/** The anchor that code hosts generate for a heading. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

test.each(pages)('no link on %s is dead', name => {
  const dead = [...page(name).matchAll(/\]\((?!https?:)([^)#\s]*)(?:#([^)\s]+))?\)/g)].filter(([, file, anchor]) => {
    const target = path.join(path.dirname(name), file || path.basename(name))
    if (!existsSync(path.join(root, target))) return true
    const headings = [...page(target).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))
    return anchor !== undefined && !headings.includes(anchor)
  })
  expect(dead.map(([link]) => link)).toEqual([])
})

test('the node:test example on the page about testing passes', async () => {
  const code = blocksOf('docs/testing.md', 'js').find(({ heading }) => heading === 'With other runners')?.code ?? ''
  const dir = folder()
  for (const below of ['src', 'test']) mkdirSync(path.join(dir, below))
  writeFileSync(path.join(dir, 'src/ask.js'), asking)
  writeFileSync(path.join(dir, 'test/bot.test.mjs'), code)
  const printed = await run(process.execPath, ['--test', '--test-reporter=spec'], {}, dir)
  expect(printed).toMatch(/^ℹ pass 1$/m)
})

test('the README shows the banner that a fresh clone prints', async () => {
  const { stdout } = start(['dev', '--port', '0'], { files: { 'platform.config.yaml': page('platform.config.yaml') } })
  await stdout.next('To copy into .env')
  const bannerOf = (text: string) => {
    const lines = text.split('\n')
    return lines
      .slice(0, lines.findIndex(line => line.includes('To copy into .env')) + 1)
      .filter(line => line !== '')
      .map(line => line.replace(/:\d{4,5}\b/, ':PORT').replace(/(?<=Anon key +.{50}).*/, ''))
  }
  const shown = /^```\n( +Standin .*?)^```/ms.exec(page('README.md'))?.[1] ?? ''
  expect(bannerOf(stdout.text)).toEqual(bannerOf(shown))
})
