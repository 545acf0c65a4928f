/** The recordings of a folder by what they answer; one that was read is remembered for as long as its file stays as it is. */
import { LRUCache } from 'lru-cache'
import { type Folder, removeLeftovers } from './folder.js'
import type { RecordingFile } from './names.js'
import { bodyOf, type Recording } from './recording.js'

export type Shelf = ReturnType<typeof createShelf>

/** At most this much of what was read is remembered. */
const REMEMBERED_BYTES = 64 * 1_048_576
/** A file is not looked at again sooner: editing one takes longer. */
const UNCHECKED_MS = 250

const nothing = () => {}

/** What a recording takes in memory, roughly. */
function sizeOf({ request, response }: Recording): number {
  // Writing it out also puts its texts together: the YAML library adds them up by characters, each of which takes 32 bytes until then.
  const asked = JSON.stringify(request).length
  return 1024 + 2 * asked + bodyOf(response).length + response.chunks.length * CHUNK_BYTES
}

/** What a chunk takes beyond its bytes. */
const CHUNK_BYTES = 250

export function createShelf(folder: Folder) {
  let byKey: Map<string, RecordingFile[]> | undefined
  let listing: Promise<void> | undefined
  const { get: read, forget } = createFileCache({
    ...{ stamp: folder.stamp, read: folder.read, sizeOf },
    ...{ uncheckedMs: UNCHECKED_MS, most: REMEMBERED_BYTES },
  })

  /** Lists it again: files may have been added. */
  async function refresh(): Promise<void> {
    byKey = grouped(await folder.list())
  }

  /** Lists the folder when that has not been done yet, and removes what killed processes have left; nothing to wait for afterwards. */
  function ready(): Promise<void> | undefined {
    if (byKey) return undefined
    listing ??= Promise.all([refresh(), removeLeftovers(folder.dir)])
      .then(nothing)
      .finally(() => {
        listing = undefined
      })
    return listing
  }

  return {
    dir: folder.dir,
    ready,
    refresh,
    *all(): Iterable<RecordingFile> {
      for (const same of byKey?.values() ?? []) yield* same
    },
    /** The recordings of one request, in their order. */
    of: (key: string): readonly RecordingFile[] => byKey?.get(key) ?? [],
    /** Rejects with a ProblemsError when the file is gone or is no recording. */
    read,
    /** What is written in it, up to the answer, is enough for `requestIn`. */
    text: folder.text,
    async put(kept: RecordingFile, recording: Recording): Promise<void> {
      await folder.write(kept.file, recording, kept.key)
      forget(kept.file)
      await ready()
      const others = (byKey?.get(kept.key) ?? []).filter(({ file }) => file !== kept.file)
      byKey?.set(
        kept.key,
        [...others, kept].sort((a, b) => a.nth - b.nth),
      )
    },
    async remove({ file, key }: RecordingFile): Promise<void> {
      await folder.remove(file)
      forget(file)
      byKey?.set(
        key,
        (byKey.get(key) ?? []).filter(kept => kept.file !== file),
      )
    },
  }
}

function grouped(all: readonly RecordingFile[]): Map<string, RecordingFile[]> {
  const byKey = new Map<string, RecordingFile[]>()
  for (const kept of all) {
    const same = byKey.get(kept.key)
    if (same) same.push(kept)
    else byKey.set(kept.key, [kept])
  }
  return byKey
}

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

/** What was read of files, kept for as long as they stay as they are. */
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
