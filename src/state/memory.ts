/**
 * The state in memory, which is lost when the process ends: rows in maps. Written by hand, since with SQLite each
 * `startPlatform()` takes twice the CPU time, and a process 40 MB more memory.
 */
import type { TableName } from '../core/state.js'
import {
  type AnyRow,
  type AnyShape,
  type AnyTable,
  type ColumnValue,
  conditions,
  forEachTable,
  shapeOf,
  storedForm,
  tablesOf,
  takenError,
  watchAccess,
} from './shapes.js'
import type { Store } from './store.js'

/** What one reader or writer sees of each table. */
type View = Readonly<Record<TableName, LayeredRows>>

export function createMemoryStore(): Store {
  const rows = forEachTable(name => new IndexedRows(shapeOf(name)))
  const readers = new Set<View>()

  const createView = (): View => forEachTable(name => new LayeredRows(rows[name], shapeOf(name)))

  return {
    async read(work) {
      const view = createView()
      readers.add(view)
      try {
        return await work(tablesOf(name => ({ ...tableOver(view[name], shapeOf(name)), ...refusedChanges })))
      } finally {
        readers.delete(view)
      }
    },
    async write(work) {
      const view = createView()
      const watched = watchAccess(tablesOf(name => tableOver(view[name], shapeOf(name))))
      const result = await work(watched.tables)
      commit(view, rows, readers)
      return { result, endedAccess: watched.endedAccess }
    },
    // No other process shares this memory.
    follow() {},
    async close() {},
  }
}

/** Makes the changes of a writer visible, except to readers that are in the middle of reading. */
function commit(view: View, rows: Record<TableName, IndexedRows>, readers: Iterable<View>): void {
  for (const name of Object.keys(view) as TableName[]) {
    const { replacement } = view[name]
    if (replacement) {
      // Inserting thousands of rows one by one would hold up other requests. Readers keep the rows with which they
      // began.
      rows[name] = replacement
      continue
    }
    for (const [key, row] of view[name].covered()) {
      for (const { [name]: reader } of readers) {
        if (reader.isOver(rows[name]) && !reader.covers(key)) reader.cover(key, rows[name].get(key))
      }
      if (row) rows[name].put(key, row)
      else rows[name].delete(key)
    }
  }
}

const refuse = async () => {
  throw new Error('A read cannot change rows.')
}

const refusedChanges = { insert: refuse, update: refuse, remove: refuse }

function tableOver(rows: LayeredRows, shape: AnyShape): AnyTable {
  const find = (where: AnyRow) => rowsWhere(rows, where)
  return {
    get: async key => rows.get(key),
    async find(where, { limit = Number.POSITIVE_INFINITY, offset = 0 } = {}) {
      const found = sorted(find(where), shape)
      return found.slice(offset, offset + limit).map(([, row]) => row)
    },
    count: async where => find(where).length,
    async insert(row) {
      const added = frozenCopy(shape, row)
      requireFreeValues(rows, shape, added)
      rows.cover(added[shape.key] as string, added)
    },
    async update(key, changes) {
      const before = rows.get(key)
      if (!before) return
      const changed = frozenCopy(shape, changes)
      requireFreeValues(rows, shape, changed, key)
      const after = Object.freeze({ ...before, ...changed })
      rows.cover(key, undefined)
      rows.cover(after[shape.key] as string, after)
    },
    async remove(where) {
      if (Object.keys(where).length === 0) return rows.clear()
      const found = find(where)
      for (const [key] of found) rows.cover(key, undefined)
      return found.length
    },
  }
}

const rowsWhere = (rows: LayeredRows, where: AnyRow) => [...rows.matching(conditions(where))]

/** Throws if a row other than `ownKey` has the same key, or the same value in a unique column. */
function requireFreeValues(rows: LayeredRows, shape: AnyShape, columns: AnyRow, ownKey?: string): void {
  const key = columns[shape.key] as string | undefined
  const unique = shape.unique.filter(column => typeof columns[column] === 'string')
  const sameValues = unique.flatMap(column => rowsWhere(rows, { [column]: columns[column] }))
  if ((key !== undefined && key !== ownKey && rows.get(key)) || sameValues.some(([key]) => key !== ownKey))
    throw takenError()
}

type Entry = readonly [key: string, row: AnyRow]

/** Rows mostly arrive in the order of time and position, so there is little to sort. */
const sorted = (entries: Entry[], { order }: AnyShape): Entry[] =>
  order === undefined
    ? entries.reverse().sort(newestFirst)
    : entries.sort(([, row], [, other]) => (row[order] as number) - (other[order] as number))

