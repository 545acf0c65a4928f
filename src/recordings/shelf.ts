/** The recordings of a folder by key. Once read, a recording is cached for as long as its file does not change. */
import { LRUCache } from 'lru-cache'
import { stringifyExact } from '../core/json.js'
import { questionIn } from './file-text.js'
import { type Folder, removeLeftovers } from './folder.js'
import type { RecordingFile } from './names.js'
import { bodyOf, type Question, type Recording } from './recording.js'

export type Shelf = ReturnType<typeof createShelf>

/** The sizes of the caches: of whole recordings, and of questions alone. */
const REMEMBERED_BYTES = 64 * 1_048_576
const REMEMBERED_QUESTIONS_BYTES = 16 * 1_048_576
/** How long a cached file is trusted without being checked again. Editing one takes longer. */
const UNCHECKED_MS = 250

/** Approximately how much memory a recording takes. */
const sizeOf = ({ request, response }: Recording): number =>
  sizeOfQuestion({ request }) + bodyOf(response).length + response.chunks.length * CHUNK_BYTES

function sizeOfQuestion({ request }: Pick<Question, 'request'>): number {
  // Serializing also flattens the texts: the YAML library concatenates them character by character, and each takes 32
  // bytes until then.
  return 1024 + 2 * stringifyExact(request).length
}

/** The memory that a chunk takes in addition to its bytes. */
const CHUNK_BYTES = 250

export function createShelf(folder: Folder) {
  const { put, remove, ...files } = createIndex(folder)
  const recordings = createFileCache({
    ...{ stamp: folder.stamp, read: folder.read, sizeOf },
    ...{ uncheckedMs: UNCHECKED_MS, maxSize: REMEMBERED_BYTES },
  })
  const questions = createFileCache({
    ...{ stamp: folder.stamp, read: async (file: string) => questionIn(await folder.text(file), file) },
    ...{ sizeOf: sizeOfQuestion, uncheckedMs: UNCHECKED_MS, maxSize: REMEMBERED_QUESTIONS_BYTES },
  })
  const forget = (file: string) => {
    recordings.forget(file)
    questions.forget(file)
  }
  return {
    ...files,
    dir: folder.dir,
    /** Rejects with a ProblemsError if the file is gone or is not a recording. */
    read: recordings.get,
    /** Reads a recording without its answer, which is faster. Rejects like `read`. */
    question: questions.get,
    /** The folder must have been listed. */
    put(entry: RecordingFile, recording: Recording): void {
      folder.write(entry.file, recording, entry.key)
      forget(entry.file)
      put(entry)
    },
    remove(entry: RecordingFile): void {
      folder.remove(entry.file)
      forget(entry.file)
      remove(entry)
    },
  }
}

/** The files of a folder, by key. */
function createIndex(folder: Folder) {
  let byKey: Map<string, RecordingFile[]> | undefined
  let listing: Promise<void> | undefined

  /** Lists the folder again, since files may have been added. */
  async function refresh(): Promise<void> {
    byKey = grouped(await folder.list())
  }

  const others = ({ key, file }: RecordingFile) => (byKey?.get(key) ?? []).filter(entry => entry.file !== file)

  return {
    refresh,
    /**
     * Lists the folder if that has not been done yet, and removes files that killed processes have left behind. Returns `undefined`
     * if there is nothing to wait for.
     */
    ready(): Promise<void> | undefined {
      if (byKey) return undefined
      listing ??= refresh().finally(() => {
        listing = undefined
        void removeLeftovers(folder.dir)
      })
      return listing
    },
    *all(): Iterable<RecordingFile> {
      for (const same of byKey?.values() ?? []) yield* same
    },
    /** The recordings of one request, in order. */
    of: (key: string): readonly RecordingFile[] => byKey?.get(key) ?? [],
    put(entry: RecordingFile): void {
      const inOrder = [...others(entry), entry].sort((a, b) => a.nth - b.nth)
      byKey?.set(entry.key, inOrder)
    },
    remove: (entry: RecordingFile) => void byKey?.set(entry.key, others(entry)),
  }
}

function grouped(all: readonly RecordingFile[]): Map<string, RecordingFile[]> {
  const byKey = new Map<string, RecordingFile[]>()
  for (const entry of all) {
    const same = byKey.get(entry.key)
    if (same) same.push(entry)
    else byKey.set(entry.key, [entry])
  }
  return byKey
}

interface FileCacheParts<T> {
  /** Returns a value that stays the same for as long as the file does. Rejects if the file does not exist. */
  readonly stamp: (file: string) => Promise<string>
  readonly read: (file: string) => Promise<T>
  /** How long a file is trusted without being checked again. */
  readonly uncheckedMs: number
  /** How much of the cache a value uses. */
  readonly sizeOf: (value: T) => number
  readonly maxSize: number
}

/** Caches what was read from files for as long as the files do not change. */
export function createFileCache<T>({ stamp, read, uncheckedMs, sizeOf, maxSize }: FileCacheParts<T>) {
  const files = new LRUCache<string, { readonly value: T; readonly stamp: string; checkedMs: number }>({
    maxSize,
    sizeCalculation: ({ value }) => sizeOf(value),
  })
  return {
    /** Rejects with the error of `stamp` or `read`. */
    async get(file: string): Promise<T> {
      const known = files.get(file)
      const now = performance.now()
      if (known && now - known.checkedMs < uncheckedMs) return known.value
      const current = await stamp(file)
      if (known?.stamp === current) {
        known.checkedMs = now
        return known.value
      }
      const value = await read(file)
      files.set(file, { value, stamp: current, checkedMs: performance.now() })
      return value
    },
    forget: (file: string) => void files.delete(file),
  }
}
