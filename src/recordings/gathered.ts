/** Gathers an answer as it goes by: its bytes with their times, in memory or beyond. */
import { createSpill, type Spill } from './spill.js'

export interface Gathered {
  /** Takes bytes that the network delivered at `atMs`. False when that was too much: nothing is gathered any more. */
  add(bytes: Buffer, atMs: number): boolean
  /** The last bytes, as far as they matter for seeing how it ended. */
  tail(): Buffer
  /** Everything, in the pieces in which it came. Rejects when what went beyond the memory was lost. */
  take(): Promise<readonly { readonly atMs: number; readonly bytes: Buffer }[]>
  drop(): void
}

/** More of one answer is not held in memory while it goes on. */
const MEMORY_BYTES = 1_048_576
/** The end of a stream is some ten bytes long; a few events after it do no harm. */
const TAIL_BYTES = 1024

export function gather(mostBytes: number): Gathered {
  const pieces: { readonly atMs: number; readonly length: number }[] = []
  let held: Buffer[] = []
  let heldBytes = 0
  let allBytes = 0
  let last: Buffer = Buffer.alloc(0)
  let spill: Spill | undefined

  function drop(): void {
    held = []
    spill?.drop()
    spill = undefined
  }

  return {
    add(bytes, atMs) {
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
    tail: () => last,
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
