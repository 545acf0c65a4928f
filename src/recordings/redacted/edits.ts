/** Lays changes of a body onto the chunks in which the network delivered it. */
import type { RecordedChunk } from '../recording.js'

/** Other bytes in the place of those from `start` to `end`, which count through all chunks. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly bytes: Buffer
}

/** New bytes are in the chunk in which the edit begins; all others stay in the chunk where they were. Edits do not overlap. */
export function edited(chunks: readonly RecordedChunk[], edits: readonly Edit[]): readonly RecordedChunk[] {
  const sorted = [...edits].sort((a, b) => a.start - b.start)
  let next = 0
  let gone = 0
  let chunkStart = 0
  return chunks.map(chunk => {
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
    if (kept.length === 0 && at === start) return chunk
    return { ...chunk, bytes: Buffer.concat([...kept, chunk.bytes.subarray(at - start)]) }
  })
}
