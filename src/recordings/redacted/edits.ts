/** Lays changes of a body onto the chunks in which the network delivered it. */
import type { Sliced } from '../../core/slices.js'
import type { RecordedChunk } from '../recording.js'

/** Other bytes in the place of those from `start` to `end`, which count through all chunks. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly bytes: Buffer
}

/** New bytes are in the chunk in which the edit begins; all others stay in the chunk where they were. Edits do not overlap. */
export function* edited(chunks: readonly RecordedChunk[], edits: readonly Edit[]): Sliced<readonly RecordedChunk[]> {
  const sorted = edits.toSorted(byStart)
  const written: RecordedChunk[] = []
  let next = 0
  let gone = 0
  let chunkStart = 0
  for (const chunk of chunks) {
    yield
    const start = chunkStart
    const end = start + chunk.bytes.length
    chunkStart = end
    const kept: Buffer[] = []
    let at = Math.min(end, Math.max(start, gone))
    for (let edit = sorted[next]; edit && edit.start < end; edit = sorted[++next]) {
      kept.push(chunk.bytes.subarray(at - start, edit.start - start), edit.bytes)
      gone = edit.end
      at = Math.min(end, gone)
    }
    const isAsItWas = kept.length === 0 && at === start
    written.push(isAsItWas ? chunk : { ...chunk, bytes: Buffer.concat([...kept, chunk.bytes.subarray(at - start)]) })
  }
  return written
}

export const byStart = (a: Edit, b: Edit) => a.start - b.start
