/**
 * `npm run clients [-- --write] [--report DIR] [--packages DIR] [--install]`: runs the tests of clients and test runners with the versions before the
 * newest ones, which are in `test/clients/versions/`, and prints a list of all. `--write` writes the list into docs/getting-started.md.
 * `--packages` is the folder to install them into and keep them in; `--install` only installs them, without tests.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const root = fileURLToPath(new URL('../..', import.meta.url))
const previous = path.join(root, 'test/clients/versions')
const page = path.join(root, 'docs/getting-started.md')

/** Packages in the list, with the names that readers know. */
const shown = new Map([
  ['openai', 'openai'],
  ['ai', 'ai (Vercel AI SDK)'],
  ['@ai-sdk/openai', '@ai-sdk/openai'],
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

/** The exact version of a package that a folder requires, or the installed one. */
function versionOf(folder: string, name: string): string | undefined {
  const { dependencies = {}, devDependencies = {} } = readJson(path.join(folder, 'package.json'))
  const wanted: string | undefined = { ...dependencies, ...devDependencies }[name]
  if (wanted === undefined || /^\d/.test(wanted)) return wanted
  return readJson(path.join(folder, 'package-lock.json')).packages[`node_modules/${name}`].version
}

/** The versions of a package that are tested. */
const versionsOf = (name: string): readonly string[] =>
  [root, previous].flatMap(folder => versionOf(folder, name) ?? [])

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

/** With `--report DIR`, writes a JSON report besides printing. */
const reporters = (report: string | undefined): readonly string[] =>
  report === undefined
    ? []
    : ['--reporter=default', '--reporter=json', `--outputFile.json=${path.join(report, 'clients.json')}`]

const run = (file: string, args: readonly string[], cwd: string, env = process.env) =>
  spawnSync(file, args, { cwd, stdio: 'inherit', env }).status === 0

const npmInstall = ['install', '--no-package-lock', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']

/** Installs the packages into a copy of the folder, unless they are there already. Returns whether they are installed. */
function install(copy: string): boolean {
  // npm writes this file last.
  if (existsSync(path.join(copy, 'node_modules/.package-lock.json'))) return true
  cpSync(previous, copy, { recursive: true })
  return run('npm', npmInstall, copy)
}

/** Runs the tests with the packages in the copy. Returns whether all of them passed. */
function test(copy: string, report: string | undefined): boolean {
  const { tests } = readJson(path.join(previous, 'package.json'))
  const args = [vitest, 'run', ...tests, ...reporters(report)]
  return run(process.execPath, args, root, { ...process.env, CLIENTS: copy })
}

function main(): void {
  const { values } = parseArgs({
    options: {
      write: { type: 'boolean', default: false },
      report: { type: 'string' },
      packages: { type: 'string' },
      install: { type: 'boolean', default: false },
    },
  })
  const copy = path.resolve(values.packages ?? mkdtempSync(path.join(tmpdir(), 'standin-clients-')))
  try {
    const passes = install(copy) && (values.install || test(copy, values.report))
    if (!passes) process.exitCode = 1
    else if (!values.install) console.log(`\n${clientsList()}\n`)
    if (passes && values.write)
      writeFileSync(page, readFileSync(page, 'utf8').replace(/^- @ai-sdk\/mcp.*?\n\n/ms, `${clientsList()}\n\n`))
  } finally {
    if (values.packages === undefined) rmSync(copy, { recursive: true, force: true })
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) main()
