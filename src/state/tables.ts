/** Reads and writes the rows of tables, with the same statements for SQLite and PostgreSQL. */

import type { Cell, CellRow, Query } from './database.js'
import { isStorableText, type Page, type Rows, type TableName, type Tables, TakenError } from './rows.js'

interface Shape<Column extends string> {
  readonly key: Column
  /** The columns that are stored as JSON. */
  readonly json: readonly Column[]
  /** The columns that are stored as 0 and 1. */
  readonly booleans: readonly Column[]
  /** Null does not count and may occur any number of times. */
  readonly unique: readonly Column[]
  /** The column by which rows are sorted, ascending. Without one, the newest row is first. */
  readonly order?: Column
  /**
   * Only for tables whose rows give access: when a row is removed or one of these columns changes, access has ended, or
   * has another holder.
   */
  readonly accessColumns?: readonly Column[]
}

const shapes: { readonly [N in TableName]: Partial<Shape<keyof Rows[N] & string>> } = {
  users: {
    json: ['app_metadata', 'user_metadata', 'identities'],
    booleans: ['is_anonymous'],
    unique: ['email', 'phone'],
    accessColumns: ['banned_until', 'deleted_at', 'role', 'email'],
  },
  sessions: { json: ['amr'], accessColumns: [] },
  refresh_tokens: { key: 'token', booleans: ['revoked'] },
  one_time_tokens: {},
  flow_states: {},
  api_keys: {
    booleans: ['seeded'],
    unique: ['digest'],
    accessColumns: ['user_id', 'digest', 'expires_at', 'revoked_at'],
  },
  messages: {},
  resources: {},
  resource_rows: { json: ['row'], order: 'position' },
}

export const tableNames = Object.keys(shapes) as readonly TableName[]

type AnyRow = Readonly<Record<string, unknown>>

/** The shape of a table whose row type is unknown. */
type AnyShape = Shape<string>

const shapeOf = (name: TableName): AnyShape => ({
  key: 'id',
  json: [],
  booleans: [],
  unique: [],
  ...(shapes[name] as Partial<AnyShape>),
})

/** The interface that is the same for all tables. */
export interface AnyTable {
  get(key: string): Promise<AnyRow | undefined>
  find(where: AnyRow, page?: Page): Promise<readonly AnyRow[]>
  count(where: AnyRow): Promise<number>
  insert(row: AnyRow): Promise<void>
  update(key: string, changes: AnyRow): Promise<void>
  remove(where: AnyRow): Promise<number>
}

// The only place where untyped tables get their types. The compiler checks what is written, so what is read has the
// same types.
const tablesOf = (make: (name: TableName) => AnyTable): Tables =>
  Object.fromEntries(tableNames.map(name => [name, make(name)])) as unknown as Tables

/** The tables, for work in one transaction. `schema` precedes their names. */
export const tablesIn = (query: Query, schema: string): Tables =>
  tablesOf(name => tableIn(query, `${schema}${name}`, shapeOf(name)))

/** The tables of a reader, who may not change them. */
export const readOnlyTablesIn = (query: Query, schema: string): Tables =>
  tablesOf(name => ({
    ...tableIn(query, `${schema}${name}`, shapeOf(name)),
    insert: refuseChange,
    update: refuseChange,
    remove: refuseChange,
  }))

const refuseChange = async () => {
  throw new Error('A read cannot change rows.')
}

function tableIn(query: Query, table: string, shape: AnyShape): AnyTable {
  const { key: keyColumn, order } = shape
  const sorting = order === undefined ? `"created_at" desc, "${keyColumn}"` : `"${order}", "${keyColumn}"`

  const onRows = async (statement: string, where: AnyRow, rest = '', restValues: readonly Cell[] = []) => {
    const filter = filterFor(where)
    return filter ? query(`${statement} where ${filter.tests} ${rest}`, [...filter.values, ...restValues]) : []
  }

  return {
    async get(key) {
      const [row] = await onRows(`select * from ${table}`, { [keyColumn]: key })
      return row && decoded(shape, row)
    },
    async find(where, { limit = Number.MAX_SAFE_INTEGER, offset = 0 } = {}) {
      const rest = `order by ${sorting} limit ? offset ?`
      const rows = await onRows(`select * from ${table}`, where, rest, [limit, offset])
      return rows.map(row => decoded(shape, row))
    },
    async count(where) {
      const [row] = await onRows(`select count(*) as "count" from ${table}`, where)
      return Number(row?.count ?? 0)
    },
    async insert(row) {
      const cells = encoded(shape, row)
      // An error would end PostgreSQL's transaction, but work that expects a TakenError continues.
      const rest = `on conflict do nothing returning "${keyColumn}"`
      const added = await query(`${insertion(table, cells)} ${rest}`, Object.values(cells))
      if (added.length === 0) throw taken()
    },
    async update(key, changes) {
      const cells = encoded(shape, changes)
      const names = Object.keys(cells)
      if (names.length === 0 || !isStorable(key)) return
      if (await isTaken(query, table, shape, cells, key)) throw taken()
      const settings = names.map(name => `"${name}" = ?`).join(', ')
      await query(`update ${table} set ${settings} where "${keyColumn}" = ?`, [...Object.values(cells), key])
    },
    async remove(where) {
      const removed = await onRows(`delete from ${table}`, where, `returning "${keyColumn}"`)
      return removed.length
    },
  }
}

