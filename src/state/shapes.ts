/** The properties of tables: how columns are stored, unique values, and which rows give access. */
import type { Page, Rows, TableName, Tables } from '../core/state.js'

interface Shape<Row> {
  /** The columns that are stored as JSON. */
  readonly json: readonly (keyof Row & string)[]
  /** The columns that are stored as 0 and 1. */
  readonly booleans: readonly (keyof Row & string)[]
  readonly key: keyof Row & string
  /** Null does not count and may occur any number of times. */
  readonly unique: readonly (keyof Row & string)[]
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
    accessColumns: ['banned_until', 'deleted_at', 'role', 'email'],
  },
  sessions: { json: ['amr'], booleans: [], key: 'id', unique: [], accessColumns: [] },
  refresh_tokens: {
    json: [],
    booleans: ['revoked'],
    key: 'token',
    unique: [],
  },
  one_time_tokens: { json: [], booleans: [], key: 'id', unique: [] },
  flow_states: { json: [], booleans: [], key: 'id', unique: [] },
  api_keys: {
    json: [],
    booleans: ['seeded'],
    key: 'id',
    unique: ['digest'],
    accessColumns: ['user_id', 'digest', 'expires_at', 'revoked_at'],
  },
  messages: { json: [], booleans: [], key: 'id', unique: [] },
  resources: { json: [], booleans: [], key: 'id', unique: [] },
  resource_rows: {
    json: ['row'],
    booleans: [],
    key: 'id',
    unique: [],
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
