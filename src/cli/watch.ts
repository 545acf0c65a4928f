/** Watches the files from which a platform was configured, and calls back when one changes. */
import { type FSWatcher, lstatSync, readlinkSync, statSync, watch } from 'node:fs'
import path from 'node:path'
import { findReplyFiles } from '../replies/index.js'

interface WatchedFiles {
  readonly configFile: string
  /** Further files named in the configuration. */
  readonly otherFiles?: readonly string[]
  /** Names or globs of reply files, relative to the folder of the configuration. */
  readonly replies: readonly string[]
  /** When the files were read, in milliseconds since 1970. Changes since then count, even those before watching began. */
  readonly readAtMs: number
}

/** Editors write a file in several steps, or several files at once. That counts as one change. */
const SETTLE_MS = 60

/**
 * Watches until the returned function is called. It watches folders and compares files, so it notices files that are
 * created, deleted or replaced, from the first moment on. (A library that watches single files lost changes while it
 * started.)
 */
export function watchFiles(
  { configFile, otherFiles = [], replies, readAtMs }: WatchedFiles,
  onChange: () => void,
): () => void {
  const dir = path.dirname(configFile)
  const fixedFiles = [configFile, path.join(dir, '.env'), ...otherFiles]
  const replyFolders = replies.map(pattern => folderOfPattern(pattern, dir))
  const watchers = createWatchers(scheduleCheck)
  const hasChanged = createChangeDetector(readAtMs)
  let timer: NodeJS.Timeout | undefined
  let isClosed = false
  let files: readonly string[] = fixedFiles

  // Stand for the files in these folders: a folder may be behind links, too, and have no files yet.
  const folderProbes = replyFolders.map(({ folder }) => path.join(folder, '*'))
  const updateWatchers = () => watchers.update([...watchedFoldersOf([...files, ...folderProbes]), ...replyFolders])

  function scheduleCheck() {
    clearTimeout(timer)
    timer = setTimeout(() => checkFiles().catch(onChange), SETTLE_MS)
  }

  async function checkFiles() {
    if (isClosed) return
    updateWatchers()
    const found = await findReplyFiles(replies, dir)
    if (isClosed) return
    files = [...fixedFiles, ...found]
    // The files that were found may be behind links.
    updateWatchers()
    if (hasChanged(files)) onChange()
  }

  // An error here also makes a reload fail, which reports it.
  checkFiles().catch(onChange)
  return () => {
    isClosed = true
    clearTimeout(timer)
    watchers.close()
  }
}

/** Returns a function that says whether files have changed since its last call; the first time, since `readAtMs`. */
function createChangeDetector(readAtMs: number) {
  let last: string | undefined
  return (files: readonly string[]): boolean => {
    const before = last
    last = files.map(fingerprintOf).join('\n')
    return before === undefined ? files.some(file => changedAtMs(file) >= readAtMs) : last !== before
  }
}

interface WatchedFolder {
  readonly folder: string
  readonly recursive: boolean
}

/**
 * Watches folders, or the nearest existing parent of each. `update` must be called when folders may have appeared or
 * disappeared.
 */
function createWatchers(onEvent: () => void) {
  const watchers = new Map<string, FSWatcher>()

  function open({ folder, recursive }: WatchedFolder): FSWatcher | undefined {
    const nearest = nearestFolder(folder)
    try {
      return watch(nearest, { recursive: recursive && nearest === folder }, onEvent).on('error', onEvent)
    } catch (error) {
      // For example, the system has no more watches available.
      console.error(`Edits in ${nearest} will not be noticed (${(error as NodeJS.ErrnoException).code}).`)
      return undefined
    }
  }

  return {
    update(folders: readonly WatchedFolder[]) {
      // If two patterns share a folder, the recursive one wins.
      const recursiveLast = folders.toSorted((a, b) => Number(a.recursive) - Number(b.recursive))
      const wanted = new Map(recursiveLast.map(watched => [identityOf(nearestFolder(watched.folder)), watched]))
      for (const [identity, watcher] of watchers) {
        if (wanted.has(identity)) continue
        watcher.close()
        watchers.delete(identity)
      }
      for (const [identity, watched] of wanted) {
        const watcher = watchers.has(identity) ? undefined : open(watched)
        if (watcher) watchers.set(identity, watcher)
      }
    },
    close() {
      for (const watcher of watchers.values()) watcher.close()
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

/** The maximum number of links in a path, as on Linux. */
const MOST_LINKS = 40

/** The folders in which a change can replace a file: its own, and that of each link that leads to it. */
function foldersOf(file: string, mostLinks = MOST_LINKS): readonly string[] {
  const link = mostLinks > 0 ? firstLinkOf(file) : undefined
  if (link === undefined) return [path.dirname(file)]
  const folder = path.dirname(link)
  return [folder, ...foldersOf(path.resolve(folder, readlinkSync(link), path.relative(link, file)), mostLinks - 1)]
}

function watchedFoldersOf(files: readonly string[]): readonly WatchedFolder[] {
  const folders = new Set(files.flatMap(file => foldersOf(file)))
  return [...folders].map(folder => ({ folder, recursive: false }))
}

/** The first part of a path that is a link. Those in the root, such as /tmp on macOS, belong to the system. */
function firstLinkOf(file: string): string | undefined {
  const above = path.dirname(file)
  if (path.dirname(above) === above) return undefined
  const isLink = () => lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()
  return firstLinkOf(above) ?? (isLink() ? file : undefined)
}

const statsOf = (file: string) => statSync(file, { throwIfNoEntry: false })
const changedAtMs = (file: string) => statsOf(file)?.ctimeMs ?? Number.NEGATIVE_INFINITY

/** A text that changes whenever the file changes. */
function fingerprintOf(file: string): string {
  const stats = statsOf(file)
  return stats ? `${file} ${stats.ino} ${stats.size} ${stats.mtimeMs} ${stats.ctimeMs}` : `${file} is not there`
}

/** A folder that was deleted and created again has to be watched again. */
const identityOf = (folder: string) => `${folder} ${statsOf(folder)?.ino}`

/** The nearest existing folder, where the creation of a missing one can be seen. */
function nearestFolder(folder: string): string {
  const above = path.dirname(folder)
  return above === folder || statsOf(folder)?.isDirectory() ? folder : nearestFolder(above)
}
