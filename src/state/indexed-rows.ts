/** Rows by their keys, and by the values of some columns without looking at the others. */
import type { AnyRow, AnyShape, ColumnValue } from './shapes.js'

type Conditions = readonly (readonly [column: string, value: ColumnValue])[]

export type IndexedRows = ReturnType<typeof createIndexedRows>

type RowsByKey = Map<string, AnyRow>

export function createIndexedRows({ key: keyColumn, unique, indexed }: AnyShape) {
  const rows: RowsByKey = new Map()
  const indexes = new Map([...unique, ...indexed].map(column => [column, new Map<unknown, RowsByKey>()]))
  const none: RowsByKey = new Map()

  function remove(key: string) {
    const row = rows.get(key)
    if (!row) return
    rows.delete(key)
    for (const [column, index] of indexes) {
      const alike = index.get(row[column])
      alike?.delete(key)
      if (alike?.size === 0) index.delete(row[column])
    }
  }

  /** The rows with this value in this column; all where there is no index. */
  function alike(column: string, value: ColumnValue): RowsByKey {
    const index = indexes.get(column)
    if (index) return index.get(value) ?? none
    if (column !== keyColumn) return rows
    const row = rows.get(String(value))
    return row ? new Map([[String(value), row]]) : none
  }

  return {
    get: (key: string) => rows.get(key),
    put(key: string, row: AnyRow): void {
      remove(key)
      rows.set(key, row)
      for (const [column, index] of indexes) {
        const alike = index.get(row[column])
        if (alike) alike.set(key, row)
        else index.set(row[column], new Map([[key, row]]))
      }
    },
    delete: remove,
    /** The rows that meet all conditions, with their keys. */
    *matching(conditions: Conditions): Iterable<readonly [key: string, row: AnyRow]> {
      // As few rows as the indexes allow.
      const choices = conditions.map(([column, value]) => alike(column, value))
      const candidates = choices.reduce((fewest, choice) => (choice.size < fewest.size ? choice : fewest), rows)
      for (const entry of candidates) {
        if (conditions.every(([column, value]) => entry[1][column] === value)) yield entry
      }
    },
  }
}

export type LayeredRows = ReturnType<typeof layerOver>

/** Rows with some of them covered, or all: by what a writer has changed so far, or by what a reader saw before a change. */
export function layerOver(below: IndexedRows, shape: AnyShape) {
  const keys = new Set<string>()
  let coversAll = false
  // Most layers cover nothing, so they make nothing to cover with.
  let above: IndexedRows | undefined

  const covers = (key: string) => coversAll || keys.has(key)

  function* matching(conditions: Conditions): Iterable<readonly [key: string, row: AnyRow]> {
    if (!coversAll) for (const entry of below.matching(conditions)) if (!keys.has(entry[0])) yield entry
    if (above) yield* above.matching(conditions)
  }

  return {
    get: (key: string) => (covers(key) ? above?.get(key) : below.get(key)),
    matching,
    covers,
    isOver: (rows: IndexedRows) => rows === below,
    /** From now on this row is seen in place of the one below; undefined: none is. */
    cover(key: string, row: AnyRow | undefined): void {
      if (!coversAll) keys.add(key)
      if (!row) return above?.delete(key)
      above ??= createIndexedRows(shape)
      above.put(key, row)
    },
    /** From now on none of the rows below is seen, however many there are. Returns how many were seen until now. */
    clear(): number {
      let seen = 0
      for (const _ of matching([])) seen++
      coversAll = true
      keys.clear()
      above = undefined
      return seen
    },
    /** All rows that are seen, once this layer was cleared. */
    get replacement(): IndexedRows | undefined {
      return coversAll ? (above ?? createIndexedRows(shape)) : undefined
    },
    /** Every row that is covered by itself, and what covers it. */
    *covered(): Iterable<readonly [key: string, row: AnyRow | undefined]> {
      for (const key of keys) yield [key, above?.get(key)]
    },
  }
}
