/** Why a platform could not start, in a sentence for the user; and the folders that a start makes. */
import { existsSync, mkdirSync } from 'node:fs'
import path from 'node:path'

export class StartError extends Error {
  override readonly name: string = 'StartError'
}

/** A command line that cannot be followed. */
export class UsageError extends StartError {
  override readonly name = 'UsageError'
}

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
    // Another process was faster.
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return made
    throw error
  }
  return made ?? dir
}
