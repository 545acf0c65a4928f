/** The recordings as a list for browsing: searches, reads and removes them. Answers are not parsed for it, so that thousands of files can be listed. */
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { ProblemsError } from '../check/problem.js'
import { type ListingQuery, searchFor } from '../control/operation.js'
import { mapInParallel } from '../core/work.js'
import { beginningOf, questionIn, recordingIn } from './file-text.js'
import { createFileCache, displayPath, type Folder, type Shelf } from './folder.js'
import { type RecordingFile, subjectOf } from './names.js'
import { isStream } from './recording.js'

interface Parts {
  readonly folder: Folder
  readonly shelf: Shelf
  readonly run: { isReplayed(file: string): boolean; isOwn(file: string): boolean }
}

/** The default page size. */
const PAGE_OF_RECORDINGS = 100
/** How long a file is trusted without being checked again, however fast a search is typed. */
const UNCHECKED_MS = 2000

/** At most this many files' summaries are cached. */
const MOST_CACHED = 10_000

/** The recordings of the current configuration. */
export type Library = ReturnType<typeof createLibrary>

export function createLibrary({ folder, shelf, run }: Parts) {
  const summaries = createFileCache({
    stamp: folder.stamp,
    read: (file: string) => summaryOf(folder, file),
    sizeOf: () => 1,
    uncheckedMs: UNCHECKED_MS,
    maxSize: MOST_CACHED,
  })
  const line = ({ file }: RecordingFile) => lineOf(file, summaries.get, run)

  return {
    /** The folder as a user would write it. */
    folder: displayPath(folder.dir) || '.',
    /** Returns one page, sorted by name, and the total count. */
    async list({ search = '', limit = PAGE_OF_RECORDINGS, offset = 0 }: ListingQuery) {
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
  const isValid = entry && (await isInFolder(folder, file).catch(() => false))
  return isValid ? entry : undefined
}

async function summaryOf(folder: Folder, file: string): Promise<RecordingSummary> {
  if (!(await isInFolder(folder, file)))
    throw new ProblemsError([{ origin: file, sentence: 'is a link to a file outside of the folder.' }])
  return summaryIn(await folder.text(file), file)
}

async function lineOf(file: string, read: (file: string) => Promise<RecordingSummary>, run: Parts['run']) {
  try {
    return { file, ...(await read(file)), used: run.isReplayed(file), made: run.isOwn(file) }
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error
    return { file, problem: error.message.split('\n', 1)[0] ?? '' }
  }
}

/** Whether the file really is in the folder. Links to files outside of it are not followed. */
async function isInFolder({ dir }: Folder, file: string): Promise<boolean> {
  const [root, place] = await Promise.all([realpath(dir), realpath(path.join(dir, file))])
  return place.startsWith(root + path.sep)
}

const textsOf = (line: Awaited<ReturnType<typeof lineOf>>) =>
  'problem' in line ? [line.file, line.problem] : [line.file, line.method, line.path, line.model, line.said]

export type RecordingSummary = ReturnType<typeof summaryIn>

/** Throws a ProblemsError for errors outside of the bodies. */
function summaryIn(text: string, file: string) {
  const { recordedAt, request, response } = recordingIn(outlineOf(text), file)
  const { model = null, prompt = null } = subjectOf(questionIn(text, file).request)
  return {
    recordedAt,
    method: request.method,
    path: request.path,
    model,
    said: prompt && beginningOf(prompt),
    status: response.status,
    streamed: isStream(response),
    complete: response.complete,
    bytes: Buffer.byteLength(text),
  }
}

/**
 * Returns only the lines outside of bodies and chunks, if the file is laid out as we write it. Otherwise returns all of
 * it.
 */
function outlineOf(text: string): string {
  if (!/^request:$/m.test(text) || !/^response:$/m.test(text)) return text
  const lines: string[] = []
  let isBody = false
  for (const line of text.split('\n')) {
    // Dropped lines become blank, so that errors name the right line. Comments are dropped because they are long.
    const isKey = /^(?: {2})?[^\s#-]/.test(line)
    if (isKey) isBody = /^ {2}(?:body|chunks):\s*$/.test(line)
    lines.push(isBody || line.startsWith('#') ? '' : line)
  }
  return lines.join('\n')
}
