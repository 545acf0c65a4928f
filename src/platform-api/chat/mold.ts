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

/**
 * Makes a mold of a text with `id` in it. Filling in the ids takes a fifth of the time that putting the text together takes, and
 * bytes that have left are used again: fresh memory for each stream would take longer than writing it.
 */
export function createMold(sameAs: string, id: string, text: string): Mold {
  const bytes = Buffer.from(text)
  const places: number[] = []
  for (let at = bytes.indexOf(id); at >= 0; at = bytes.indexOf(id, at + id.length)) places.push(at)
  const free: Buffer[] = []
  function filled(body: Buffer, id: string): Buffer {
    const letters = Buffer.from(id, 'latin1')
    for (const place of places) body.set(letters, place)
    return body
  }
  return {
    sameAs,
    cast(id) {
      const body = filled(free.pop() ?? Buffer.from(bytes), id)
      return {
        body,
        sent() {
          if (free.length < KEPT) free.push(body)
        },
        again: () => filled(Buffer.from(bytes), id),
      }
    },
  }
}
