/** The name of the test that a request belongs to: the same in each run, on each machine. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import type { Exchange } from '../core/exchange.js'
import { memoized } from '../core/work.js'

/** The folder to which the files of tests are relative: that of the nearest package.json above the recordings, else above the test. */
export function projectOf(dir: string, testFile = dir): string {
  return packageAbove(dir) ?? packageAbove(path.dirname(testFile)) ?? process.cwd()
}

const packageAbove = memoized((dir: string): string | undefined => {
  for (let at = dir; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, 'package.json'))) return at
    if (path.dirname(at) === at) return undefined
  }
})

/** Between the parts of a name. */
const PART = ' > '

/** `test/orders.test.ts > orders > finds one`: the test that runs in this process, or its scope; empty for none. `dir` has the recordings. */
export function testNameOf({ scope, running }: Pick<Exchange, 'scope' | 'running'>, dir: string): string {
  if (!running) return scope
  const file = path.relative(projectOf(dir, running.file), running.file).replaceAll('\\', '/')
  return [file, scope || running.name].filter(Boolean).join(PART)
}

/** Whether the file of a test, which begins its name, does not exist any more. False if the name says nothing of a file. */
export function isGone(test: string, dir: string): boolean {
  const [file = ''] = test.split(PART, 1)
  return /[^/]\.[cm]?[jt]sx?$/.test(file) && !existsSync(path.join(projectOf(dir), file))
}
