/** The recordings as a list for browsing: searches, reads and removes them, and adds recent exchanges. */
import { realpath } from 'node:fs/promises'
import path from 'node:path'
import { searchFor } from '../api/shapes.js'
import { ProblemsError } from '../check/problem.js'
import { alreadyRecorded, notWritten, PlatformError } from '../core/errors.js'
import { createTurns, eachOf } from '../core/work.js'
import type { Redact } from '../redact/index.js'
import { type Folder, shown } from './folder.js'
import type { Ignore } from './ignore.js'
import { keyOf } from './key.js'
import { fileOf, type RecordingFile } from './names.js'
import type { ExistingPolicy, Library, ListedRecording } from './operations.js'
import { listedIn, type RecordingSummary } from './overview.js'
import { type PastExchange, recordingOfPast } from './past.js'
import type { Run } from './run.js'
import { createFileCache, type Shelf } from './shelf.js'

interface Parts {
  readonly folder: Folder
  readonly shelf: Shelf
  readonly run: Run
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

export function createLibrary(parts: Parts): Library {
  const { folder, shelf } = parts
  const looked = createFileCache({
    ...{ stamp: folder.stamp, read: (file: string) => look(folder, file), sizeOf: () => 1 },
    ...{ uncheckedMs: UNCHECKED_MS, most: LOOKED },
  })
  const lineOf = ({ file }: RecordingFile) => line(file, looked.get, parts)
  // One after the other, so that two recordings of one request do not get the same name.
  const inTurn = createTurns()

  return {
    folder: shown(folder.dir) || '.',
    async list({ search, limit = PAGE, offset = 0 }) {
      const all = await folder.list()
      if (!search?.trim()) {
        const data = await eachOf(all.slice(offset, offset + limit), lineOf)
        return { data, total: all.length }
      }
      const isWanted = searchFor(search)
      const found = (await eachOf(all, lineOf)).filter(line => isWanted(textsOf(line)))
      return { data: found.slice(offset, offset + limit), total: found.length }
    },
    async text(file) {
      const kept = await find(folder, file)
      return kept && folder.text(kept.file)
    },
    async remove(file) {
      const kept = await find(folder, file)
      if (kept) await shelf.remove(kept)
      looked.forget(file)
      return kept !== undefined
    },
    keep: (past, existing) => inTurn(() => put(past, existing, parts)).catch(error => refuse(error, folder)),
  }
}

async function find(folder: Folder, file: string): Promise<RecordingFile | undefined> {
  const kept = (await folder.list()).find(kept => kept.file === file)
  const inside = kept && (await isInside(folder, file).catch(() => false))
  return inside ? kept : undefined
}

async function look(folder: Folder, file: string): Promise<RecordingSummary> {
  if (!(await isInside(folder, file))) throw new ProblemsError([{ origin: file, sentence: 'leads out of the folder.' }])
  return listedIn(await folder.text(file), file)
}

type Look = (file: string) => Promise<RecordingSummary>

async function line(file: string, look: Look, { run, maxAgeMs }: Parts): Promise<ListedRecording> {
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

const textsOf = (line: ListedRecording) =>
  'problem' in line ? [line.file, line.problem] : [line.file, line.method, line.path, line.model, line.said]

/** A full or read-only disk is not a bug of ours. */
function refuse(error: unknown, { dir }: Folder): never {
  const { code } = error as NodeJS.ErrnoException
  if (error instanceof PlatformError || code === undefined) throw error
  throw notWritten(shown(dir), code)
}
