/** Creates bytes that differ only in an id, which they contain many times. */

import type { Reply } from '../../core/exchange.js'
import { HEAD_ROOM, LAST_CHUNK } from '../../core/http.js'

export interface ByteTemplate {
  /** The template can be used for answers with the same key. */
  readonly key: string
  /**
   * Returns the bytes with `id` in all places. It must be as long as the id with which the template was created. Call
   * `onSent` when the bytes have been sent; they are then reused. `regenerate` creates them again.
   */
  fill(id: string): Pick<Reply, 'framedBody' | 'onSent' | 'regenerate'> & { readonly body: Buffer }
}

/** At most this many copies are kept for reuse: roughly the number of answers that are sent at the same time. */
const MOST_FREE = 64

/** Bytes, and the id in them. */
interface FilledBytes {
  /** The bytes with room for the head before them and the end of the chunk after them, so that an answer is one write of one buffer. */
  readonly framed: Buffer
  readonly body: Buffer
  id: string
}

/**
 * Creates a template from a text that contains `id`. Bytes that have been sent are reused, since allocating memory for
 * each stream would take longer than writing to it. Ids count up, so only their last characters have to be replaced.
 */
export function createByteTemplate(sameAs: string, id: string, text: string): ByteTemplate {
  const bytes = Buffer.from(text)
  const chunkEnd = Buffer.from(`\r\n${LAST_CHUNK}`)
  const idOffsets: number[] = []
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + id.length)) idOffsets.push(at)
  const free: FilledBytes[] = []

  function fillIn(copy: FilledBytes, next: string): FilledBytes {
    let first = 0
    while (first < next.length && next.charCodeAt(first) === copy.id.charCodeAt(first)) first++
    for (let i = first; i < next.length; i++) {
      const letter = next.charCodeAt(i)
      for (const place of idOffsets) copy.body[place + i] = letter
    }
    copy.id = next
    return copy
  }

  function createCopy(): FilledBytes {
    const framed = Buffer.concat([Buffer.alloc(HEAD_ROOM), bytes, chunkEnd])
    return { framed, body: framed.subarray(HEAD_ROOM, HEAD_ROOM + bytes.length), id }
  }

  return {
    key: sameAs,
    fill(next) {
      const copy = fillIn(free.pop() ?? createCopy(), next)
      return {
        body: copy.body,
        framedBody: copy.framed,
        onSent() {
          if (free.length < MOST_FREE) free.push(copy)
        },
        regenerate: () => fillIn(createCopy(), next).body,
      }
    },
  }
}
