/** The recordings as a list for browsing: searches, reads and removes them. */
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { type ListingQuery, searchFor } from '../api/shapes.js'
import { ProblemsError } from '../check/problem.js'
import { mapInParallel } from '../core/work.js'
import { displayPath, type Folder } from './folder.js'
import type { RecordingFile } from './names.js'
import { createFileCache, type Shelf } from './shelf.js'
import { type RecordingSummary, summaryIn } from './summary.js'

interface Parts {
  readonly folder: Folder
  readonly shelf: Shelf
  readonly run: { isUsed(file: string): boolean }
}

/** The default page size. */
const PAGE = 100
/** How long a file is trusted without being checked again, however fast a search is typed. */
const UNCHECKED_MS = 2000

/** At most this many files' summaries are cached. */
const MOST_CACHED = 10_000

/** The recordings of the current configuration. */
export type Library = ReturnType<typeof createLibrary>

export function createLibrary({ folder, shelf, run }: Parts) {
  const summaries = createFileCache({
    ...{ stamp: folder.stamp, read: (file: string) => summaryOf(folder, file), sizeOf: () => 1 },
    ...{ uncheckedMs: UNCHECKED_MS, maxSize: MOST_CACHED },
  })
  const line = ({ file }: RecordingFile) => lineOf(file, summaries.get, run)

  return {
    /** The folder as a user would write it. */
    folder: displayPath(folder.dir) || '.',
    /** Returns one page, sorted by name, and the total count. */
    async list({ search = '', limit = PAGE, offset = 0 }: ListingQuery) {
      const pageOf = <T>(items: readonly T[]) => items.slice(offset, offset + limit)
      const all = await folder.list()
      if (search.trim() === '') return { data: await mapInParallel(pageOf(all), line), total: all.length }
      const matches = searchFor(search)
      const lines = (await mapInParallel(all, line)).filter(line => matches(textsOf(line)))
      return { data: pageOf(lines), total: lines.length }
    },
    /** Returns the text of a recording's file; `undefined` if the folder has no such recording. */
    async text(file: string) {
      const entry = await find(folder, file)
      return entry && folder.text(entry.file)
    },
    /** Returns whether it existed. */
    async remove(file: string) {
      const entry = await find(folder, file)
      if (entry) shelf.remove(entry)
      summaries.forget(file)
      return entry !== undefined
    },
  }
}

async function find(folder: Folder, file: string): Promise<RecordingFile | undefined> {
  const entry = (await folder.list()).find(other => other.file === file)
  const isValid = entry && (await isInside(folder, file).catch(() => false))
  return isValid ? entry : undefined
}

async function summaryOf(folder: Folder, file: string): Promise<RecordingSummary> {
  if (!(await isInside(folder, file)))
    throw new ProblemsError([{ origin: file, sentence: 'is a link to a file outside of the folder.' }])
  return summaryIn(await folder.text(file), file)
}

async function lineOf(file: string, read: (file: string) => Promise<RecordingSummary>, run: Parts['run']) {
  try {
    return { file, ...(await read(file)), used: run.isUsed(file) }
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error
    return { file, problem: error.message.split('\n', 1)[0] ?? '' }
  }
}

/** Whether the file really is in the folder. Links to files outside of it are not followed. */
async function isInside({ dir }: Folder, file: string): Promise<boolean> {
  const [root, place] = await Promise.all([realpath(dir), realpath(path.join(dir, file))])
  return place.startsWith(root + path.sep)
}

const textsOf = (line: Awaited<ReturnType<typeof lineOf>>) =>
  'problem' in line ? [line.file, line.problem] : [line.file, line.method, line.path, line.model, line.said]