const taken = () => new TakenError('A row with this key or this unique value already exists.')

/** The condition of a query; undefined if no row can match, because a value cannot be stored. */
function filterFor(where: AnyRow) {
  const conditions = Object.entries(where).map(([column, value]) => [column, queried(column, value)] as const)
  // The query must not be sent: half a character would become another one, and PostgreSQL refuses NUL.
  if (!conditions.every(([, value]) => isStorable(value))) return undefined
  const tests = conditions.map(([column, value]) => `"${column}" ${value === null ? 'is null' : '= ?'}`)
  return { tests: tests.join(' and ') || 'true', values: conditions.flatMap(([, value]) => value ?? []) }
}

/**
 * Whether a row other than `ownKey` already has one of the new unique values. There is only one writer, so the answer
 * stays valid until it has written.
 */
async function isTaken(query: Query, table: string, { key, unique }: AnyShape, cells: CellRow, ownKey: string) {
  const names = [key, ...unique].filter(name => typeof cells[name] === 'string')
  if (names.length === 0) return false
  const tests = [key, ...names].map(name => `"${name}" = ?`).join(' or ')
  const values = [ownKey, ...names.map(name => cells[name] as Cell)]
  const rows = await query(`select "${key}" from ${table} where ${tests}`, values)
  return rows.length > 1 && rows.some(row => row[key] === ownKey)
}

/** The statement that adds a row with these columns, with a `?` for each. */
export function insertion(table: string, cells: CellRow): string {
  const names = Object.keys(cells)
  return `insert into ${table} (${names.map(name => `"${name}"`).join(', ')}) values (${names.map(() => '?').join(', ')})`
}

/** A value to ask for. Throws a TypeError for an undefined one, which would match every row. */
function queried(column: string, value: unknown): Cell {
  if (isValue(value)) return cellOf(value)
  throw new TypeError(`${column} cannot be asked for: it is no text, number or boolean, nor null.`)
}

/** Converts a row, or some columns of one, to its stored form. Throws a TypeError for a value that cannot be stored. */
function encoded({ json }: AnyShape, row: AnyRow): CellRow {
  const cells = Object.entries(row).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    cells.map(([column, value]) => {
      if (json.includes(column)) return [column, JSON.stringify(value)]
      if (isValue(value) && isStorable(value)) return [column, cellOf(value)]
      throw new TypeError(
        `${column} cannot be kept: it is no text, number or boolean, or text with NUL or half a character.`,
      )
    }),
  )
}

function decoded({ json, booleans }: AnyShape, row: CellRow): AnyRow {
  const decoded: Record<string, unknown> = { ...row }
  for (const column of json) decoded[column] = JSON.parse(row[column] as string)
  for (const column of booleans) decoded[column] = row[column] === 1
  return decoded
}

const isValue = (value: unknown): value is Cell | boolean =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

const isStorable = (value: Cell | boolean): boolean => typeof value !== 'string' || isStorableText(value)

const cellOf = (value: Cell | boolean): Cell => (typeof value === 'boolean' ? Number(value) : value)

/** Detects whether changes end access: rows that are removed, banned or revoked. */
export function watchAccess(tables: Tables) {
  let endedAccess = false
  const watched = (name: TableName): AnyTable => {
    const table = tables[name] as unknown as AnyTable
    const { accessColumns } = shapeOf(name)
    if (!accessColumns) return table
    return {
      ...table,
      async update(key, changes) {
        const touched = accessColumns.filter(column => changes[column] !== undefined)
        const before = touched.length > 0 ? await table.get(key) : undefined
        await table.update(key, changes)
        if (before && touched.some(column => before[column] !== changes[column])) endedAccess = true
      },
      async remove(where) {
        const removed = await table.remove(where)
        if (removed > 0) endedAccess = true
        return removed
      },
    }
  }
  return {
    tables: tablesOf(watched),
    /** Whether access may have ended. */
    get endedAccess(): boolean {
      return endedAccess
    },
  }
}
