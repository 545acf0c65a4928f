/** The folder of recordings: lists names, reads files on demand, writes them atomically, and caches what was read for as long as the files do not change. */
import { renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { readdir, readFile, rm, stat } from 'node:fs/promises'
import path from 'node:path'
import { threadId } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { makeFolder, ProblemsError, textIn, unreadable } from '../check/problem.js'
import { stringifyExact } from '../core/json.js'
import { questionIn, recordingIn, recordingText } from './file-text.js'
import { entryOf, type RecordingFile } from './names.js'
import { type Question, type Recording, recordedBody } from './recording.js'

export type Folder = ReturnType<typeof openFolder>

/** The file that is being written, one at a time. If the process is killed, it may remain; it is never read. */
const UNFINISHED = `.recording.${process.pid}-${threadId}.tmp`

/** `dir` is the path as it was configured. */
export function openFolder(dir: string) {
  const pathOf = (file: string) => path.join(dir, file)
  return {
    dir,
    /** Lists all recordings by name, those of one request by number. A folder that does not exist has none. */
    async list(): Promise<readonly RecordingFile[]> {
      const names = await fileNamesIn(dir, '').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return []
        throw new ProblemsError([unreadable(displayPath(dir), error)])
      })
      const stemOf = ({ file, nth }: RecordingFile) => file.slice(0, nth > 1 ? -`-${nth}.yaml`.length : -'.yaml'.length)
      const named = names.flatMap(name => entryOf(name) ?? []).map(entry => ({ entry, stem: stemOf(entry) }))
      // By name, and the recordings of one request by number: `-2` before `-10`.
      named.sort((a, b) => (a.stem === b.stem ? a.entry.nth - b.entry.nth : a.stem < b.stem ? -1 : 1))
      return named.map(({ entry }) => entry)
    },
    /** Returns the text of the file. Rejects with a ProblemsError if it cannot be read. */
    text: (file: string) => textOfFile(pathOf(file)),
    /** Rejects with a ProblemsError if the file does not exist or is not a recording. */
    read: async (file: string) => recordingIn(await textOfFile(pathOf(file)), displayPath(pathOf(file))),
    /** Returns a value that stays the same for as long as the file does. Rejects if the file does not exist. */
    async stamp(file: string): Promise<string> {
      const { mtimeMs, size } = await stat(pathOf(file)).catch(error => {
        throw new ProblemsError([unreadable(displayPath(pathOf(file)), error)])
      })
      return `${mtimeMs} ${size}`
    },
    /** Writes a recording, replacing an existing one. Readers get either the old or the new file. */
    write: (file: string, recording: Recording, key: string) =>
      replaceFile(pathOf(file), recordingText(recording, key)),
    /** The same for a text. */
    writeText: (file: string, text: string) => replaceFile(pathOf(file), text),
    remove: (file: string) => rmSync(pathOf(file), { force: true }),
    /** Makes a file look new without changing it. One that must not be changed stays as it is. */
    touch(file: string): void {
      const now = new Date()
      try {
        utimesSync(pathOf(file), now, now)
      } catch {
        // A read-only folder, or another user's file.
      }
    },
    isChangedSince: (file: string, ms: number): boolean =>
      (statSync(pathOf(file), { throwIfNoEntry: false })?.mtimeMs ?? 0) > ms,
  }
}

async function textOfFile(file: string): Promise<string> {
  try {
    return textIn(await readFile(file), file)
  } catch (error) {
    throw new ProblemsError([unreadable(displayPath(file), error)])
  }
}

/**
 * Replaces a file atomically: readers get either the old or the new one. Waits for the disk, which takes less time on
 * the whole than handing a small file to another thread four times.
 */
export function replaceFile(to: string, text: string): void {
  const unfinished = path.join(path.dirname(to), UNFINISHED)
  try {
    try {
      writeFileSync(unfinished, text)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      makeFolder(path.dirname(to))
      writeFileSync(unfinished, text)
    }
    renameSync(unfinished, to)
  } catch (error) {
    // On a full disk, the beginning of the text may have been written.
    rmSync(unfinished, { force: true })
    throw error
  }
}

/**
 * Finds the files with an extension below `dir` and its folders without one, by name only. Node's own recursive listing
 * checks each file, which takes five times as long.
 */
