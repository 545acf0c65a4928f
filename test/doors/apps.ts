/** An app in a folder of its own, with the built package among its dependencies as npm puts it there. */
import { spawn } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { folderWith } from '../command.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const modules = path.join(root, 'node_modules')

export interface App {
  readonly dir: string
  /** Runs a script of one of its packages, or of its own, with nothing of the environment of these tests. */
  run(script: string, ...args: readonly string[]): Promise<{ readonly code: number | null; readonly output: string }>
}

export function appFolder(): App {
  const dir = folderWith()
  cpSync(fileURLToPath(new URL('app', import.meta.url)), dir, { recursive: true })
  const own = path.join(dir, 'node_modules')
  mkdirSync(own)
  for (const name of readdirSync(modules)) {
    if (!name.startsWith('.') && name !== 'standin') symlinkSync(path.join(modules, name), path.join(own, name))
  }
  for (const name of ['dist', 'package.json']) {
    cpSync(path.join(root, name), path.join(own, 'standin', name), { recursive: true })
  }
  return {
    dir,
    run: (script, ...args) => run(dir, existsSync(path.join(own, script)) ? path.join(own, script) : script, args),
  }
}

function run(cwd: string, script: string, args: readonly string[]) {
  const child = spawn(process.execPath, [script, ...args], { cwd, env: { PATH: process.env.PATH, NO_COLOR: '1' } })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', text => (output += text))
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', code => resolve({ code, output }))
  })
}

/** Writes the types of the package into an app's copy of it, as the build does. */
export const writeTypes = ({ run, dir }: App) =>
  run(
    'typescript/bin/tsc',
    ...['-p', path.join(root, 'tsconfig.build.json'), '--outDir', path.join(dir, 'node_modules/standin/dist/types')],
  )
