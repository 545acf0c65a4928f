/** Collects an answer while it arrives: its bytes with their times, in memory and, if it is large, on disk. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SPILL } from './folder.js'
import { MOST_BODY_BYTES } from './recording.js'

export type ResponseBuffer = ReturnType<typeof createResponseBuffer>

/** The part of a running answer that is held in memory. */
const MEMORY_BYTES = 1_048_576
/** The end of a stream is about ten bytes long; this allows for a few events after it. */
const TAIL_BYTES = 1024

export function createResponseBuffer() {
  const pieces: { readonly atMs: number; readonly length: number }[] = []
  const store = createStore()
  let totalBytes = 0
  let tail: Buffer = Buffer.alloc(0)
  return {
    /**
     * Adds bytes that arrived at `atMs`. Returns false once the limit is exceeded; nothing is collected from then on.
     */
    add(bytes: Buffer, atMs: number): boolean {
      totalBytes += bytes.length
      if (totalBytes > MOST_BODY_BYTES) {
        store.drop()
        return false
      }
      pieces.push({ atMs, length: bytes.length })
      store.add(bytes)
      tail =
        bytes.length >= TAIL_BYTES ? bytes.subarray(-TAIL_BYTES) : Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES)
      return true
    },
    /** The last bytes, enough to see how the answer ended. */
    tail: () => tail,
    /** Returns everything, in the pieces in which it arrived. Rejects if the part on disk was lost. */
    async take() {
      const whole = await store.take()
      let start = 0
      return pieces.map(({ atMs, length }) => {
        const bytes = whole.subarray(start, start + length)
        start += length
        return { atMs, bytes }
      })
    },
    /** How much of it is in memory. */
    heldBytes: store.bytes,
    drop: store.drop,
  }
}

/** Holds bytes in memory, and moves them to disk once there are too many. */
function createStore() {
  let inMemory: Buffer[] = []
  let inMemoryBytes = 0
  let spill: ReturnType<typeof createSpill> | undefined
  return {
    add(bytes: Buffer): void {
      // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
      inMemory.push(Buffer.from(bytes))
      inMemoryBytes += bytes.length
      if (inMemoryBytes <= MEMORY_BYTES) return
      spill ??= createSpill()
      for (const piece of inMemory) spill.add(piece)
      inMemory = []
      inMemoryBytes = 0
    },
    take: async () => Buffer.concat([...(spill ? [await spill.take()] : []), ...inMemory]),
    bytes: () => inMemoryBytes,
    drop(): void {
      inMemory = []
      inMemoryBytes = 0
      spill?.drop()
      spill = undefined
    },
  }
}

const ALGORITHM = 'aes-256-ctr'

/** Recordings are redacted when they are complete, so until then nothing may be readable on disk. */
function createSpill() {
  const [key, iv] = [randomBytes(32), randomBytes(16)]
  const cipher = createCipheriv(ALGORITHM, key, iv)
  const opening = openUnlinked()
  let writes: Promise<unknown> = opening
  // Errors are reported by `take`.
  const quietly = () => writes.catch(() => {})

  async function close(): Promise<void> {
    await quietly()
    const { file, dir } = await opening
    await file.close()
    await rm(dir, { recursive: true, force: true })
  }

  return {
    add(bytes: Buffer): void {
      const encrypted = cipher.update(bytes)
      writes = writes.then(async () => (await opening).file.appendFile(encrypted))
      quietly()
    },
    /** Returns everything that was added in one piece, and deletes the file. Rejects if writing to disk failed. */
    async take(): Promise<Buffer> {
      try {
        await writes
        const { file } = await opening
        const { size } = await file.stat()
        const encrypted = Buffer.alloc(size)
        await file.read(encrypted, 0, size, 0)
        return createDecipheriv(ALGORITHM, key, iv).update(encrypted)
      } finally {
        await close()
      }
    },
    drop: (): Promise<void> => close().catch(() => {}),
  }
}

/**
 * Opens a file and unlinks it, where the system allows that, so that it disappears with the process however that ends.
 */
async function openUnlinked(): Promise<{ readonly file: FileHandle; readonly dir: string }> {
  const dir = await mkdtemp(path.join(tmpdir(), `${SPILL}${process.pid}-`))
  const file = await open(path.join(dir, 'spill'), 'w+', 0o600)
  await rm(dir, { recursive: true, force: true }).catch(() => {})
  return { file, dir }
}
