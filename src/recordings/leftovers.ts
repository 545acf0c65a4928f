/** Finds what a killed process has left behind: half-written recordings, and answers that were too long for the memory. */
import { readdir, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'

/** How the folders of spilled answers begin (spill.ts); the process that made one stands behind it. */
export const SPILL = 'standin-spill-'

/** Removes what is left of processes that have gone; what cannot be removed stays. */
export async function removeLeftovers(dir: string): Promise<void> {
  const names = await readdir(tmpdir()).catch(() => [])
  const spilled = await ofTheDead(tmpdir(), names, new RegExp(`^${SPILL}(\\d+)-`))
  const places = [...spilled, ...(await leftoversIn(dir)).map(name => path.join(dir, name))]
  for (const place of places) await rm(place, { recursive: true, force: true }).catch(() => {})
}

/** Half-written files, relative to the folder, with slashes; those that a living process may still be writing are none. */
export async function leftoversIn(dir: string): Promise<readonly string[]> {
  const names = await readdir(dir, { recursive: true }).catch(() => [])
  const found = await ofTheDead(dir, names, /^\..*\.(\d+)-\d+\.tmp$/)
  return found.map(place => path.relative(dir, place).split(path.sep).join('/'))
}

/** Those whose names fit, and whose process, which the names tell, has gone. */
async function ofTheDead(dir: string, names: readonly string[], form: RegExp): Promise<readonly string[]> {
  const found: string[] = []
  for (const name of names) {
    const [, pid] = form.exec(path.basename(name)) ?? []
    const place = path.join(dir, name)
    if (pid !== undefined && !(await isInUse(place, Number(pid)))) found.push(place)
  }
  return found
}

async function isInUse(place: string, pid: number): Promise<boolean> {
  // In a container each process may have the number of the one before it.
  if (pid === process.pid) {
    const { mtimeMs } = await stat(place).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    return mtimeMs >= performance.timeOrigin
  }
  try {
    // 0 is no signal: it asks whether the process is there.
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
