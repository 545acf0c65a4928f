import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { loadConfig } from '../src/config/load.js'
import { recordingIn } from '../src/recordings/file-text.js'
import { assembledText, ignoreFrom, keyOf } from '../src/recordings/index.js'
import { createReplies, lint, loadRules, magicWords } from '../src/replies/index.js'
import { platformWith } from './scene.js'

const root = path.resolve(import.meta.dirname, '..')
const recipes =
  readFileSync(path.join(root, 'README.md'), 'utf8')
    .split('\n## ')
    .find(part => part.startsWith('Recipes')) ?? ''

/** The recipes of one language, each under the heading that it stands under. */
const recipesIn = (language: string) =>
  recipes.split('\n### ').flatMap(section => {
    const heading = section.split('\n', 1)[0] ?? ''
    const blocks = section.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, 'gms'))
    return [...blocks].map(([, code = '']) => ({ heading, code }))
  })

/** A folder inside the repository, so that the packages which a recipe imports are found as they are in an app. */
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
  const { stdout } = await promisify(execFile)(command, args, { cwd, env: { ...process.env, ...env }, timeout: 35_000 })
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

async function freePort(): Promise<string> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', () => resolve()))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return String(port)
}

const expected: Record<string, RegExp> = {
  curl: /Hello from the platform!|"endpoints":\[/,
  'openai, JavaScript': /^Hello from the platform!\nThirty days\.$/,
  'Tools, JSON and failures': /^Oslo\nfind_person\nRateLimitError 2$/m,
  'Vercel AI SDK': /^Hello from the platform!$/,
  'supabase-js': /^INITIAL_SESSION\nSIGNED_IN\nSIGNED_OUT\nSIGNED_IN\nTOKEN_REFRESHED\nada@example.com\nSIGNED_OUT$/m,
  'From sign-in to a reply': /^sk-local-\w{4}\nHello from the platform!$/m,
  '@supabase/ssr': /^developer@example.com \[ 'sb-127-auth-token' \]$/m,
  'Verifying a user token': /^developer@example.com authenticated$/m,
  'Tokens and keys for tests': /"object":"list".*\{"error":"The token has expired\./s,
  'In a test': /^pong$/m,
  'Record and replay': /^(\{"object":"list".*\}){2}No secrets in 1 file\.\n$/s,
  'In CI': /"ready":true/,
}

test.each(recipesIn('js'))('the recipe "$heading" works as it stands', async ({ heading, code }) => {
  const dir = folder()
  writeFileSync(path.join(dir, 'recipe.mjs'), code)
  const printed = await run(process.execPath, ['recipe.mjs'], await environment(), dir)
  expect(printed).toMatch(expected[heading] as RegExp)
})

test.each(recipesIn('bash'))('the recipe "$heading" works as it stands', async ({ heading, code }) => {
  const dir = folder()
  // What npm puts into node_modules/.bin for whoever has installed it.
  writeFileSync(
    path.join(dir, 'standin'),
    `#!/bin/sh
exec "${process.execPath}" "${root}/dist/cli.js" "$@"
`,
    { mode: 0o755 },
  )
  const env = { ...(await environment()), PORT: await freePort(), PATH: `${dir}:${process.env.PATH}` }
  const printed = await run('bash', ['-euc', code], env, dir)
  expect(printed).toMatch(expected[heading] as RegExp)
})

const readme = readFileSync(path.join(root, 'README.md'), 'utf8')
const rulesChapter = readme.split('\n## ').find(part => part.startsWith('What the model says')) ?? ''

test('the rules in the README are good, and answer what they seem to', async () => {
  const [yaml = ''] = [...rulesChapter.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text]) => text)
  const dir = folder()
  writeFileSync(path.join(dir, 'rules.yaml'), yaml)
  const { rules } = await loadRules({ patterns: ['rules.yaml'], dir, required: true }, 0)
  expect(rules.map(({ title }) => title)).toHaveLength(5)
  expect(lint(rules, ['gpt-4o-mini'])).toEqual([])
  const replies = createReplies({ rules, seed: 0, strict: true, magic: false })
  const messages = [{ role: 'user' as const, content: 'Hello Ada' }]
  expect((await replies.answer({ model: 'gpt-4o-mini', messages })).choices).toEqual([
    { text: 'Hi Ada, you said "Hello Ada"' },
  ])
})

