/** The recordings as a list for browsing: searches, reads and removes them, and adds recent exchanges. */
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { type ListingQuery, searchFor } from '../api/shapes.js'
import { ProblemsError } from '../check/problem.js'
import { alreadyRecorded, notWritten, PlatformError } from '../core/errors.js'
import { createTurns, eachOf } from '../core/work.js'
import type { Redact } from '../redact/index.js'
import { type Folder, shown } from './folder.js'
import type { Ignore } from './ignore.js'
import { keyOf } from './key.js'
import { fileOf, type RecordingFile } from './names.js'
import { listedIn, type RecordingSummary } from './overview.js'
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
  readonly written: () => Promise<void>
}

/** The default page size. */
const PAGE = 100
/** How long a file is trusted without being checked again, however fast a search is typed. */
const UNCHECKED_MS = 2000

/** At most this many files are cached. */
const LOOKED = 10_000

/** What happens to existing recordings of the same request. */
export type ExistingPolicy = 'refuse' | 'replace' | 'append'

/** The recordings of the current configuration. */
export type Library = ReturnType<typeof createLibrary>

export function createLibrary(parts: Parts) {
  const { folder, shelf } = parts
  const looked = createFileCache({
    ...{ stamp: folder.stamp, read: (file: string) => summaryOf(folder, file), sizeOf: () => 1 },
    ...{ uncheckedMs: UNCHECKED_MS, most: LOOKED },
  })
  const look = ({ file }: RecordingFile) => lineOf(file, looked.get, parts)
  // One after the other, so that two recordings of one request do not get the same name.
  const inTurn = createTurns()

  return {
    /** The folder as a user would write it. */
    folder: shown(folder.dir) || '.',
    /** Returns one page, sorted by name, and the total count. */
    async list({ search = '', limit = PAGE, offset = 0 }: ListingQuery) {
      const pageOf = <T>(items: readonly T[]) => items.slice(offset, offset + limit)
      const all = await folder.list()
      if (search.trim() === '') return { data: await eachOf(pageOf(all), look), total: all.length }
      const isWanted = searchFor(search)
      const found = (await eachOf(all, look)).filter(line => isWanted(textsOf(line)))
      return { data: pageOf(found), total: found.length }
    },
    /** Returns the text of a file; `undefined` if the folder has no such recording. */
    async text(file: string) {
      const kept = await find(folder, file)
      return kept && folder.text(kept.file)
    },
    /** Returns whether it existed. */
    async remove(file: string) {
      const kept = await find(folder, file)
      if (kept) await shelf.remove(kept)
      looked.forget(file)
      return kept !== undefined
    },
    /** Records an exchange from the journal. Rejects with a PlatformError that says why it cannot be recorded. */
    keep: (past: PastExchange, existing: ExistingPolicy) =>
      inTurn(() => put(past, existing, parts)).catch(error => refuse(error, folder)),
  }
}

async function find(folder: Folder, file: string): Promise<RecordingFile | undefined> {
  const kept = (await folder.list()).find(kept => kept.file === file)
  const inside = kept && (await isInside(folder, file).catch(() => false))
  return inside ? kept : undefined
}

async function summaryOf(folder: Folder, file: string): Promise<RecordingSummary> {
  if (!(await isInside(folder, file))) throw new ProblemsError([{ origin: file, sentence: 'leads out of the folder.' }])
  return listedIn(await folder.text(file), file)
}

async function lineOf(file: string, look: (file: string) => Promise<RecordingSummary>, { run, maxAgeMs }: Parts) {
  try {
    const listed = await look(file)
    const stale = maxAgeMs > 0 && Date.now() - Date.parse(listed.recordedAt) > maxAgeMs
    return { file, ...listed, used: run.isUsed(file), stale }
  } catch (error) {
    if (!(error instanceof ProblemsError)) throw error
    return { file, problem: error.message.split('\n', 1)[0] ?? '' }
  }
}

/** Whether the file really is in the folder. A link must not lead out of it. */
async function isInside({ dir }: Folder, file: string): Promise<boolean> {
  const [root, place] = await Promise.all([realpath(dir), realpath(path.join(dir, file))])
  return place.startsWith(root + path.sep)
}

async function put(past: PastExchange, existing: ExistingPolicy, parts: Parts): Promise<{ readonly file: string }> {
  const { folder, shelf, run, ignore, written } = parts
  const recording = await recordingOfPast(past, parts.redact, parts.maxBytes)
  const key = keyOf(recording.request, ignore)
  await written()
  const there = (await folder.list()).filter(kept => kept.key === key)
  const [first] = there
  if (first && existing === 'refuse') throw alreadyRecorded(first.file, there.length)
  const nth = existing === 'append' ? Math.max(0, ...there.map(({ nth }) => nth)) + 1 : 1
  // A hand-written file name is kept.
  const kept = existing === 'replace' && first ? first : { file: fileOf(recording.request, key, nth), key, nth }
  await shelf.ready()
  await shelf.put(kept, recording)
  if (existing === 'replace') for (const old of there.slice(1)) await shelf.remove(old)
  run.recorded(kept.file)
  return { file: kept.file }
}

const textsOf = (line: Awaited<ReturnType<typeof lineOf>>) =>
  'problem' in line ? [line.file, line.problem] : [line.file, line.method, line.path, line.model, line.said]

/** A full or read-only disk is not a bug of ours. */
function refuse(error: unknown, { dir }: Folder): never {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof PlatformError || code === undefined) throw error
  throw notWritten(shown(dir), code)
}
