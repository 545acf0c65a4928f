/** What was read of files, kept for as long as they stay as they are. */
import { LRUCache } from 'lru-cache'

interface FileCacheParts<T> {
  /** The same for as long as the file is as it was. Rejects when it is not there. */
  readonly stamp: (file: string) => Promise<string>
  readonly read: (file: string) => Promise<T>
  /** A file is not looked at again sooner. */
  readonly uncheckedMs: number
  /** What a value counts of `most`. */
  readonly sizeOf: (value: T) => number
  readonly most: number
}

interface CachedFile<T> {
  readonly value: T
  readonly stamp: string
  checkedMs: number
}

export function createFileCache<T>({ stamp, read, uncheckedMs, sizeOf, most }: FileCacheParts<T>) {
  const files = new LRUCache<string, CachedFile<T>>({ maxSize: most, sizeCalculation: ({ value }) => sizeOf(value) })
  return {
    /** Rejects with what `stamp` or `read` rejects with. */
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
