/** The folder of recordings: lists names, reads files when they are needed, and writes them so that nobody sees half of one. */
import {
  type Dirent,
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { threadId } from 'node:worker_threads'
import { LRUCache } from 'lru-cache'
import { makeFolder, type Problem, ProblemsError, textIn, unreadable } from '../check/problem.js'
import { hasConflict } from '../check/yaml.js'
import { stringifyExact } from '../core/json.js'
import { questionIn, recordingIn } from './file-text.js'
import { hashesIn, isRecordingName, numbered } from './names.js'
import { isLiving, orElse, processName, workingFolder } from './process.js'
import { type Question, type Recording, recordedBody } from './recording.js'

/** The file that is being written, one at a time. If the process is killed, it may remain; it is never read. */
const UNFINISHED = `.recording.${processName()}-${threadId}.tmp`
const unfinished = /^\..*?\.(\d+(?:\.\d+)?)-\d+\.tmp$/

/** How much memory recordings that were read may take, and the requests alone. */
const REMEMBERED_BYTES = 32 * 1_048_576
/** How long a file is trusted without being checked again. Editing one takes longer. */
const UNCHECKED_MS = 250
/** A folder that changed less than this before it was listed may have changed again since, for all that its time says. */
const TICK_MS = 50

interface Cached<T extends object> {
  readonly value: T | Problem
  readonly stamp: string
  checkedMs: number
}

export class Folder {
  /** The files by folder, each with the time of the folder when it was listed. */
  #listed = new Map<
    string,
    { readonly changedMs: number; readonly names: readonly string[]; readonly folders: readonly string[] }
  >()
  #files = new Set<string>()
  #byConversation = new Map<string, Set<string>>()
  #unnamed = new Set<string>()
  #isListed = false
  readonly #questions = cacheOf<Question>(({ request }) => 512 + 2 * stringifyExact(request).length)
  readonly #recordings = cacheOf<Recording>(sizeOf)
  readonly #unreadable = new Map<string, Problem>()
  readonly #leftovers = new Set<string>()

  /** `dir` is the path as it was configured. A folder that does not exist has no recordings. */
  constructor(readonly dir: string) {}

  /** All recordings, relative to the folder, with slashes. Throws a ProblemsError if the folder cannot be listed. */
  files(): ReadonlySet<string> {
    if (!this.#isListed) this.refresh()
    return this.#files
  }

  /** The recordings of a conversation, as their names have it. */
  named(conversation: string): ReadonlySet<string> {
    this.files()
    return this.#byConversation.get(conversation) ?? nothing
  }

  /** Those whose names say nothing. */
  unnamed(): ReadonlySet<string> {
    this.files()
    return this.#unnamed
  }

  /** Files that could not be read when they were needed, each with the reason. */
  unreadable(): ReadonlyMap<string, Problem> {
    return this.#unreadable
  }

  /** The unfinished files of processes that have ended. */
  leftovers(): readonly string[] {
    this.files()
    return [...this.#leftovers]
  }

  /** Lists again what has changed. */
  refresh(): void {
    const seen = new Set<string>()
    const listed: (readonly [folder: string, names: readonly string[]])[] = []
    let isChanged = !this.#isListed
    const visit = (folder: string) => {
      // Links may lead to a folder again.
      const real = realPath(this.#at(folder))
      if (seen.has(real)) return
      seen.add(real)
      const before = this.#listed.get(folder)
      const now = this.#namesIn(folder)
      isChanged ||= now !== before
      listed.push([folder, now.names])
      for (const name of now.folders) visit(`${folder}${name}/`)
    }
    visit('')
    this.#isListed = true
    if (!isChanged) return
    const found = new Set(listed.flatMap(([folder, names]) => names.map(name => folder + name)))
    for (const file of this.#files) if (!found.has(file)) this.#forget(file)
    for (const file of found) if (!this.#files.has(file)) this.#add(file)
  }

  #namesIn(folder: string) {
    const dir = path.join(this.dir, folder)
    const before = this.#listed.get(folder)
    try {
      const { mtimeMs } = statSync(dir)
      if (before?.changedMs === mtimeMs) return before
      const all = readdirSync(dir, { withFileTypes: true })
      for (const { name } of all) if (isLeft(name)) this.#leftovers.add(folder + name)
      const entries = all.filter(({ name }) => !name.startsWith('.'))
      const listed = {
        changedMs: Date.now() - mtimeMs < TICK_MS ? Number.NaN : mtimeMs,
        names: entries.filter(entry => isRecordingName(entry.name) && !isFolder(entry, dir)).map(({ name }) => name),
        folders: entries.filter(entry => !isRecordingName(entry.name) && isFolder(entry, dir)).map(({ name }) => name),
      }
      this.#listed.set(folder, listed)
      return listed
    } catch (error) {
      if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return emptyFolder
      throw new ProblemsError([unreadable(displayPath(dir), error)])
    }
  }

  #add(file: string): void {
    this.#files.add(file)
    const by = hashesIn(file)
    if (!by) this.#unnamed.add(file)
    else this.#byConversation.set(by.conversation, (this.#byConversation.get(by.conversation) ?? new Set()).add(file))
  }

  #forget(file: string): void {
    this.#files.delete(file)
    this.#unnamed.delete(file)
    this.#byConversation.get(hashesIn(file)?.conversation ?? '')?.delete(file)
    this.#unreadable.delete(file)
    this.#changed(file)
  }

  #changed(file: string): void {
    this.#questions.delete(file)
    this.#recordings.delete(file)
  }

  /** A value that stays the same for as long as the file does; empty if it is gone. */
  stamp(file: string): string {
    const { mtimeMs, size } = statSync(this.#at(file), { throwIfNoEntry: false }) ?? {}
    return mtimeMs === undefined ? '' : `${mtimeMs} ${size}`
  }

  #at(file: string): string {
    return path.join(this.dir, file)
  }

  /** The text of a file. Throws a ProblemsError if it cannot be read. */
  text(file: string): string {
    try {
      return textIn(readFileSync(this.#at(file)), displayPath(this.#at(file)))
    } catch (error) {
      throw new ProblemsError([unreadable(displayPath(this.#at(file)), error)])
    }
  }

  /** A recording, or why it cannot be read. */
  read(file: string): Recording | Problem {
    return this.#cached(this.#recordings, file, recordingIn)
  }

  /** A recording without its answer, which takes a thirtieth of the time, or why it cannot be read. */
  question(file: string): Question | Problem {
    return this.#cached(this.#questions, file, questionIn)
  }

  #cached<T extends object>(
    cache: LRUCache<string, Cached<T>>,
    file: string,
    parse: (text: string, name: string) => T,
  ): T | Problem {
    const known = cache.get(file)
    const nowMs = performance.now()
    if (known && nowMs - known.checkedMs < UNCHECKED_MS) return known.value
    const stamp = this.stamp(file)
    if (known?.stamp === stamp) {
      known.checkedMs = nowMs
      return known.value
    }
    const value = valueOrProblem(() => parse(this.text(file), displayPath(this.#at(file))))
    cache.set(file, { value, stamp, checkedMs: performance.now() })
    if (isProblem(value)) this.#unreadable.set(file, value)
    else this.#unreadable.delete(file)
    return value
  }

  /** Notices files that are no recordings among those that nothing has asked for. */
  lookThrough(): void {
    for (const file of this.#files) {
      if (this.#questions.has(file) || this.#recordings.has(file)) continue
      const text = valueOrProblem(() => ({ of: this.text(file) }))
      const isPlain = !isProblem(text) && /^request:/m.test(text.of) && /^response:/m.test(text.of)
      if (!isPlain || hasConflict(text.of)) this.question(file)
    }
  }

  /** Writes a new file under this name, or under the next that no process has taken, and returns it. */
  create(name: string, text: string): string {
    let file = name
    for (let n = 2; this.files().has(file) || !placed(this.#at(file), text, linkSync); n++) file = numbered(name, n)
    this.#add(file)
    this.#changed(file)
    return file
  }

  /** Replaces a file, or makes it. Readers get either the old or the new one. */
  replace(file: string, text: string): void {
    replaceFile(this.#at(file), text)
    if (!this.#files.has(file)) this.#add(file)
    this.#changed(file)
  }

  /** Removes files, and folders that are empty then. Throws the error of the file system. */
  remove(files: readonly string[]): void {
    for (const file of files) {
      rmSync(this.#at(file), { force: true })
      this.#leftovers.delete(file)
      this.#forget(file)
    }
    for (const folder of new Set(files.map(file => path.posix.dirname(file)))) {
      try {
        for (let at = folder; at !== '.'; at = path.posix.dirname(at)) rmdirSync(this.#at(at))
      } catch {
        // This folder is not empty, and neither are those above.
      }
    }
  }

  /** Makes a file look new without changing it. One that must not be changed stays as it is. */
  touch(file: string): void {
    const now = new Date()
    try {
      utimesSync(this.#at(file), now, now)
    } catch {
      // A read-only folder, or another user's file.
    }
  }

  isChangedSince(file: string, ms: number): boolean {
    return (statSync(this.#at(file), { throwIfNoEntry: false })?.mtimeMs ?? 0) > ms
  }

  /** Whether a file is one of the folder, and no link that leads out of it. */
  has(file: string): boolean {
    this.refresh()
    return this.#files.has(file) && realPath(this.#at(file)).startsWith(realPath(this.dir) + path.sep)
  }
}

const nothing: ReadonlySet<string> = new Set()
const emptyFolder = { changedMs: Number.NaN, names: [], folders: [] }

const cacheOf = <T extends object>(sizeOf: (value: T) => number) =>
  new LRUCache<string, Cached<T>>({
    maxSize: REMEMBERED_BYTES,
    sizeCalculation: ({ value }) => (isProblem(value) ? 512 : sizeOf(value)),
  })

/**
 * Approximately how much memory a recording takes. Serializing also flattens the texts: the YAML library concatenates them
 * character by character, and each takes 32 bytes until then.
 */
function sizeOf({ request, response }: Recording): number {
  return (
    1024 + 2 * stringifyExact(request).length + recordedBody(response).length + response.chunks.length * CHUNK_BYTES
  )
}

/** The memory that a chunk takes in addition to its bytes. */
const CHUNK_BYTES = 250

export const isProblem = (value: object): value is Problem => 'sentence' in value

function valueOrProblem<T extends object>(read: () => T): T | Problem {
  try {
    return read()
  } catch (error) {
    if (error instanceof ProblemsError && error.problems[0]) return error.problems[0]
    throw error
  }
}

/** The path itself, if there is nothing. */
const realPath = (file: string) => orElse(() => realpathSync(file), file)

/** Links may lead to folders. */
const isFolder = (entry: Dirent, dir: string): boolean =>
  entry.isSymbolicLink()
    ? (statSync(path.join(dir, entry.name), { throwIfNoEntry: false })?.isDirectory() ?? false)
    : entry.isDirectory()

/** Replaces a file atomically. */
export const replaceFile = (to: string, text: string): void => void placed(to, text, renameSync)

/** Writes a text beside its place and puts it there. Returns false if there is a file already and `put` replaces none. */
function placed(to: string, text: string, put: typeof linkSync | typeof renameSync): boolean {
  const unfinished = path.join(path.dirname(to), UNFINISHED)
  try {
    try {
      writeFileSync(unfinished, text)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      makeFolder(path.dirname(to))
      writeFileSync(unfinished, text)
    }
    return isPut(unfinished, to, put)
  } finally {
    // On a full disk, the beginning of the text may have been written.
    unlinked(unfinished)
  }
}

function unlinked(file: string): void {
  try {
    unlinkSync(file)
  } catch {
    // It has been renamed, or could not be written.
  }
}

function isPut(from: string, to: string, put: typeof linkSync | typeof renameSync): boolean {
  try {
    put(from, to)
    return true
  } catch (error) {
    if (put !== linkSync) throw error
    if (existsSync(to)) return false
    // Some file systems have no links. Then another process may be faster.
    renameSync(from, to)
    return true
  }
}

/** A path as a user would write it: relative to the current folder, if it is inside. */
export function displayPath(file: string): string {
  const relative = path.relative(workingFolder() || file, file)
  return relative === '' || relative.startsWith('..') ? file : relative
}

/** Whether an unfinished file was left by a process that has ended. */
function isLeft(name: string): boolean {
  const by = unfinished.exec(name)?.[1]
  return by !== undefined && !isLiving(by)
}
