/** Makes bytes that are the same each time except for an id, which stands in them many times. */

export interface Mold {
  /** What must be the same for the mold to fit. */
  readonly sameAs: string
  /**
   * The bytes with `id` in every place; `id` is as long as the one that the mold was made with. Call `sent` when they have left; `again` makes
   * them once more.
   */
  cast(id: string): { readonly body: Buffer; readonly sent: () => void; readonly again: () => Buffer }
}

/** As many as are on their way at the same time, as a rule. */
const KEPT = 64

/** Bytes, and the id that stands in them. */
interface Cast {
  readonly body: Buffer
  id: string
}

/**
 * Makes a mold of a text with `id` in it. Bytes that have left are used again, since fresh memory for each stream would take longer than
 * writing it; and ids count, so that only their last letters differ from those that are there.
 */
export function createMold(sameAs: string, id: string, text: string): Mold {
  const bytes = Buffer.from(text)
  const places: number[] = []
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + id.length)) places.push(at)
  const free: Cast[] = []

  function filled(cast: Cast, next: string): Cast {
    let first = 0
    while (first < next.length && next.charCodeAt(first) === cast.id.charCodeAt(first)) first++
    for (let i = first; i < next.length; i++) {
      const letter = next.charCodeAt(i)
      for (const place of places) cast.body[place + i] = letter
    }
    cast.id = next
    return cast
  }

  return {
    sameAs,
    cast(next) {
      const cast = filled(free.pop() ?? { body: Buffer.from(bytes), id }, next)
      return {
        body: cast.body,
        sent() {
          if (free.length < KEPT) free.push(cast)
        },
        again: () => filled({ body: Buffer.from(bytes), id }, next).body,
      }
    },
  }
}
