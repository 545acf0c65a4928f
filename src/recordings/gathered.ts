/** Gathers an answer as it goes by: its bytes with their times, in memory or beyond. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SPILL } from './folder.js'

export type Gathered = ReturnType<typeof gather>

/** More of one answer is not held in memory while it goes on. */
const MEMORY_BYTES = 1_048_576
/** The end of a stream is some ten bytes long; a few events after it do no harm. */
const TAIL_BYTES = 1024

export function gather(mostBytes: number) {
  const pieces: { readonly atMs: number; readonly length: number }[] = []
  let held: Buffer[] = []
  let heldBytes = 0
  let allBytes = 0
  let last: Buffer = Buffer.alloc(0)
  let spill: ReturnType<typeof createSpill> | undefined

  function drop(): void {
    held = []
    spill?.drop()
    spill = undefined
  }

  return {
    /** Takes bytes that the network delivered at `atMs`. False when the limit is passed: nothing is gathered any more. */
    add(bytes: Buffer, atMs: number): boolean {
      allBytes += bytes.length
      if (allBytes > mostBytes) {
        drop()
        return false
      }
      pieces.push({ atMs, length: bytes.length })
      // A copy: what the network delivers is a small part of a large buffer, which would be kept whole.
      held.push(Buffer.from(bytes))
      heldBytes += bytes.length
      last =
        bytes.length >= TAIL_BYTES ? bytes.subarray(-TAIL_BYTES) : Buffer.concat([last, bytes]).subarray(-TAIL_BYTES)
      if (heldBytes > MEMORY_BYTES) {
        spill ??= createSpill()
        for (const piece of held) spill.add(piece)
        held = []
        heldBytes = 0
      }
      return true
    },
    /** The last bytes, as far as they matter for seeing how it ended. */
    tail: () => last,
    /** Everything, in the pieces in which it came. Rejects when what went beyond the memory was lost. */
    async take() {
      const whole = Buffer.concat([...(spill ? [await spill.take()] : []), ...held])
      let start = 0
      return pieces.map(({ atMs, length }) => {
        const bytes = whole.subarray(start, start + length)
        start += length
        return { atMs, bytes }
      })
    },
    drop,
  }
}

const ALGORITHM = 'aes-256-ctr'

/** Recordings are redacted when they are complete; until then nothing may be on disk in the clear. */
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
    /** Everything that was added, in one piece; the file is gone then. Rejects when the disk did not take it. */
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

/** A file without a name where the system lets go of names: it is gone with the process, however that ends. */
async function openNameless(): Promise<{ readonly file: FileHandle; readonly dir: string }> {
  const dir = await mkdtemp(path.join(tmpdir(), `${SPILL}${process.pid}-`))
  const file = await open(path.join(dir, 'spill'), 'w+', 0o600)
  await rm(dir, { recursive: true, force: true }).catch(() => {})
  return { file, dir }
}
