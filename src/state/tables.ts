/** What a state needs from a database, and the tables in it, with the same statements for SQLite and PostgreSQL. */
import { invalidRequest } from '../core/errors.js'
import { parseExact, stringifyExact } from '../core/json.js'
import { isStorableText, type Page, type Rows, type TableName, type Tables, TakenError } from './rows.js'

/** The types of columns that every database has. Booleans are 0 or 1, and JSON is text, which preserves it exactly. */
export type Cell = string | number | null

export type CellRow = Readonly<Record<string, Cell>>

/** Runs a statement, which has a `?` for each value, and returns the rows that it yields. */
export type Query = (sql: string, values?: readonly Cell[]) => Promise<readonly CellRow[]>

/** Why nothing can be read or written at the moment, although the request is valid. */
export interface Trouble {
  /** For clients: a sentence without paths and credentials. */
  readonly sentence: string
  /** For the log: the cause, and what to do. */
  readonly line: string
}

export interface Database {
  /** What precedes the name of a table. */
  readonly schema: string
  /** Whether other processes may change it. */
  readonly isShared: boolean
  /**
   * Runs work in a transaction: reads see one snapshot, and a writer waits for the writers of other processes. If the
   * work fails, nothing has changed, and its error is passed on.
   */
  transaction<T>(kind: 'read' | 'write', work: (query: Query) => Promise<T>): Promise<T>
  /** Called once, when nothing is read or written any more. */
  close(): Promise<void>
  /** What an error says about the database as a whole; `undefined` for other errors. */
  troubleOf(error: unknown): Trouble | undefined
}

interface Shape<Column extends string> {
  readonly key: Column
  readonly json: readonly Column[]
  /** Whether long whole numbers in JSON are BigInts. Supabase Auth makes them numbers. */
  readonly keepsDigits?: boolean
  /** The columns that are stored as 0 and 1. */
  readonly booleans: readonly Column[]
  /** Null does not count and may occur any number of times. */
  readonly unique: readonly Column[]
  /** The column by which rows are sorted, ascending. Without one, the newest row is first. */
  readonly order?: Column
  /**
   * Only for tables whose rows give access: when a row is removed or one of these columns is set, access may have ended,
   * or have another holder.
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
  flow_states: { booleans: ['is_offline'] },
  identity_owners: {},
  api_keys: {
    booleans: ['seeded'],
    unique: ['digest'],
    accessColumns: ['user_id', 'digest', 'expires_at', 'revoked_at'],
  },
  messages: {},
  resources: {},
  resource_rows: { json: ['row'], keepsDigits: true, order: 'position' },
}

export const tableNames = Object.keys(shapes) as readonly TableName[]

type AnyRow = Readonly<Record<string, unknown>>

type AnyShape = Shape<string>

const shapeOf = (name: TableName): AnyShape => ({
  key: 'id',
  json: [],
  booleans: [],
  unique: [],
  ...(shapes[name] as Partial<AnyShape>),
})

/** The tables, for work in one transaction. `schema` precedes their names. Calls `accessMayHaveEnded` when rows that give access change. */
export function tablesIn(query: Query, schema: string, accessMayHaveEnded: () => void): Tables {
  const tableOf = (name: TableName) => new AnyTable(query, `${schema}${name}`, shapeOf(name), accessMayHaveEnded)
  // The only place where untyped tables get their types. The compiler checks what is written, so what is read has the
  // same types.
  return Object.fromEntries(tableNames.map(name => [name, tableOf(name)])) as unknown as Tables
}

/** What is the same for all tables. */
export class AnyTable {
  constructor(
    private readonly query: Query,
    private readonly table: string,
    private readonly shape: AnyShape,
    private readonly accessMayHaveEnded: () => void,
  ) {}

  async get(key: string) {
    const [row] = await this.#onRows(`select * from ${this.table}`, { [this.shape.key]: key })
    return row && decoded(this.shape, row)
  }

