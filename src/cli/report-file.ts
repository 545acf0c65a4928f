/** Writes a report to where somebody wants it. */
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { StartError } from '../core/start-error.js'

/** Makes the folders that it needs. Rejects with a StartError when it cannot be written. */
export async function writeReport(file: string, text: string): Promise<void> {
  try {
    await mkdir(path.dirname(path.resolve(file)), { recursive: true })
    await writeFile(file, text)
  } catch (error) {
    throw new StartError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`)
  }
}
