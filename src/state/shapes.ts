/** The properties of tables: how columns are stored, unique values, indexes, and which rows give access. */
import { digestOf } from '../core/secrets.js'
import { isStorableText, type Page, type Rows, type TableName, type Tables, TakenError } from '../core/state.js'

interface Shape<Row> {
  /** The columns that are stored as JSON. */
  readonly json: readonly (keyof Row & string)[]
  /** The columns that are stored as 0 and 1. */
  readonly booleans: readonly (keyof Row & string)[]
  readonly key: keyof Row & string
  /** Null does not count and may occur any number of times. */
  readonly unique: readonly (keyof Row & string)[]
  /** Other columns by which rows are found; these queries never scan all rows. */
  readonly indexed: readonly (keyof Row & string)[]
  /** The column by which rows are sorted, ascending. Without one, the newest row is first. */
  readonly order?: keyof Row & string
  /**
   * Only for tables whose rows give access: when a row is removed or one of these columns changes, access has ended, or
   * has another holder.
   */
  readonly accessColumns?: readonly (keyof Row & string)[]
}

const shapes: { readonly [N in TableName]: Shape<Rows[N]> } = {
  users: {
    json: ['app_metadata', 'user_metadata', 'identities'],
    booleans: ['is_anonymous'],
    key: 'id',
    unique: ['email', 'phone'],
    indexed: ['new_email', 'new_phone'],
    accessColumns: ['banned_until', 'deleted_at', 'role', 'email'],
  },
  sessions: { json: ['amr'], booleans: [], key: 'id', unique: [], indexed: ['user_id'], accessColumns: [] },
  refresh_tokens: {
    json: [],
    booleans: ['revoked'],
    key: 'token',
    unique: [],
    indexed: ['session_id', 'user_id', 'parent'],
  },
  one_time_tokens: { json: [], booleans: [], key: 'id', unique: [], indexed: ['user_id', 'token_hash'] },
  flow_states: { json: [], booleans: [], key: 'id', unique: [], indexed: ['user_id', 'auth_code'] },
  api_keys: {
    json: [],
    booleans: ['seeded'],
    key: 'id',
    unique: ['digest'],
    indexed: ['user_id'],
    accessColumns: ['user_id', 'digest', 'expires_at', 'revoked_at'],
  },
  messages: { json: [], booleans: [], key: 'id', unique: [], indexed: [] },
  resources: { json: [], booleans: [], key: 'id', unique: [], indexed: ['scope', 'path'] },
  resource_rows: {
    json: ['row'],
    booleans: [],
    key: 'id',
    unique: [],
    indexed: ['resource', 'owner', 'parent'],
    order: 'position',
  },
}

export type AnyRow = Readonly<Record<string, unknown>>

/** The shape of a table whose row type is unknown. */
export type AnyShape = Shape<AnyRow>

export const shapeOf = (name: TableName): AnyShape => shapes[name] as AnyShape

/** The interface that is the same for all tables. */
export interface AnyTable {
  get(key: string): Promise<AnyRow | undefined>
  find(where: AnyRow, page?: Page): Promise<readonly AnyRow[]>
  count(where: AnyRow): Promise<number>
  insert(row: AnyRow): Promise<void>
  update(key: string, changes: AnyRow): Promise<void>
  remove(where: AnyRow): Promise<number>
}

/** Creates a value for each table. */
export const forEachTable = <T>(make: (name: TableName) => T): Record<TableName, T> => ({
  users: make('users'),
  sessions: make('sessions'),
  refresh_tokens: make('refresh_tokens'),
  one_time_tokens: make('one_time_tokens'),
  flow_states: make('flow_states'),
  api_keys: make('api_keys'),
  messages: make('messages'),
  resources: make('resources'),
  resource_rows: make('resource_rows'),
})

// The only place where untyped tables get their types. The compiler checks what is written, so what is read has the
// same types.
export const tablesOf = (make: (name: TableName) => AnyTable): Tables => forEachTable(make) as unknown as Tables

export type ColumnValue = string | number | boolean | null

/** JSON columns are text in a database, and frozen objects in memory. */
interface Forms<T> {
  json(text: string): T
  value(value: ColumnValue): T
}

/** Converts a row, or some columns of one, to its stored form. Throws a TypeError for a value that cannot be stored. */
export function storedForm<T>({ json }: AnyShape, row: AnyRow, forms: Forms<T>): Record<string, T> {
  const columns = Object.entries(row).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    columns.map(([column, value]) => {
      if (json.includes(column)) return [column, forms.json(JSON.stringify(value))]
      if (isValue(value) && isStorable(value)) return [column, forms.value(value)]
      throw new TypeError(
        `${column} cannot be kept: it is no text, number or boolean, or text with NUL or half a character.`,
      )
    }),
  )
}

/** The conditions of a query by column. Throws a TypeError for an undefined value, which would match every row. */
export function conditions(where: AnyRow): readonly (readonly [column: string, value: ColumnValue])[] {
  return Object.entries(where).map(([column, value]) => {
    if (isValue(value)) return [column, value]
    throw new TypeError(`${column} cannot be asked for: it is no text, number or boolean, nor null.`)
  })
}

const isValue = (value: unknown): value is ColumnValue =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

/** Which values can be stored. The same for all kinds of state. */
export const isStorable = (value: ColumnValue): boolean => typeof value !== 'string' || isStorableText(value)

export const takenError = () => new TakenError('A row with this key or this unique value already exists.')

const refreshToken = /^[a-z0-9]{12}$/

/** The formats of secrets in clear, as earlier versions stored them. */
const plainSecrets: { readonly [N in TableName]?: Readonly<Record<string, RegExp>> } = {
  refresh_tokens: { token: refreshToken, parent: refreshToken },
  one_time_tokens: { token_hash: /^(pkce_)?[\da-f]{56}$/ },
  flow_states: { auth_code: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/ },
}

export const tablesWithSecrets = Object.keys(plainSecrets) as readonly TableName[]

/** Replaces secrets in clear by digests. */
export function withDigests(table: TableName, row: AnyRow): AnyRow {
  const digests = Object.entries(plainSecrets[table] ?? {}).flatMap(([column, pattern]) => {
    const value = row[column]
    return typeof value === 'string' && pattern.test(value) ? [[column, digestOf(value)]] : []
  })
  return { ...row, ...Object.fromEntries(digests) }
}

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
