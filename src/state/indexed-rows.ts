/** Rows by their keys, and by the values of some columns without looking at the others. */
import type { AnyRow, AnyShape } from './shapes.js'
import type { Value } from './values.js'

export type Conditions = readonly (readonly [column: string, value: Value])[]

export interface IndexedRows {
  get(key: string): AnyRow | undefined
  put(key: string, row: AnyRow): void
  delete(key: string): void
  /** The rows that meet all conditions, with their keys. */
  matching(conditions: Conditions): Iterable<readonly [key: string, row: AnyRow]>
}

type RowsByKey = Map<string, AnyRow>

export function createIndexedRows({ key: keyColumn, unique, indexed }: AnyShape): IndexedRows {
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

  /** The rows with this value in this column; all where no index can tell. */
  function alike(column: string, value: Value): RowsByKey {
    const index = indexes.get(column)
    if (index) return index.get(value) ?? none
    if (column !== keyColumn) return rows
    const row = rows.get(String(value))
    return row ? new Map([[String(value), row]]) : none
  }

  /** As few rows as the indexes can tell. */
  function candidates(conditions: Conditions): RowsByKey {
    const choices = conditions.map(([column, value]) => alike(column, value))
    return choices.reduce((fewest, choice) => (choice.size < fewest.size ? choice : fewest), rows)
  }

  return {
    get: key => rows.get(key),
    put(key, row) {
      remove(key)
      rows.set(key, row)
      for (const [column, index] of indexes) {
        const alike = index.get(row[column])
        if (alike) alike.set(key, row)
        else index.set(row[column], new Map([[key, row]]))
      }
    },
    delete: remove,
    *matching(conditions) {
      for (const entry of candidates(conditions)) {
        if (conditions.every(([column, value]) => entry[1][column] === value)) yield entry
      }
    },
  }
}