// Keys are ASCII, for which JavaScript's order is the same as the databases'.
const newestFirst = ([key, row]: Entry, [otherKey, other]: Entry): number => {
  if (row.created_at !== other.created_at) return (row.created_at as string) < (other.created_at as string) ? 1 : -1
  return key < otherKey ? -1 : 1
}

/** Returns a frozen copy, which can be given to callers. */
const frozenCopy = (shape: AnyShape, row: AnyRow): AnyRow =>
  Object.freeze(
    storedForm<unknown>(shape, row, { json: text => deeplyFrozen(JSON.parse(text)), value: value => value }),
  )

function deeplyFrozen(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  for (const inside of Object.values(value)) deeplyFrozen(inside)
  return Object.freeze(value)
}

type Conditions = readonly (readonly [column: string, value: ColumnValue])[]

type RowsByKey = Map<string, AnyRow>

const noRows: RowsByKey = new Map()

/** Rows by key, with indexes on some columns. */
class IndexedRows {
  private readonly rows: RowsByKey = new Map()
  private readonly keyColumn: string
  private readonly indexes: ReadonlyMap<string, Map<unknown, RowsByKey>>

  constructor({ key, unique, indexed }: AnyShape) {
    this.keyColumn = key
    this.indexes = new Map([...unique, ...indexed].map(column => [column, new Map<unknown, RowsByKey>()]))
  }

  get(key: string): AnyRow | undefined {
    return this.rows.get(key)
  }

  put(key: string, row: AnyRow): void {
    this.delete(key)
    this.rows.set(key, row)
    for (const [column, index] of this.indexes) {
      const alike = index.get(row[column])
      if (alike) alike.set(key, row)
      else index.set(row[column], new Map([[key, row]]))
    }
  }

  delete(key: string): void {
    const row = this.rows.get(key)
    if (!row) return
    this.rows.delete(key)
    for (const [column, index] of this.indexes) {
      const alike = index.get(row[column])
      alike?.delete(key)
      if (alike?.size === 0) index.delete(row[column])
    }
  }

  /** The rows that meet all conditions, with their keys. */
  *matching(conditions: Conditions): Iterable<Entry> {
    // Uses the index that leaves the fewest rows.
    const choices = conditions.map(([column, value]) => this.alike(column, value))
    const candidates = choices.reduce((fewest, choice) => (choice.size < fewest.size ? choice : fewest), this.rows)
    for (const entry of candidates) {
      if (conditions.every(([column, value]) => entry[1][column] === value)) yield entry
    }
  }

  /** The rows with this value in this column; all rows if the column has no index. */
  private alike(column: string, value: ColumnValue): RowsByKey {
    const index = this.indexes.get(column)
    if (index) return index.get(value) ?? noRows
    if (column !== this.keyColumn) return this.rows
    const row = this.rows.get(String(value))
    return row ? new Map([[String(value), row]]) : noRows
  }
}

/** A layer over some rows: the changes of a writer so far, or the old rows for a reader that began before a change. */
class LayeredRows {
  private readonly keys = new Set<string>()
  private coversAll = false
  // Created only when needed, since most layers cover nothing.
  private above: IndexedRows | undefined

  constructor(
    private readonly below: IndexedRows,
    private readonly shape: AnyShape,
  ) {}

  get(key: string): AnyRow | undefined {
    return this.covers(key) ? this.above?.get(key) : this.below.get(key)
  }

  *matching(conditions: Conditions): Iterable<Entry> {
    if (!this.coversAll) {
      for (const entry of this.below.matching(conditions)) if (!this.keys.has(entry[0])) yield entry
    }
    if (this.above) yield* this.above.matching(conditions)
  }

  covers(key: string): boolean {
    return this.coversAll || this.keys.has(key)
  }

  isOver(rows: IndexedRows): boolean {
    return rows === this.below
  }

  /** Replaces the row below in this layer; undefined removes it. */
  cover(key: string, row: AnyRow | undefined): void {
    if (!this.coversAll) this.keys.add(key)
    if (!row) return this.above?.delete(key)
    this.above ??= new IndexedRows(this.shape)
    this.above.put(key, row)
  }

  /** Hides all rows below, however many there are. Returns how many were visible before. */
  clear(): number {
    let visible = 0
    for (const _ of this.matching([])) visible++
    this.coversAll = true
    this.keys.clear()
    this.above = undefined
    return visible
  }

  /** All visible rows, if this layer was cleared. */
  get replacement(): IndexedRows | undefined {
    return this.coversAll ? (this.above ?? new IndexedRows(this.shape)) : undefined
  }

  /** All individually covered rows, and what covers them. */
  *covered(): Iterable<readonly [key: string, row: AnyRow | undefined]> {
    for (const key of this.keys) yield [key, this.above?.get(key)]
  }
}
