/** Looks regularly at the files from which a platform was configured, and calls back when one has changed. */
import { type Stats, statSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { findReplyFiles } from '../replies/index.js'

export interface WatchedFiles {
  readonly configFile: string
  readonly otherFiles: readonly string[]
  /** Names or globs of reply files, relative to the folder of the configuration. */
  readonly replies: readonly string[]
}

/** Editors write a file in several steps, or several files at once. What is still changing is looked at again. */
const LOOK_MS = 150
/** In a large folder, looking takes at most this part of the time. */
const LOOKING_SHARE = 0.05

/**
 * Watches until the returned function is called. Changes since `readAtMs` (in milliseconds since 1970) count, even those
 * before watching began. `filesNow` is asked again after each call of `onChange`, which may read other files. (Events of
 * the system miss the targets of links, new folders and files of containers, and a library that watches single files
 * lost changes while it started.)
 */
export function watchFiles(filesNow: () => WatchedFiles, readAtMs: number, onChange: () => Promise<void> | void) {
  /** What the files looked like when they were read. */
  let known: ReadonlyMap<string, string> = new Map()
  let before: ReadonlyMap<string, string> | undefined
  /** When they were read, if they may be others than those of the last look. */
  let anewSinceMs: number | undefined = readAtMs
  let isClosed = false
  let timer: NodeJS.Timeout | undefined

  async function look(): Promise<void> {
    const startedMs = performance.now()
    const wanted = filesNow()
    const now = new Map((await filesIn(wanted)).map(file => [file, lookOf(file)]))
    if (isClosed) return
    const isSettled = isDeepStrictEqual(now, before)
    before = now
    if (isSettled) {
      const isChanged = haveChanged(known, now, anewSinceMs)
      known = now
      anewSinceMs = undefined
      if (isChanged) {
        const changedMs = Date.now()
        await onChange()
        if (!isDeepStrictEqual(filesNow(), wanted)) anewSinceMs = changedMs
      }
    }
    const pauseMs = Math.max(LOOK_MS, (performance.now() - startedMs) / LOOKING_SHARE)
    if (!isClosed) timer = setTimeout(look, pauseMs).unref()
  }

  void look()
  return (): void => {
    isClosed = true
    clearTimeout(timer)
  }
}

type Looks = ReadonlyMap<string, string>

/** If they may be other files than those that are known, only changes of these since `anewSinceMs` count. */
function haveChanged(known: Looks, now: Looks, anewSinceMs: number | undefined): boolean {
  const isOther = ([file, looks]: readonly [string, string]) =>
    known.has(file) || anewSinceMs === undefined ? known.get(file) !== looks : changedAtMs(file) >= anewSinceMs
  return [...now].some(isOther) || (anewSinceMs === undefined && now.size !== known.size)
}

async function filesIn({ configFile, otherFiles, replies }: WatchedFiles): Promise<readonly string[]> {
  const dir = path.dirname(configFile)
  // An error here also makes a reload fail, which reports it.
  const found = await findReplyFiles(replies, dir).catch(() => [])
  return [configFile, path.join(dir, '.env'), ...otherFiles, ...found]
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