test('the README lists the magic words that there are', () => {
  const listed = [...rulesChapter.matchAll(/^\| `standin:(\S+)` \| (.*) \|$/gm)].map(([, word, meaning]) => ({
    word,
    meaning,
  }))
  expect(listed).toEqual(magicWords.map(({ word, meaning }) => ({ word, meaning })))
})

test('the recording in the README is one, under its own key', () => {
  const chapter = readme.split('\n## ').find(part => part.startsWith('The live platform')) ?? ''
  const [recording = '', options = ''] = [...chapter.matchAll(/^```yaml\n(.*?)^```/gms)].map(([, text]) => text)
  const { request, response } = recordingIn(recording, 'README.md')
  expect(recording).toContain(`key: ${keyOf(request, ignoreFrom([]))}\n`)
  expect(assembledText(response)).toBe('Paris.')
  const dir = folder()
  writeFileSync(path.join(dir, 'platform.config.yaml'), options)
  expect(loadConfig({ cwd: dir }).config.recordings.ignore).toHaveLength(4)
})

test('every recipe that can be run here is run', () => {
  expect(recipesIn('js').map(({ heading }) => heading)).toEqual([
    'openai, JavaScript',
    'Tools, JSON and failures',
    'Vercel AI SDK',
    'supabase-js',
    'From sign-in to a reply',
    '@supabase/ssr',
    'Verifying a user token',
    'In a test',
  ])
  expect(recipesIn('bash').map(({ heading }) => heading)).toEqual([
    'curl',
    'curl',
    'Tokens and keys for tests',
    'Record and replay',
    'In CI',
  ])
})

const testsChapter = readme.split('\n## ').find(part => part.startsWith('In tests')) ?? ''

/** What the tests in the README have before them: a small app that asks the platform. */
const ask = `import OpenAI from 'openai'

const openai = new OpenAI()
const system = { role: 'system', content: 'You are a bot.' }

export async function ask(question) {
  const messages = [system, { role: 'user', content: question }]
  const { choices } = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages })
  return choices[0].message.content
}
`

/** A project with the app, and with these files in its test folder. */
function projectWith(tests: Readonly<Record<string, string>>): string {
  const dir = folder()
  for (const below of ['src', 'test']) mkdirSync(path.join(dir, below))
  writeFileSync(path.join(dir, 'src/ask.js'), ask)
  writeFileSync(path.join(dir, 'vitest.config.mjs'), 'export default {}')
  for (const [name, code] of Object.entries(tests)) writeFileSync(path.join(dir, 'test', name), code)
  return dir
}

test('the tests in the README pass, in files side by side', async () => {
  const [weather = '', colors = ''] = [...testsChapter.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code]) => code)
  const dir = projectWith({ 'weather.test.ts': weather, 'colors.test.ts': colors })
  const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')
  const printed = await run(process.execPath, [vitest, 'run', '--root', dir], { NO_COLOR: '1' }, dir)
  expect(printed).toMatch(/Test Files +2 passed/)
  expect(printed).toMatch(/Tests +4 passed/)
})

test('the test for node:test in the README passes', async () => {
  const [code = ''] = [...testsChapter.matchAll(/^```js\n(.*?)^```/gms)].map(([, code]) => code)
  const dir = projectWith({ 'bot.test.mjs': code })
  const printed = await run(process.execPath, ['--test', '--test-reporter=spec'], {}, dir)
  expect(printed).toMatch(/^ℹ pass 1$/m)
})
