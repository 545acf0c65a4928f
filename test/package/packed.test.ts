/** What a stranger gets: the packed package in an empty folder. Nothing is downloaded. */
import { cpSync, existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { startPlatform } from '../../src/index.js'
import { askChat, type Files, folderWith, forAll, type Until, writeInto } from '../command.js'
import { freePort } from '../free-port.js'
import { appsForAll, hasPackage, playwrightFiles, root } from './apps.js'
import { pack, runLine } from './packed.js'
import { commandsOn, page, remote } from './pages.js'
import { packagesNamed } from './type-imports.js'

const packed = forAll(pack)
const appFolder = appsForAll(async folder => (await packed()).install(folder))
const typedApp = forAll(async until => {
  const app = await appFolder(until)
  writeInto(app.dir, { ...remote, ...playwrightFiles() })
  return app
})
const packages = forAll(async until => path.join((await appFolder(until)).dir, 'node_modules'))
const installed = async () => path.join(await packages(), 'standin')

/** A folder with nothing but the packages, and these files. */
async function emptyFolder(files: Files = {}, until: Until = onTestFinished): Promise<string> {
  const dir = folderWith(files, until)
  symlinkSync(await packages(), path.join(dir, 'node_modules'))
  return dir
}

const live = forAll(async until => {
  const platform = await startPlatform({ users: [{ email: 'ada@example.com', password: 'correct horse' }] })
  until(() => platform.stop())
  return platform
})

const pages = [
  'README.md',
  'skills/standin/SKILL.md',
  ...readdirSync(path.join(root, 'docs')).map(name => `docs/${name}`),
]

const notRun = new Map([
  [
    'docker run -p 127.0.0.1:4100:4100 -v ./fixtures:/app/fixtures standin',
    'needs Docker, and the image of this project',
  ],
  [
    'standin exec --mode replay --strict-unused --receipt receipt-1.json -- npx vitest run --shard=1/4',
    'needs tests of vitest',
  ],
  ['standin receipt --whole receipt-*.json', 'needs what the shards have written'],
])

/** Exit codes other than 0, or `null` for commands that end by the signal that they are stopped with. */
const codes = new Map([
  ['npx standin', null],
  // The small app takes a cut answer for a whole one.
  ['standin exec --adversary -- npm test', 1],
])

const isServer = (line: string) => /^(?:npx )?standin(?:$| -| record$| replay$)/.test(line)

/** Waits until a Standin answers. */
const ready = (port: string) =>
  vi.waitFor(async () => expect((await fetch(`http://127.0.0.1:${port}/__standin/ready`)).ok).toBe(true), 60_000)

/** The environment of a command. A second Standin is the live platform, and the running one that some commands talk to. */
async function environment() {
  const { url, apiKey, anonKey } = await live()
  const upstream = { BASE_URL: url, API_KEY: apiKey, ANON_KEY: anonKey }
  const named = Object.fromEntries(Object.entries(upstream).map(([name, value]) => [`STANDIN_UPSTREAM_${name}`, value]))
  return { ...named, PLATFORM_BASE_URL: url, PORT: new URL(url).port, KEY: apiKey, ANON: anonKey }
}

/** An app without an SDK, which would take longer to load than Standin. */
const asking = `const { OPENAI_BASE_URL, OPENAI_API_KEY } = process.env
const headers = { authorization: 'Bearer ' + OPENAI_API_KEY, 'content-type': 'application/json' }

export async function ask(content) {
  const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content }] })
  const response = await fetch(OPENAI_BASE_URL + '/chat/completions', { method: 'POST', headers, body })
  if (!response.ok) throw new Error('status ' + response.status)
  return (await response.json()).choices[0].message.content
}
`

/** A project that has run `standin init`, and has recordings. */
const recorded = forAll(async until => {
  const dir = await emptyFolder(
    {
      'package.json': '{ "type": "module", "scripts": { "test": "node test.js" } }',
      'src/ask.js': asking,
      'test.js': "import { ask } from './src/ask.js'\nconsole.log(await ask('hello'))\n",
      'password.txt': 'correct horse\n',
    },
    until,
  )
  const env = await environment()
  const { code, output } = await runLine('standin init && standin exec --mode record -- npm test', { dir, env })
  expect(code, output).toBe(0)
  return dir
})

async function runAsShown(line: string, dir: string) {
  const env = await environment()
  if (isServer(line)) {
    const port = String(await freePort())
    const own = { ...env, PORT: port, STANDIN_PORT: port }
    return runLine(line.replace(/ &$/, ''), { dir, env: own }, () => ready(port))
  }
  const shown = line.replaceAll(/https:\/\/(platform|auth)\.example/g, env.PLATFORM_BASE_URL)
  return runLine(shown, { dir, env })
}

/** The commands of each page that are on no page before it. */
const newOn = new Map(
  pages.map((name, i) => {
    const before = new Set([...notRun.keys(), ...pages.slice(0, i).flatMap(commandsOn)])
    return [name, commandsOn(name).filter(line => !before.has(line))]
  }),
)

test.each([...newOn.keys()].filter(name => newOn.get(name)?.length))('the commands on %s run', async name => {
  const dir = folderWith()
  cpSync(await recorded(), dir, { recursive: true, verbatimSymlinks: true })
  for (const line of newOn.get(name) ?? []) {
    const { code, output } = await runAsShown(line, dir)
    expect(code, `${line}\n${output}`).toBe(codes.has(line) ? codes.get(line) : 0)
    expect(output, line).not.toMatch(/^ +at .*:\d+:\d+\)?$|\(node:|Warning:/m)
  }
})

test('npx standin init && standin in an empty folder answers', async () => {
  const dir = await emptyFolder()
  const port = String(await freePort())
  const env = { STANDIN_PORT: port, npm_config_offline: 'true' }
  const { apiKey } = await live()
  let answered: Response | undefined
  const { output } = await runLine('npx standin init && exec standin', { dir, env }, async () => {
    await ready(port)
    const messages = [{ role: 'user', content: 'hello' }]
    answered = await askChat({ url: `http://127.0.0.1:${port}`, apiKey }, { model: 'gpt-4o-mini', messages })
  })
  expect(answered?.status, output).toBe(200)
  expect(output).not.toMatch(/warn/i)
})

test('packing leaves package.json as it was, and the package has no script that an installation runs', async () => {
  const { before, after } = await packed()
  expect(after).toBe(before)
  const scriptsIn = (text: string) => Object.keys(JSON.parse(text).scripts)
  expect(scriptsIn(before)).toContain('prepare')
  const scripts = scriptsIn(readFileSync(path.join(await installed(), 'package.json'), 'utf8'))
  expect(scripts.filter(name => /^(pre|post)?install$|^prepare$/.test(name))).toEqual([])
})

test('every relative link in the package leads to a file of the package', async () => {
  const folder = await installed()
  const written = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    name => name.endsWith('.md') && !name.includes('node_modules'),
  )
  expect(written).toEqual(expect.arrayContaining(pages))
  const dead = written.flatMap(name => {
    const text = readFileSync(path.join(folder, name), 'utf8')
    expect(text).not.toContain('standin.dev')
    return [...text.matchAll(/\]\((?!https?:)([^)#\s]+)|(?:src|srcset)="([^"]+)"/g)]
      .map(([, link, image]) => path.join(path.dirname(name), link ?? image ?? ''))
      .filter(file => !existsSync(path.join(folder, file)))
      .map(file => `${name}: ${file}`)
  })
  expect(dead).toEqual([])
})

const bytesIn = (folder: string): number =>
  readdirSync(folder, { withFileTypes: true })
    .filter(({ name }) => name !== 'node_modules')
    .reduce((sum, one) => {
      const at = path.join(folder, one.name)
      return sum + (one.isDirectory() ? bytesIn(at) : statSync(at).size)
    }, 0)

test('the package and its dependencies take at most 24 MB', async () => {
  const locked: Record<string, Record<string, unknown>> = JSON.parse(page('package-lock.json')).packages
  const folders = Object.keys(locked).filter(name => {
    const { dev, peer, optional, devOptional } = locked[name] ?? {}
    return name !== '' && !dev && !peer && !optional && !devOptional
  })
  expect(folders).toContain('node_modules/express')
  const sizes = folders.map(name => bytesIn(path.join(root, name)))
  expect(sizes.reduce((a, b) => a + b, bytesIn(await installed()))).toBeLessThan(24_000_000)
})

test('an app whose tests use the package and the files of the documentation type-check', async () => {
  const { dir, run } = await typedApp()
  const { include } = JSON.parse(readFileSync(path.join(dir, 'tsconfig.json'), 'utf8'))
  // That package comes with jest, which only `npm run clients` installs, with vitest 4: its assertions extend those of jest, so that
  // nobody can declare matchers for both in one program.
  const documented = ['remote', '*.e2e.ts', 'playwright.config.ts']
  const programs = hasPackage('@jest/globals')
    ? [[...include.filter((name: string) => !name.startsWith('jest')), ...documented], ['jest']]
    : [[...include, ...documented]]
  for (const [i, names] of programs.entries()) {
    writeFileSync(path.join(dir, `tsconfig.${i}.json`), JSON.stringify({ extends: './tsconfig.json', include: names }))
    // Several threads would each check the types of the packages.
    const { output } = await run('typescript/bin/tsc', '-p', `tsconfig.${i}.json`, '--singleThreaded')
    // We cannot fix conflicts between the types of two other packages.
    const ours = /^([\w.]+\(|\w+\/|.*\/node_modules\/(standin|vitest|@vitest\/\w+)\/).*error TS/
    expect(output.split('\n').filter(line => ours.test(line))).toEqual([])
    expect(output).not.toMatch(/^error /m)
  }
})

test('the types only import dependencies and peer dependencies of the package', async () => {
  const folder = await installed()
  const { dependencies, peerDependencies } = JSON.parse(readFileSync(path.join(folder, 'package.json'), 'utf8'))
  const entries = ['index', 'vitest', 'jest', 'playwright', 'test-runner'].map(name => `${name}.d.ts`)
  const has = new Set(Object.keys({ ...dependencies, ...peerDependencies }))
  // Express comes without its types.
  has.delete('express')
  expect([...packagesNamed(path.join(folder, 'dist/types'), entries)].filter(name => !has.has(name))).toEqual([])
})
