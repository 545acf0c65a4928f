/** Makes a folder, and those that it is in. */
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'

/**
 * Gives back the first one that it made, if any. Throws what the system says. The `recursive` of node never ends where folders
 * cannot be made although their parent is there, as below /proc.
 */
export function makeFolder(dir: string, mode?: number): string | undefined {
  if (existsSync(dir)) return undefined
  const above = path.dirname(dir)
  const made = above === dir ? undefined : makeFolder(above, mode)
  try {
    mkdirSync(dir, { mode })
  } catch (error) {
    // Somebody else was faster.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return made
    throw error
  }
  return made ?? dir
}
