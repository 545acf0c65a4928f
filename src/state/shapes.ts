/** What a table is besides the columns of its rows: what is unique, what is asked for, what gives access. */
import { isKeepable, type Page, type Rows, type TableName, type Tables, TakenError } from '../core/state.js'

interface Shape<Row> {
  readonly key: keyof Row & string
  readonly json: readonly (keyof Row & string)[]
  readonly booleans: readonly (keyof Row & string)[]
  /** Null may be there any number of times. */
  readonly unique: readonly (keyof Row & string)[]
  /** What rows are found by besides; asking for these never looks through all rows. */
  readonly indexed: readonly (keyof Row & string)[]
  /** Tables whose rows give access have this: a row gives none any more once it is removed or one of these columns changes. */
  readonly doors?: readonly (keyof Row & string)[]
}

const shapes: { readonly [N in TableName]: Shape<Rows[N]> } = {
  users: {
    key: 'id',
    json: ['app_metadata', 'user_metadata', 'identities'],
    booleans: ['is_anonymous'],
    unique: ['email', 'phone'],
    indexed: ['new_email', 'new_phone'],
    doors: ['banned_until', 'deleted_at', 'role'],
  },
  sessions: { key: 'id', json: ['amr'], booleans: [], unique: [], indexed: ['user_id'], doors: [] },
  refresh_tokens: {
    key: 'token',
    json: [],
    booleans: ['revoked'],
    unique: [],
    indexed: ['session_id', 'user_id', 'parent'],
  },
  one_time_tokens: { key: 'id', json: [], booleans: [], unique: [], indexed: ['user_id', 'token_hash'] },
  flow_states: { key: 'id', json: [], booleans: [], unique: [], indexed: ['user_id', 'auth_code'] },
  api_keys: {
    key: 'id',
    json: [],
    booleans: ['seeded'],
    unique: ['digest'],
    indexed: ['user_id'],
    doors: ['user_id', 'digest', 'expires_at', 'revoked_at'],
  },
  messages: { key: 'id', json: [], booleans: [], unique: [], indexed: [] },
}

export type AnyRow = Readonly<Record<string, unknown>>

/** The shape of a table whose rows are not known any closer. */
export type AnyShape = Shape<AnyRow>

export const shapeOf = (name: TableName): AnyShape => shapes[name] as AnyShape

/** A table as the code sees it that is the same for all of them. */
export interface AnyTable {
  get(key: string): Promise<AnyRow | undefined>
  find(where: AnyRow, page?: Page): Promise<readonly AnyRow[]>
  count(where: AnyRow): Promise<number>
  insert(row: AnyRow): Promise<void>
  update(key: string, changes: AnyRow): Promise<void>
  remove(where: AnyRow): Promise<number>
}

/** Each table's name with something made for it. */
export const forEachTable = <T>(make: (name: TableName) => T): Record<TableName, T> => ({
  users: make('users'),
  sessions: make('sessions'),
  refresh_tokens: make('refresh_tokens'),
  one_time_tokens: make('one_time_tokens'),
  flow_states: make('flow_states'),
  api_keys: make('api_keys'),
  messages: make('messages'),
})

// The one place where tables without types get theirs: what goes in is checked against Rows, so what comes out is of it.
export const tablesOf = (make: (name: TableName) => AnyTable): Tables => forEachTable(make) as unknown as Tables

export type ColumnValue = string | number | boolean | null

/** JSON, as opposed to a value, is text in a database and frozen objects in memory. */
interface Forms<T> {
  json(text: string): T
  value(value: ColumnValue): T
}

/** A row, or some columns of one, in the form in which it is kept. Throws a TypeError when a value cannot be kept. */
export function kept<T>({ json }: AnyShape, row: AnyRow, forms: Forms<T>): Record<string, T> {
  const columns = Object.entries(row).filter(([, value]) => value !== undefined)
  return Object.fromEntries(
    columns.map(([column, value]) => {
      if (json.includes(column)) return [column, forms.json(JSON.stringify(value))]
      if (isValue(value) && isWhole(value)) return [column, forms.value(value)]
      throw new TypeError(
        `${column} cannot be kept: it is no text, number or boolean, or text with NUL or half a character.`,
      )
    }),
  )
}

/** What is asked for, column by column. Throws a TypeError when a value is left open, which would mean every row. */
export function conditions(where: AnyRow): readonly (readonly [column: string, value: ColumnValue])[] {
  return Object.entries(where).map(([column, value]) => {
    if (isValue(value)) return [column, value]
    throw new TypeError(`${column} cannot be asked for: it is no text, number or boolean, nor null.`)
  })
}

const isValue = (value: unknown): value is ColumnValue =>
  value === null || typeof value === 'string' || typeof value === 'boolean' || Number.isFinite(value)

/** Which values can be kept: the same ones by every kind of state. */
export const isWhole = (value: ColumnValue): boolean => typeof value !== 'string' || isKeepable(value)

export const taken = () =>
  new TakenError('A row with this key, or a value that may be there only once, is there already.')
