/** Calls back when one of the files that a platform was made from has changed. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { watch } from 'chokidar'
import picomatch from 'picomatch'

export interface Watched {
  readonly configFile: string
  /** Names or globs of reply files, relative to the folder of the configuration. */
  readonly replies: readonly string[]
  /** When the files were read, in milliseconds since 1970: a later change counts even if it came before the watch began. */
  readonly readAtMs: number
}

/** Editors write a file in several steps, and several files at once; they are one change. */
const SETTLE_MS = 60

/** Watches until the function that it gives back is called. Resolves when changes are seen from then on. */
export async function watchFiles(
  { configFile, replies, readAtMs }: Watched,
  changed: () => void,
): Promise<() => Promise<void>> {
  const dir = path.dirname(configFile)
  const names = [configFile, path.join(dir, '.env')]
  const patterns = replies.map(pattern => path.resolve(dir, pattern))
  const matches = picomatch(patterns)
  const isRead = (file: string) => names.includes(file) || patterns.includes(file) || matches(file)
  const folders = replies.map(pattern => nearestFolder(path.resolve(dir, fixedPart(pattern)), dir))

  const watcher = watch([...names, ...folders], {
    ignored: file => /[\\/](node_modules|\.git)([\\/]|$)/.test(path.relative(dir, file)),
  })
  let timer: NodeJS.Timeout | undefined
  watcher.on('all', (event, file, stats) => {
    if (!isRead(file)) return
    // The first look tells of every file as if it were new.
    if (event === 'add' && stats && stats.ctimeMs < readAtMs) return
    clearTimeout(timer)
    timer = setTimeout(changed, SETTLE_MS)
  })
  await new Promise<void>(resolve => watcher.once('ready', () => resolve()))
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}

/** A folder that is not there yet is seen to come from the nearest one that is, down to `dir`. */
function nearestFolder(place: string, dir: string): string {
  if (existsSync(place) || place === dir || place === path.dirname(place)) return place
  return nearestFolder(path.dirname(place), dir)
}

/** The folders of a glob before its first wildcard; a name without one is itself. */
function fixedPart(pattern: string): string {
  const parts = pattern.split('/')
  const wild = parts.findIndex(part => /[*?[\]{}!]/.test(part))
  return wild < 0 ? pattern : parts.slice(0, wild).join('/') || '.'
}
