import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'
import { startPlatform } from '../../src/index.js'
import { type Files, folderWith, runIn } from '../command.js'
import { runHere } from '../run-here.js'
import { hello } from '../scene.js'
import { schemaFiles } from '../schemas.js'

async function initIn(files: Files) {
  const { dir, ended } = runIn(['init'], { files })
  const end = await ended
  return { ...end, dir, file: (name: string) => readFileSync(path.join(dir, name), 'utf8') }
}

test('a project gets a configuration that starts, a rule that answers, an ignored folder, and scripts', async () => {
  const { code, stdout, dir, file } = await initIn({
    'package.json': '{\n    "name": "app",\n    "scripts": { "test": "vitest" }\n}\n',
    '.gitignore': 'node_modules',
  })
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: [
      'platform.config.yaml was written.',
      'fixtures/replies/rules.yaml was written.',
      '.gitignore: added .standin/',
      'package.json: added the scripts standin and test:standin',
      'Start with: npx standin',
      '',
    ].join('\n'),
  })
  expect(file('.gitignore')).toBe('node_modules\n.standin/\n')
  expect(file('package.json')).toContain('\n    "scripts": {\n        "test": "vitest",\n        "standin": "standin",')
  // That of the repository is the same, except that it points into the package.
  const own = readFileSync(new URL('../../platform.config.yaml', import.meta.url), 'utf8')
  expect(file('platform.config.yaml').replaceAll('./node_modules/standin/', './')).toBe(own)
  const schemas = ['platform.config.yaml', 'fixtures/replies/rules.yaml'].map(name => {
    const [, schema = ''] = /\$schema=(\S+)/.exec(file(name)) ?? []
    return path.join(path.dirname(name), schema)
  })
  expect(schemas).toEqual(Object.keys(await schemaFiles()).map(name => `node_modules/standin/${name}`))

  const platform = await startPlatform({ config: path.join(dir, 'platform.config.yaml'), port: 0, state: 'memory' })
  try {
    const answer = await fetch(`${platform.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${platform.apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...hello, model: 'gpt-4o' }),
    })
    const { choices } = (await answer.json()) as { choices: { message: { content: string } }[] }
    expect(choices[0]?.message.content).toBe('Hello! How can I help?')
  } finally {
    await platform.stop()
  }
})

test('in a workspace, the files name the package where it is: in a folder above', async () => {
  const dir = folderWith({ 'node_modules/standin/package.json': '{}', 'apps/web/package.json': '{}' })
  await runHere(['init'], { dir: path.join(dir, 'apps/web'), env: {}, input: undefined })
  const written = (name: string) => readFileSync(path.join(dir, 'apps/web', name), 'utf8')
  expect(written('platform.config.yaml')).toContain('$schema=../../node_modules/standin/dist/config.schema.json\n')
  expect(written('fixtures/replies/rules.yaml')).toContain('$schema=../../../../node_modules/standin/dist/replies.s')
})

test('rules in .yml files answer after init as they did before', async () => {
  const dir = folderWith({ 'fixtures/replies/more.yml': '- { when: { user: open }, reply: { text: We are open. } }\n' })
  const standin = async (...args: string[]) => (await runHere(args, { dir, env: {}, input: undefined })).stdout
  const before = await standin('replies', 'try', 'are you open')
  expect(before).toContain('We are open.')
  await standin('init')
  expect(await standin('replies', 'try', 'are you open')).toBe(before)
})

test('Windows line ends stay', async () => {
  const files = { 'package.json': '{\r\n  "name": "app"\r\n}\r\n', '.gitignore': 'dist\r\n' }
  const { file } = await initIn(files)
  expect(file('.gitignore')).toBe('dist\r\n.standin/\r\n')
  expect(file('package.json').replaceAll('\r\n', '')).not.toContain('\n')
})

test('a second time, everything is there and nothing changes', async () => {
  const { dir, file } = await initIn({ 'package.json': '{ "scripts": {} }' })
  const names = ['platform.config.yaml', 'fixtures/replies/rules.yaml', '.gitignore', 'package.json']
  const before = names.map(file)
  const { code, stdout } = await runHere(['init'], { dir, env: { PATH: process.env.PATH }, input: undefined })
  expect(code).toBe(0)
  expect(stdout.match(/was left as it is/g)).toHaveLength(4)
  expect(names.map(file)).toEqual(before)
})

test('files that are there are kept, and scripts of the same name', async () => {
  const files = {
    'platform.config.yml': 'port: 4200\n',
    'fixtures/replies/mine.yaml': '[]\n',
    'package.json': '{ "scripts": { "standin": "standin --port 4200", "test:standin": "mine" } }',
  }
  const { file, stdout, dir } = await initIn(files)
  for (const [name, text] of Object.entries(files)) expect(file(name)).toBe(text)
  expect(stdout).toContain('platform.config.yml is there, and was left as it is.')
  expect(existsSync(path.join(dir, 'platform.config.yaml'))).toBe(false)
})

test.each([
  ['{ "scripts": ', 'package.json:1:14: This is not valid JSON.\n'],
  ['[]', 'package.json must be an object, and so must its scripts. Nothing was written.\n'],
  ['{ "scripts": "none" }', 'package.json must be an object, and so must its scripts. Nothing was written.\n'],
])('with the package.json %s nothing is written', async (text, stderr) => {
  const { code, stderr: said, dir } = await initIn({ 'package.json': text })
  expect(said).toBe(stderr)
  expect(code).toBeGreaterThan(0)
  expect(existsSync(path.join(dir, 'platform.config.yaml'))).toBe(false)
})

test('init lists what the app still uses in place of Standin, and how to change it', async () => {
  const { stdout } = await initIn({
    '.env.local': 'NEXT_PUBLIC_SUPABASE_URL=https://abc.supabase.co\nOPENAI_API_KEY=sk-live\n',
  })
  expect(stdout).toContain(
    'Still at https://abc.supabase.co: NEXT_PUBLIC_SUPABASE_URL (.env.local)\n→ To set those in .env.local: standin env --write .env.local\n',
  )
})