  async find(where: AnyRow, { limit = Number.MAX_SAFE_INTEGER, offset = 0 }: Page = {}) {
    const { key, order } = this.shape
    const sorting = order === undefined ? '"created_at" desc' : `"${order}"`
    const rest = `order by ${sorting}, "${key}" limit ? offset ?`
    const rows = await this.#onRows(`select * from ${this.table}`, where, rest, [limit, offset])
    return rows.map(row => decoded(this.shape, row))
  }

  async count(where: AnyRow) {
    const [row] = await this.#onRows(`select count(*) as "count" from ${this.table}`, where)
    return Number(row?.count ?? 0)
  }

  async insert(row: AnyRow) {
    const cells = encoded(this.shape, row)
    // An error would end PostgreSQL's transaction, but work that expects a TakenError continues.
    const rest = `on conflict do nothing returning "${this.shape.key}"`
    const added = await this.query(`${insertion(this.table, cells)} ${rest}`, Object.values(cells))
    if (added.length === 0) throw taken()
  }

  async update(key: string, changes: AnyRow) {
    const cells = encoded(this.shape, changes)
    const names = Object.keys(cells)
    if (names.length === 0 || !isStorable(key)) return
    if (await this.#isTaken(cells, key)) throw taken()
    const settings = names.map(name => `"${name}" = ?`).join(', ')
    const statement = `update ${this.table} set ${settings} where "${this.shape.key}" = ?`
    await this.query(statement, [...Object.values(cells), key])
    if (this.shape.accessColumns?.some(column => changes[column] !== undefined)) this.accessMayHaveEnded()
  }

  async remove(where: AnyRow) {
    const removed = await this.#onRows(`delete from ${this.table}`, where, `returning "${this.shape.key}"`)
    if (this.shape.accessColumns && removed.length > 0) this.accessMayHaveEnded()
    return removed.length
  }

  async #onRows(statement: string, where: AnyRow, rest = '', restValues: readonly Cell[] = []) {
    const filter = filterFor(where)
    return filter ? this.query(`${statement} where ${filter.tests} ${rest}`, [...filter.values, ...restValues]) : []
  }

  // Whether a row other than `ownKey` already has one of the new unique values. There is only one writer, so the answer
  // stays valid until it has written.
  async #isTaken(cells: CellRow, ownKey: string) {
    const { key, unique } = this.shape
    const names = [key, ...unique].filter(name => typeof cells[name] === 'string')
    if (names.length === 0) return false
    const tests = [key, ...names].map(name => `"${name}" = ?`).join(' or ')
    const values = [ownKey, ...names.map(name => cells[name] as Cell)]
    const rows = await this.query(`select "${key}" from ${this.table} where ${tests}`, values)
    return rows.length > 1 && rows.some(row => row[key] === ownKey)
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

/** Converts a row, or some columns of one, to its stored form. Throws a 400 for a text that cannot be stored. */
function encoded({ json }: AnyShape, row: AnyRow): CellRow {
  const cells = Object.entries(row).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    cells.map(([column, value]) => {
      if (json.includes(column)) return [column, stringifyExact(value)]
      if (!isValue(value)) throw new TypeError(`${column} cannot be kept: it is no text, number or boolean.`)
      if (!isStorable(value)) throw invalidRequest(`${column} must not contain NUL (U+0000) or half of a character.`)
      return [column, cellOf(value)]
    }),
  )
}

function decoded({ json, booleans, keepsDigits }: AnyShape, row: CellRow): AnyRow {
  const parse = keepsDigits ? parseExact : JSON.parse
  const decoded: Record<string, unknown> = { ...row }
  for (const column of json) decoded[column] = parse(row[column] as string)
  for (const column of booleans) decoded[column] = row[column] === 1
  return decoded
}

const isValue = (value: unknown): value is Cell | boolean =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

const isStorable = (value: Cell | boolean): boolean => typeof value !== 'string' || isStorableText(value)

const cellOf = (value: Cell | boolean): Cell => (typeof value === 'boolean' ? Number(value) : value)
