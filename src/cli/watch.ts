/** Watches the files from which a platform was configured, and calls back when one changes. */
import { type FSWatcher, type Stats, statSync, watch } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { createSerialQueue } from '../core/work.js'
import { findReplyFiles } from '../replies/index.js'

export interface WatchedFiles {
  readonly configFile: string
  /** Further files named in the configuration. */
  readonly otherFiles: readonly string[]
  /** Names or globs of reply files, relative to the folder of the configuration. */
  readonly replies: readonly string[]
}

/** Editors write a file in several steps, or several files at once. That counts as one change. */
const SETTLE_MS = 60
/** How often the files are compared without an event: the system reports none for the targets of links and new folders. */
const LOOK_MS = 500

/**
 * Watches until the returned function is called. Changes since `readAtMs` (in milliseconds since 1970) count, even those
 * before watching began. `filesNow` is asked again after each call of `onChange`, which may read other files. (A library
 * that watches single files lost changes while it started.)
 */
export function watchFiles(
  filesNow: () => WatchedFiles,
  readAtMs: number,
  onChange: () => Promise<void> | void,
): () => void {
  const watchers = createWatchers(scheduleCheck)
  const inOrder = createSerialQueue()
  /** What the files and the folders of replies looked like. */
  let known: ReadonlyMap<string, string> = new Map()
  let sinceMs = readAtMs
  /** Whether the files may be others than those of the last check. */
  let isAnew = true
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  function scheduleCheck() {
    clearTimeout(timer)
    timer = setTimeout(() => inOrder(check), SETTLE_MS)
  }

  async function check(): Promise<void> {
    if (isClosed) return
    const wanted = filesNow()
    const { configFile, otherFiles, replies } = wanted
    const dir = path.dirname(configFile)
    const replyFolders = replies.map(pattern => folderOfPattern(pattern, dir))
    // An error here also makes a reload fail, which reports it.
    const found = await findReplyFiles(replies, dir).catch(() => [])
    if (isClosed) return
    const files = [configFile, path.join(dir, '.env'), ...otherFiles, ...found]
    const folders = files.map(file => ({ folder: path.dirname(file), recursive: false }))
    watchers.update([...folders, ...replyFolders])
    const before = known
    known = new Map([...files, ...replyFolders.map(({ folder }) => folder)].map(place => [place, lookOf(place)]))
    const hasChanged = (file: string) =>
      before.has(file) || !isAnew ? before.get(file) !== known.get(file) : changedAtMs(file) >= sinceMs
    const isGone = (file: string) => !isAnew && !known.has(file)
    const isChanged = files.some(hasChanged) || [...before.keys()].some(isGone)
    isAnew = false
    if (!isChanged) return
    sinceMs = Date.now()
    await onChange()
    isAnew = !isDeepStrictEqual(filesNow(), wanted)
    scheduleCheck()
  }

  void inOrder(check)
  const look = setInterval(() => {
    if ([...known].some(([file, looks]) => lookOf(file) !== looks)) scheduleCheck()
  }, LOOK_MS).unref()
  return () => {
    isClosed = true
    clearTimeout(timer)
    clearInterval(look)
    watchers.update([])
  }
}

interface WatchedFolder {
  readonly folder: string
  readonly recursive: boolean
}

/** Watches the folders of the last call of `update`, as far as they exist. */
function createWatchers(onEvent: () => void) {
  const watchers = new Map<string, FSWatcher>()
  return {
    update(folders: readonly WatchedFolder[]) {
      // If two patterns share a folder, the recursive one wins. A folder that was replaced has to be watched again.
      const recursiveLast = folders.toSorted((a, b) => Number(a.recursive) - Number(b.recursive))
      const wanted = new Map(
        recursiveLast.map(watched => [`${watched.folder} ${statsOf(watched.folder)?.ino}`, watched]),
      )
      for (const [identity, watcher] of watchers) {
        if (wanted.has(identity)) continue
        watcher.close()
        watchers.delete(identity)
      }
      for (const [identity, { folder, recursive }] of wanted) {
        if (watchers.has(identity)) continue
        try {
          watchers.set(identity, watch(folder, { recursive }, onEvent).on('error', onEvent))
        } catch {
          // It does not exist yet, or the system has no more watches. Then only the regular look notices changes.
        }
      }
    },
  }
}

/** The folder that contains a pattern's files, and whether its subfolders count as well. */
function folderOfPattern(pattern: string, dir: string): WatchedFolder {
  const parts = pattern.split('/')
  const wild = parts.findIndex(part => /[*?[\]{}!]/.test(part))
  const fixed = wild < 0 ? parts.length - 1 : wild
  return { folder: path.resolve(dir, parts.slice(0, fixed).join('/') || '.'), recursive: fixed < parts.length - 1 }
}

function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false })
  } catch {
    // Such as a circular link, or a folder that may not be searched.
    return undefined
  }
}

const changedAtMs = (file: string) => statsOf(file)?.ctimeMs ?? Number.NEGATIVE_INFINITY

/** A text that changes whenever the file changes. */
function lookOf(file: string): string {
  const stats = statsOf(file)
  return `${stats?.ino} ${stats?.size} ${stats?.mtimeMs} ${stats?.ctimeMs}`
}
