/** Produces bytes that are always the same except for an id, which they contain many times. */

import type { Reply } from '../../core/exchange.js'
import { HEAD_ROOM, LAST_CHUNK } from '../../core/http.js'

export interface ByteTemplate {
  /** The template fits only if this is the same. */
  readonly sameAs: string
  /**
   * Returns the bytes with `id` in all places; it must be as long as the id that the template was made with. Call `sent`
   * when the bytes have been sent. `again` produces them once more.
   */
  fill(id: string): Pick<Reply, 'framedBody' | 'onSent' | 'regenerate'> & { readonly body: Buffer }
}

/** Roughly the number of answers that are under way at the same time. */
const KEPT = 64

/** Bytes, and the id in them. */
interface FilledBytes {
  /** The bytes with room for the head before them and the end of the chunk after them, so that an answer is one write of one buffer. */
  readonly framed: Buffer
  readonly body: Buffer
  id: string
}

/**
 * Makes a template from a text that contains `id`. Bytes that have been sent are reused, since allocating memory for each
 * stream would take longer than writing to it. Ids count up, so only their last characters differ from those already
 * there.
 */
export function createByteTemplate(sameAs: string, id: string, text: string): ByteTemplate {
  const bytes = Buffer.from(text)
  const ending = Buffer.from(`\r\n${LAST_CHUNK}`)
  const places: number[] = []
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + id.length)) places.push(at)
  const free: FilledBytes[] = []

  function filled(copy: FilledBytes, next: string): FilledBytes {
    let first = 0
    while (first < next.length && next.charCodeAt(first) === copy.id.charCodeAt(first)) first++
    for (let i = first; i < next.length; i++) {
      const letter = next.charCodeAt(i)
      for (const place of places) copy.body[place + i] = letter
    }
    copy.id = next
    return copy
  }

  function fresh(): FilledBytes {
    const framed = Buffer.concat([Buffer.alloc(HEAD_ROOM), bytes, ending])
    return { framed, body: framed.subarray(HEAD_ROOM, HEAD_ROOM + bytes.length), id }
  }

  return {
    sameAs,
    fill(next) {
      const copy = filled(free.pop() ?? fresh(), next)
      return {
        body: copy.body,
        framedBody: copy.framed,
        onSent() {
          if (free.length < KEPT) free.push(copy)
        },
        regenerate: () => filled(fresh(), next).body,
      }
    },
  }
}
