/** Edits of a text or of the bytes of a body, which leave everything else where it was. */

export interface Edit<T> {
  readonly start: number
  readonly end: number
  readonly to: T
}

/** The text after edits, which are sorted and do not overlap. */
export function editedText(text: string, edits: readonly Edit<string>[]): string {
  if (edits.length === 0) return text
  let result = ''
  let copiedTo = 0
  for (const { start, end, to } of edits) {
    result += text.slice(copiedTo, start) + to
    copiedTo = end
  }
  return result + text.slice(copiedTo)
}

/** The same edits of the bytes that the text was read from. */
export function byteEdits(
  text: string,
  edits: readonly Edit<string>[],
  encoding: 'utf8' | 'latin1',
): readonly Edit<Buffer>[] {
  let position = 0
  let bytes = 0
  const bytesTo = (index: number) => {
    bytes += Buffer.byteLength(text.slice(position, index), encoding)
    position = index
    return bytes
  }
  return edits.map(({ start, end, to }) => ({
    start: bytesTo(start),
    end: bytesTo(end),
    to: Buffer.from(to, encoding),
  }))
}

/**
 * Applies edits, whose places are counted across all chunks and must not overlap. New bytes go to the chunk in which the
 * edit begins. All others stay in their chunk.
 */
export function editedChunks<C extends { readonly bytes: Buffer }>(
  chunks: readonly C[],
  edits: readonly Edit<Buffer>[],
): readonly C[] {
  const sorted = edits.toSorted((a, b) => a.start - b.start)
  const result: C[] = []
  let next = 0
  let removedUntil = 0
  let chunkStart = 0
  for (const chunk of chunks) {
    const start = chunkStart
    const end = start + chunk.bytes.length
    chunkStart = end
    const parts: Buffer[] = []
    let position = Math.min(end, Math.max(start, removedUntil))
    for (let edit = sorted[next]; edit && edit.start < end; edit = sorted[++next]) {
      parts.push(chunk.bytes.subarray(position - start, edit.start - start), edit.to)
      removedUntil = edit.end
      position = Math.min(end, removedUntil)
    }
    const isUnchanged = parts.length === 0 && position === start
    result.push(
      isUnchanged ? chunk : { ...chunk, bytes: Buffer.concat([...parts, chunk.bytes.subarray(position - start)]) },
    )
  }
  return result
}
