/** Collects an answer in memory while it arrives: its bytes with their times. */
import { MOST_BODY_BYTES, type RecordedChunk } from './recording.js'

export type ResponseBuffer = ReturnType<typeof createResponseBuffer>

/** The end of a stream is about ten bytes long; this allows for a few events after it. */
const TAIL_BYTES = 1024

export function createResponseBuffer() {
  let chunks: RecordedChunk[] = []
  let totalBytes = 0
  let tail: Buffer = Buffer.alloc(0)
  return {
    /**
     * Adds bytes that arrived at `atMs`. Returns false once the limit is exceeded; nothing is collected from then on.
     */
    add(bytes: Buffer, atMs: number): boolean {
      totalBytes += bytes.length
      if (totalBytes > MOST_BODY_BYTES) {
        chunks = []
        return false
      }
      // A copy: the bytes are a small part of a large network buffer, which would otherwise stay in memory.
      chunks.push({ atMs, bytes: Buffer.from(bytes) })
      tail =
        bytes.length >= TAIL_BYTES ? bytes.subarray(-TAIL_BYTES) : Buffer.concat([tail, bytes]).subarray(-TAIL_BYTES)
      return true
    },
    /** The last bytes, enough to see how the answer ended. */
    tail: () => tail,
    /** Everything, in the pieces in which it arrived. */
    chunks: (): readonly RecordedChunk[] => chunks,
    bytes: () => totalBytes,
  }
}
