/** The recordings as a list for browsing: searches, reads and removes them, and adds recent exchanges. */
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { type ListingQuery, searchFor } from '../api/shapes.js'
import { ProblemsError } from '../check/problem.js'
import { alreadyRecorded, notWritten, PlatformError } from '../core/errors.js'
import { createSerialQueue, mapInParallel } from '../core/work.js'
import type { Redact } from '../redact/index.js'
import { displayPath, type Folder } from './folder.js'
import type { Ignore } from './ignore.js'
import { keyOf } from './key.js'
import { fileOf, type RecordingFile } from './names.js'
import { type RecordingSummary, summaryIn } from './overview.js'
import { type PastExchange, recordingOfPast } from './past.js'
import { createFileCache, type Shelf } from './shelf.js'

interface Parts {
  readonly folder: Folder
  readonly shelf: Shelf
  readonly run: { isUsed(file: string): boolean; recorded(file: string): void }
  readonly redact: Redact
  readonly ignore: Ignore
  readonly maxBytes: number
  /** 0 means no limit. */
  readonly maxAgeMs: number
  /** Resolves when everything that is being recorded is on disk. */
  readonly flush: () => Promise<void>
}

/** The default page size. */
const PAGE = 100
/** How long a file is trusted without being checked again, however fast a search is typed. */
const UNCHECKED_MS = 2000

/** At most this many files' summaries are cached. */
const MOST_CACHED = 10_000

/** What happens to existing recordings of the same request. */
export type ExistingPolicy = 'refuse' | 'replace' | 'append'

/** The recordings of the current configuration. */
export type Library = ReturnType<typeof createLibrary>

export function createLibrary(parts: Parts) {
  const { folder, shelf } = parts
  const summaries = createFileCache({
    ...{ stamp: folder.stamp, read: (file: string) => summaryOf(folder, file), sizeOf: () => 1 },
    ...{ uncheckedMs: UNCHECKED_MS, maxSize: MOST_CACHED },
  })
  const line = ({ file }: RecordingFile) => lineOf(file, summaries.get, parts)
  // One after the other, so that two recordings of one request do not get the same name.
  const inTurn = createSerialQueue()

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
      if (entry) await shelf.remove(entry)
      summaries.forget(file)
      return entry !== undefined
    },
    /** Records an exchange from the journal. Rejects with a PlatformError that says why it cannot be recorded. */
    add: (past: PastExchange, existing: ExistingPolicy) =>
      inTurn(() => put(past, existing, parts)).catch(error => throwNotWritten(error, folder)),
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

async function lineOf(file: string, read: (file: string) => Promise<RecordingSummary>, { run, maxAgeMs }: Parts) {
  try {
    const summary = await read(file)
    const stale = maxAgeMs > 0 && Date.now() - Date.parse(summary.recordedAt) > maxAgeMs
    return { file, ...summary, used: run.isUsed(file), stale }
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

async function put(past: PastExchange, existing: ExistingPolicy, parts: Parts): Promise<{ readonly file: string }> {
  const { folder, shelf, run, ignore, flush } = parts
  const recording = await recordingOfPast(past, parts.redact, parts.maxBytes)
  const key = keyOf(recording.request, ignore)
  await flush()
  const recorded = (await folder.list()).filter(other => other.key === key)
  const [first] = recorded
  if (first && existing === 'refuse') throw alreadyRecorded(first.file, recorded.length)
  const nth = existing === 'append' ? Math.max(0, ...recorded.map(({ nth }) => nth)) + 1 : 1
  // A hand-written file name is kept.
  const entry = existing === 'replace' && first ? first : { file: fileOf(recording.request, key, nth), key, nth }
  await shelf.ready()
  await shelf.put(entry, recording)
  if (existing === 'replace') for (const old of recorded.slice(1)) await shelf.remove(old)
  run.recorded(entry.file)
  return { file: entry.file }
}

const textsOf = (line: Awaited<ReturnType<typeof lineOf>>) =>
  'problem' in line ? [line.file, line.problem] : [line.file, line.method, line.path, line.model, line.said]

/** A full or read-only disk is not a bug of ours. */
function throwNotWritten(error: unknown, { dir }: Folder): never {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof PlatformError || code === undefined) throw error
  throw notWritten(displayPath(dir), code)
}
