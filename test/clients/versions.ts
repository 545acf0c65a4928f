/**
 * `npm run clients [-- --write] [--report DIR] [--packages DIR] [--install] [NAME…]`: runs the tests of clients and test runners with the versions in
 * `test/clients/versions/`, or only the named ones, as far as this Node allows, and prints a list of them. `--write` writes the list into
 * docs/getting-started.md. `--packages` is the folder to install them into and keep them in; `--install` only installs them, without tests.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const sets = path.join(root, 'test/clients/versions')
const page = path.join(root, 'docs/getting-started.md')

/** Packages in the list, with the names that readers know. */
const shown = new Map([
  ['openai', 'openai'],
  ['openai-v5', 'openai'],
  ['openai-v4', 'openai'],
  ['ai', 'ai (Vercel AI SDK)'],
  ['@ai-sdk/openai-compatible', '@ai-sdk/openai-compatible'],
  ['@langchain/openai', '@langchain/openai'],
  ['@ai-sdk/mcp', '@ai-sdk/mcp'],
  ['@langchain/mcp-adapters', '@langchain/mcp-adapters'],
  ['@modelcontextprotocol/client', '@modelcontextprotocol/client'],
  ['@modelcontextprotocol/inspector-cli', '@modelcontextprotocol/inspector-cli'],
  ['@modelcontextprotocol/sdk', '@modelcontextprotocol/sdk'],
  ['@supabase/supabase-js', '@supabase/supabase-js'],
  ['@supabase/ssr', '@supabase/ssr'],
  ['vitest', 'vitest'],
  ['jest', 'jest'],
])

const vitest = path.join(root, 'node_modules/vitest/vitest.mjs')

const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))

/** The oldest Node that a folder's packages support, as `[major, minor]`. */
function oldestNode(folder: string): readonly [major: number, minor: number] {
  const [, major = '', minor = ''] =
    /^>=(\d+)\.(\d+)/.exec(readJson(path.join(folder, 'package.json')).engines.node) ?? []
  return [Number(major), Number(minor)]
}

/** Whether a Node of this version is new enough for a folder's packages. */
function isFor(folder: string, version = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const [needed, neededMinor] = oldestNode(folder)
  return major > needed || (major === needed && minor >= neededMinor)
}

/** The exact version of a package that a folder requires, or the installed one. */
function versionOf(folder: string, name: string): string | undefined {
  const { dependencies = {}, devDependencies = {} } = readJson(path.join(folder, 'package.json'))
  const wanted: string | undefined = { ...dependencies, ...devDependencies }[name]
  if (wanted === undefined || /^\d/.test(wanted)) return wanted
  return readJson(path.join(folder, 'package-lock.json')).packages[`node_modules/${name}`].version
}

const folders = () => readdirSync(sets).map(name => path.join(sets, name))

/** The versions of a package that are tested. */
const versionsOf = (name: string): readonly string[] =>
  [root, ...folders()].flatMap(folder => versionOf(folder, name) ?? [])

const byVersion = (a: string, b: string) => a.localeCompare(b, 'en', { numeric: true })

/** The list in docs/getting-started.md. */
export function clientsList(): string {
  const titles = [...new Set(shown.values())].sort()
  const lines = titles.map(title => {
    const names = [...shown].filter(([, of]) => of === title).map(([name]) => name)
    const versions = [...new Set(names.flatMap(versionsOf))].sort(byVersion)
    return `- ${title}: ${versions.join(', ')}`
  })
  return lines.join('\n')
}

/** With `--report DIR`, writes a JSON report per folder besides printing. */
function reporters(name: string, report: string | undefined): readonly string[] {
  return report === undefined
    ? []
    : ['--reporter=default', '--reporter=json', `--outputFile.json=${path.join(report, `clients-${name}.json`)}`]
}

const run = (file: string, args: readonly string[], cwd: string, env = process.env) =>
  spawnSync(file, args, { cwd, stdio: 'inherit', env }).status === 0

const npmInstall = ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** Installs a folder's packages into a copy of it, unless they are there already. Returns whether they are installed. */
function install(folder: string, copy: string): boolean {
  // npm writes this file last.
  if (existsSync(path.join(copy, 'node_modules/.package-lock.json'))) return true
  cpSync(folder, copy, { recursive: true })
  return run('npm', npmInstall, copy)
}

/** Runs the tests of a folder with the packages in its copy. Returns whether all of them passed. */
function test(folder: string, copy: string, report: string | undefined): boolean {
  const { tests } = readJson(path.join(folder, 'package.json'))
  const args = [vitest, 'run', ...tests, ...reporters(path.basename(folder), report)]
  return run(process.execPath, args, root, { ...process.env, CLIENTS: copy })
}

function main(): void {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      write: { type: 'boolean', default: false },
      report: { type: 'string' },
      packages: { type: 'string' },
      install: { type: 'boolean', default: false },
    },
  })
  const wanted = folders().filter(folder => positionals.length === 0 || positionals.includes(path.basename(folder)))
  const parent = path.resolve(values.packages ?? mkdtempSync(path.join(tmpdir(), 'standin-clients-')))
  const copyOf = (folder: string) => path.join(parent, path.basename(folder))
  try {
    if (!values.install) return testAll(wanted, copyOf, values)
    const missing = wanted.filter(folder => !install(folder, copyOf(folder)))
    if (missing.length > 0) process.exitCode = 1
  } finally {
    if (values.packages === undefined) rmSync(parent, { recursive: true, force: true })
  }
}

interface Options {
  readonly write: boolean
  readonly report?: string
}

function testAll(wanted: readonly string[], copyOf: (folder: string) => string, { write, report }: Options): void {
  const able = wanted.filter(folder => isFor(folder))
  const left = wanted.filter(folder => !able.includes(folder))
  for (const folder of left)
    console.log(
      `${path.basename(folder)}: needs Node ${oldestNode(folder).join('.')}, this is ${process.versions.node}.`,
    )
  const passes = (folder: string) => install(folder, copyOf(folder)) && test(folder, copyOf(folder), report)
  const failed = able.filter(folder => !passes(folder))
  if (failed.length > 0) {
    console.error(`Failed with: ${failed.map(folder => path.basename(folder)).join(', ')}.`)
    process.exitCode = 1
    return
  }
  console.log(`\n${clientsList()}\n`)
  if (write) writeFileSync(page, readFileSync(page, 'utf8').replace(/^- @ai-sdk\/mcp.*?\n\n/ms, `${clientsList()}\n\n`))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