async function fileNamesIn(dir: string, above: string): Promise<readonly string[]> {
  const names = await readdir(dir)
  const files = names.filter(name => name.includes('.')).map(name => above + name)
  const folders = names.filter(name => !name.includes('.'))
  const inside = folders.map(name =>
    fileNamesIn(path.join(dir, name), `${above}${name}/`).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOTDIR') return []
      throw error
    }),
  )
  return [files, ...(await Promise.all(inside))].flat()
}

/** A path as a user would write it: relative to the current folder, if it is inside. */
export function displayPath(file: string): string {
  const relative = path.relative(process.cwd(), file)
  return relative === '' || relative.startsWith('..') ? file : relative
}

/** Removes files that ended processes have left behind. Files that cannot be removed stay. */
async function removeLeftovers(dir: string): Promise<void> {
  for (const name of await leftoversIn(dir)) await rm(path.join(dir, name), { force: true }).catch(() => {})
}

/**
 * The unfinished files, relative to the folder, with slashes. Leaves out those that a running process may still be
 * writing.
 */
export async function leftoversIn(dir: string): Promise<readonly string[]> {
  const names = await fileNamesIn(dir, '').catch(() => [])
  const found: string[] = []
  for (const name of names) {
    const [, pid] = /^\..*\.(\d+)-\d+\.tmp$/.exec(name.slice(name.lastIndexOf('/') + 1)) ?? []
    if (pid !== undefined && !(await isInUse(path.join(dir, name), Number(pid)))) found.push(name)
  }
  return found
}

/** The folder for one kind of notes about runs. It is kept beside the recordings, since every run knows their folder. */
export const noteFolder = (dir: string, kind: 'drifted' | 'replays') => path.join(dir, '.standin', kind)

/** Creates that folder, which Git ignores. Throws the error of the file system. */
export function makeNoteFolder(dir: string, kind: 'drifted' | 'replays'): string {
  const folder = noteFolder(dir, kind)
  makeFolder(folder)
  replaceFile(path.join(path.dirname(folder), '.gitignore'), '*\n')
  return folder
}

/** Whether the process that wrote a file is still running. */
export async function isInUse(file: string, pid: number): Promise<boolean> {
  // In a container, a new process may have the same id as an earlier one.
  if (pid === process.pid) {
    const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Number.POSITIVE_INFINITY }))
    return mtimeMs >= performance.timeOrigin
  }
  return isRunning(pid)
}

export function isRunning(pid: number): boolean {
  try {
    // Signal 0 only checks whether the process exists.
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

export type Shelf = ReturnType<typeof createShelf>

/** How much memory recordings that were read may take. */
const REMEMBERED_BYTES = 64 * 1_048_576
/** How long a cached file is trusted without being checked again. Editing one takes longer. */
const UNCHECKED_MS = 250

/**
 * Approximately how much memory a recording takes. Serializing also flattens the texts: the YAML library concatenates them
 * character by character, and each takes 32 bytes until then.
 */
const sizeOf = ({ request, response }: Recording): number =>
  1024 + 2 * stringifyExact(request).length + recordedBody(response).length + response.chunks.length * CHUNK_BYTES

/** The memory that a chunk takes in addition to its bytes. */
const CHUNK_BYTES = 250

export function createShelf(folder: Folder) {
  const { put, remove, ...files } = createIndex(folder)
  const questions = createFileCache({
    stamp: folder.stamp,
    read: async (file): Promise<Question> => questionIn(await folder.text(file), file),
    sizeOf: question => 1024 + 2 * stringifyExact(question).length,
    uncheckedMs: UNCHECKED_MS,
    maxSize: REMEMBERED_BYTES,
  })
  const recordings = createFileCache({
    stamp: folder.stamp,
    read: folder.read,
    sizeOf,
    uncheckedMs: UNCHECKED_MS,
    maxSize: REMEMBERED_BYTES,
  })
  return {
    ...files,
    dir: folder.dir,
    touch: folder.touch,
    isChangedSince: folder.isChangedSince,
    /** Rejects with a ProblemsError if the file is gone or is not a recording. */
    read: recordings.get,
    /** Reads a recording without its answer, which takes a thirtieth of the time. Rejects like `read`. */
    question: questions.get,
    /** The folder must have been listed. */
    put(entry: RecordingFile, recording: Recording): void {
      folder.write(entry.file, recording, entry.key)
      recordings.forget(entry.file)
      put(entry)
    },
    remove(entry: RecordingFile): void {
      folder.remove(entry.file)
      recordings.forget(entry.file)
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
    byKey = Map.groupBy(await folder.list(), ({ key }) => key)
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
