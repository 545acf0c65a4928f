/** An app in a temporary folder, with the built package among its dependencies as npm installs it. */
import { spawn } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import manifest from '../../package.json' with { type: 'json' }
import { type Files, folderWith, forAll, type Until } from '../command.js'
import { filesOf } from './pages.js'

export const root = fileURLToPath(new URL('../..', import.meta.url))
/** Where an app's packages come from, by priority: other versions under `npm run clients`, then the project's own. */
const packageFolders = [...(process.env.CLIENTS ? [process.env.CLIENTS] : []), root]

/** The module that the tests on the pages use: a small app that sends requests to the platform. */
export const asking = `import OpenAI from 'openai'

const openai = new OpenAI()
const system = { role: 'system', content: 'You are a bot.' }

export async function ask(question) {
  const messages = [system, { role: 'user', content: question }]
  const { choices } = await openai.chat.completions.create({ model: 'gpt-4o-mini', messages })
  return choices[0].message.content
}
`

/** The tests with Playwright, those of the documentation among them, and the app that they are for. */
export function playwrightFiles(): Files {
  const folder = path.join(import.meta.dirname, 'playwright')
  const own = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => /\.[jt]s$/.test(name))
  const files = own.map(name => [name, readFileSync(path.join(folder, name), 'utf8')])
  return { ...Object.fromEntries(files), ...filesOf('playwright.md') }
}

export interface App {
  readonly dir: string
  /** Runs a script of one of its packages, or of its own, without the environment of these tests. */
  run(script: string, ...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }>
  /** The same for jest, which needs a flag of Node for ES modules. */
  runJest(...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }>
}

/** Puts Standin into a folder. */
type Install = (folder: string) => Promise<void>

/** Installs what these tests have built, without its types. */
const built: Install = async folder => {
  for (const name of ['dist', 'package.json'])
    cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
}

/** Creates apps that share their packages: copying Standin and linking hundreds of others takes longer than some tests. */
export function appsForAll(install = built): (until?: Until) => Promise<App> {
  const packages = forAll(async until => installedIn(folderWith({}, until), install))
  return async until => appIn(folderWith({}, until), await packages())
}

/** Installs the packages of an app into this folder. */
async function installedIn(dir: string, install: Install): Promise<string> {
  const own = path.join(dir, 'node_modules')
  mkdirSync(own)
  for (const folder of packageFolders) {
    for (const name of packagesIn(folder)) link(path.join(folder, 'node_modules', name), path.join(own, name))
  }
  await install(path.join(own, 'standin'))
  // Whatever version of them the app has.
  for (const name of Object.keys(manifest.dependencies))
    link(path.join(root, 'node_modules', name), path.join(own, 'standin/node_modules', name))
  chmodSync(path.join(own, 'standin/dist/cli.js'), 0o755)
  link('../standin/dist/cli.js', path.join(own, '.bin/standin'))
  return own
}

function appIn(dir: string, packages: string): App {
  cpSync(fileURLToPath(new URL('app', import.meta.url)), dir, { recursive: true })
  const own = path.join(dir, 'node_modules')
  symlinkSync(packages, own)
  return {
    dir,
    run: (script, ...args) => run(dir, existsSync(path.join(own, script)) ? path.join(own, script) : script, args, {}),
    runJest: (...args) =>
      run(dir, path.join(own, 'jest/bin/jest.js'), args, { NODE_OPTIONS: '--experimental-vm-modules' }),
  }
}

/** The names of the packages installed in a folder. */
function packagesIn(folder: string): readonly string[] {
  const modules = path.join(folder, 'node_modules')
  return readdirSync(modules)
    .filter(name => !name.startsWith('.') && name !== 'standin')
    .flatMap(name =>
      name.startsWith('@') ? readdirSync(path.join(modules, name)).map(part => path.join(name, part)) : [name],
    )
}

function link(target: string, at: string): void {
  if (existsSync(at)) return
  mkdirSync(path.dirname(at), { recursive: true })
  symlinkSync(target, at)
}

/** Whether the app has this package. */
export const hasPackage = (name: string): boolean =>
  packageFolders.some(folder => existsSync(path.join(folder, 'node_modules', name)))

function run(cwd: string, script: string, args: readonly string[], env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [script, ...args], {
    cwd,
    env: { PATH: process.env.PATH, NO_COLOR: '1', ...env },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text))
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve({ code, output }))
  })
}
