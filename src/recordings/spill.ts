/** Takes what is too long to be held in memory to a file that nobody can read: it is encrypted with a key that only this process has. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { type FileHandle, mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { SPILL } from './leftovers.js'

export interface Spill {
  add(bytes: Buffer): void
  /** Everything that was added, in one piece; the file is gone then. Rejects when the disk did not take it. */
  take(): Promise<Buffer>
  /** Lets go of it. */
  drop(): Promise<void>
}

const ALGORITHM = 'aes-256-ctr'

/** What is recorded is redacted when it is complete; until then it must not lie around in the clear. */
export function createSpill(): Spill {
  const [key, iv] = [randomBytes(32), randomBytes(16)]
  const cipher = createCipheriv(ALGORITHM, key, iv)
  const opened = openNameless()
  let written: Promise<unknown> = opened
  // Told when it is taken.
  const quietly = () => written.catch(() => {})

  async function close(): Promise<void> {
    await quietly()
    const { file, dir } = await opened
    await file.close()
    await rm(dir, { recursive: true, force: true })
  }

  return {
    add(bytes) {
      const secret = cipher.update(bytes)
      written = written.then(async () => (await opened).file.appendFile(secret))
      quietly()
    },
    async take() {
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
    drop: () => close().catch(() => {}),
  }
}

/** A file without a name where the system lets go of names: it is gone with the process, however that ends. */
async function openNameless(): Promise<{ readonly file: FileHandle; readonly dir: string }> {
  const dir = await mkdtemp(path.join(tmpdir(), `${SPILL}${process.pid}-`))
  const file = await open(path.join(dir, 'spill'), 'w+', 0o600)
  await rm(dir, { recursive: true, force: true }).catch(() => {})
  return { file, dir }
}
