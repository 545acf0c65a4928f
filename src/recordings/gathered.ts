/** Collects an answer while it passes: its bytes with their times, in memory and, if it is large, on disk. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SPILL } from './folder.js'

export type ResponseBuffer = ReturnType<typeof createResponseBuffer>

/** The part of a running answer that is held in memory. */
const MEMORY_BYTES = 1_048_576
/** The end of a stream is about ten bytes long; this allows for a few events after it. */
const TAIL_BYTES = 1024

export function createResponseBuffer(mostBytes: number) {
  const pieces: { readonly atMs: number; readonly length: number }[] = []
  const held = createHeld()
  let allBytes = 0
  let last: Buffer = Buffer.alloc(0)
  return {
    /**
     * Adds bytes that arrived at `atMs`. Returns false once the limit is exceeded; nothing is collected from then on.
     */
    add(bytes: Buffer, atMs: number): boolean {
      allBytes += bytes.length
      if (allBytes > mostBytes) {
        held.drop()
        return false
      }
      pieces.push({ atMs, length: bytes.length })
      held.add(bytes)
      last =
        bytes.length >= TAIL_BYTES ? bytes.subarray(-TAIL_BYTES) : Buffer.concat([last, bytes]).subarray(-TAIL_BYTES)
      return true
    },
    /** The last bytes, enough to see how the answer ended. */
    tail: () => last,
    /** Returns everything, in the pieces in which it arrived. Rejects if the part on disk was lost. */
    async take() {
      const whole = await held.take()
      let start = 0
      return pieces.map(({ atMs, length }) => {
        const bytes = whole.subarray(start, start + length)
        start += length
        return { atMs, bytes }
      })
    },
    /** How much of it is in memory. */
    heldBytes: held.bytes,
    drop: held.drop,
  }
}

/** Bytes in memory; once they are many, on disk. */
function createHeld() {
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
  const opened = openNameless()
  let written: Promise<unknown> = opened
  // The error is reported when the answer is taken.
  const quietly = () => written.catch(() => {})

  async function close(): Promise<void> {
    await quietly()
    const { file, dir } = await opened
    await file.close()
    await rm(dir, { recursive: true, force: true })
  }

  return {
    add(bytes: Buffer): void {
      const secret = cipher.update(bytes)
      written = written.then(async () => (await opened).file.appendFile(secret))
      quietly()
    },
    /** Returns everything that was added in one piece, and deletes the file. Rejects if writing to disk failed. */
    async take(): Promise<Buffer> {
      try {
        await written
        const { file } = await opened
        const { size } = await file.stat()
        const secret = Buffer.alloc(size)
        await file.read(secret, 0, size, 0)
        return createDecipheriv(ALGORITHM, key, iv).update(secret)
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
async function openNameless(): Promise<{ readonly file: FileHandle; readonly dir: string }> {
  const dir = await mkdtemp(path.join(tmpdir(), `${SPILL}${process.pid}-`))
  const file = await open(path.join(dir, 'spill'), 'w+', 0o600)
  await rm(dir, { recursive: true, force: true }).catch(() => {})
  return { file, dir }
}
