/** Calls back when one of the files that a platform was made from has changed. */
import path from 'node:path'
import { watch } from 'chokidar'

export interface Watched {
  readonly configFile: string
  /** Names or globs of reply files, relative to the folder of the configuration. */
  readonly replies: readonly string[]
}

/** Editors write a file in several steps, and several files at once; they are one change. */
const SETTLE_MS = 60

/** Watches until the function that it gives back is called. Resolves when changes are seen from then on. */
export async function watchFiles({ configFile, replies }: Watched, changed: () => void): Promise<() => Promise<void>> {
  const dir = path.dirname(configFile)
  const places = replies.map(pattern => path.resolve(dir, fixedPart(pattern)))
  const watcher = watch([configFile, path.join(dir, '.env'), ...places], {
    ignoreInitial: true,
    ignored: file => /[\\/](node_modules|\.git)([\\/]|$)/.test(path.relative(dir, file)),
  })
  let timer: NodeJS.Timeout | undefined
  watcher.on('all', () => {
    clearTimeout(timer)
    timer = setTimeout(changed, SETTLE_MS)
  })
  await new Promise<void>(resolve => watcher.once('ready', () => resolve()))
  return async () => {
    clearTimeout(timer)
    await watcher.close()
  }
}

/** The folders of a glob before its first wildcard; a name without one is itself. */
function fixedPart(pattern: string): string {
  const parts = pattern.split('/')
  const wild = parts.findIndex(part => /[*?[\]{}!]/.test(part))
  return wild < 0 ? pattern : parts.slice(0, wild).join('/') || '.'
}
