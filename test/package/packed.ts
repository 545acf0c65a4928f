/** The package as `npm pack` makes it, and the commands of a user who has installed it. */
import { execFile, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import { folderWith, type Until } from '../command.js'
import { root } from './apps.js'

const runFile = promisify(execFile)

/** What a clone does not have. */
const made = new Set(['node_modules', 'dist', '.git', '.standin', 'coverage'])

/** Packs a copy of the project: packing builds, and other tests use what is built. */
export async function pack(until: Until) {
  const project = folderWith({}, until)
  for (const name of readdirSync(root).filter(name => !made.has(name))) {
    cpSync(path.join(root, name), path.join(project, name), { recursive: true })
  }
  symlinkSync(path.join(root, 'node_modules'), path.join(project, 'node_modules'))
  const manifest = () => readFileSync(path.join(project, 'package.json'), 'utf8')
  // CI has just built what would be built here again.
  if (process.env.NO_BUILD === '1') {
    cpSync(path.join(root, 'dist'), path.join(project, 'dist'), { recursive: true })
    await runFile('npm', ['pkg', 'set', 'scripts.build=true'], { cwd: project })
  }
  const before = manifest()
  await runFile('npm', ['pack', '--offline', '--silent'], { cwd: project })
  const tarball = readdirSync(project).find(name => name.endsWith('.tgz')) ?? ''
  return {
    before,
    after: manifest(),
    async install(folder: string): Promise<void> {
      mkdirSync(folder, { recursive: true })
      await runFile('tar', ['-xzf', path.join(project, tarball), '--strip-components=1', '-C', folder])
    },
  }
}

/** Runs a line of a shell in an app. `untilReady` is for commands that go on running: they are stopped, as by Ctrl-C, when it is fulfilled. */
export async function runLine(
  line: string,
  { dir, env }: { readonly dir: string; readonly env: Readonly<Record<string, string>> },
  untilReady?: (output: () => string) => Promise<unknown>,
) {
  const PATH = [path.join(dir, 'node_modules/.bin'), path.dirname(process.execPath), process.env.PATH].join(':')
  const shell = spawn('bash', ['-euc', line], {
    cwd: dir,
    env: { ...env, PATH },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [shell.stdout, shell.stderr]) stream.setEncoding('utf8').on('data', text => (output += text))
  const closed = new Promise<number | null>(resolve => shell.once('close', resolve))
  if (untilReady) {
    await Promise.race([untilReady(() => output), closed])
    if (shell.exitCode === null) process.kill(-(shell.pid as number), 'SIGINT')
  }
  return { code: await closed, output }
}
