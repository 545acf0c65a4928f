/** Rows with some of them covered: by what a writer has changed so far, or by what a reader saw before somebody changed it. */
import { type Conditions, createIndexedRows, type IndexedRows } from './indexed-rows.js'
import type { AnyRow, AnyShape } from './shapes.js'

export interface LayeredRows {
  get(key: string): AnyRow | undefined
  matching(conditions: Conditions): Iterable<readonly [key: string, row: AnyRow]>
  covers(key: string): boolean
  /** From now on this row is seen in place of the one below; undefined: none is. */
  cover(key: string, row: AnyRow | undefined): void
  /** Every row that is covered, and what covers it. */
  covered(): Iterable<readonly [key: string, row: AnyRow | undefined]>
}

export function layerOver(below: IndexedRows, shape: AnyShape): LayeredRows {
  const keys = new Set<string>()
  // Most layers cover nothing, so they make nothing to cover with.
  let above: IndexedRows | undefined

  return {
    get: key => (keys.has(key) ? above?.get(key) : below.get(key)),
    *matching(conditions) {
      for (const entry of below.matching(conditions)) if (!keys.has(entry[0])) yield entry
      if (above) yield* above.matching(conditions)
    },
    covers: key => keys.has(key),
    cover(key, row) {
      keys.add(key)
      if (!row) return above?.delete(key)
      above ??= createIndexedRows(shape)
      above.put(key, row)
    },
    *covered() {
      for (const key of keys) yield [key, above?.get(key)]
    },
  }
}
