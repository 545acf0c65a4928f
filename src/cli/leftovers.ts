/** Finds what a killed process has left behind among the recordings. */
import { readdir } from 'node:fs/promises'
import path from 'node:path'

/** Half-written files, relative to the folder, with slashes; those that a living process may still be writing are none. */
export async function leftoversIn(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir, { recursive: true }).catch(() => [])
  const unfinished = names.filter(name => /^\..*\.tmp$/.test(path.basename(name)))
  return unfinished.filter(name => !isBeingWritten(name)).map(name => name.split(path.sep).join('/'))
}

/** Their names end in `.PID-NUMBER.tmp`. */
function isBeingWritten(name: string): boolean {
  const [, pid] = /\.(\d+)-\d+\.tmp$/.exec(name) ?? []
  if (pid === undefined) return false
  try {
    // 0 is no signal: it asks whether the process is there.
    return process.kill(Number(pid), 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
