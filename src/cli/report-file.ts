/** Writes a report to where somebody wants it. */
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import path from 'node:path'
import { makeFolder } from '../core/make-folder.js'
import { StartError, UsageError } from '../core/start-error.js'

/**
 * Makes the folders that a report needs, before the work that it is about. Throws a UsageError for a flag that names no file, and a
 * StartError for a place where nothing can be written.
 */
export function requireWritable(flag: string, file: string): void {
  if (file === '') throw new UsageError(`${flag} must name a file.`)
  const place = path.resolve(file)
  let isFolder: boolean
  try {
    makeFolder(path.dirname(place))
    isFolder = existsSync(place) && statSync(place).isDirectory()
    // What stands behind the separator is looked for in a folder only: a file in its place could be written to as well.
    accessSync(existsSync(place) ? place : `${path.dirname(place)}${path.sep}.`, constants.W_OK)
  } catch (error) {
    throw notWritten(file, error)
  }
  if (isFolder) throw new UsageError(`${flag} must name a file, and ${file} is a folder.`)
}

/** Rejects with a StartError when it cannot be written. */
export async function writeReport(file: string, text: string): Promise<void> {
  try {
    await writeFile(file, text)
  } catch (error) {
    throw notWritten(file, error)
  }
}

const notWritten = (file: string, error: unknown) =>
  new StartError(`${file} cannot be written (${(error as NodeJS.ErrnoException).code}).`)
