/** Keeps rows in a database: the same queries for SQLite and PostgreSQL. */
import type { ExpressionBuilder, Kysely, Transaction, TransactionBuilder } from 'kysely'
import type { Turns } from '../core/work.js'
import {
  type AnyRow,
  type AnyShape,
  type AnyTable,
  type ColumnValue,
  conditions,
  isWhole,
  kept,
  shapeOf,
  tablesOf,
  taken,
  watchDoors,
} from './shapes.js'
import type { Store } from './store.js'

/** What a database has: no booleans (they are 0 or 1), and JSON as text, which keeps it as it was written. */
type Cell = string | number | null
export type Database = Record<string, Record<string, Cell>>

/** What a database brings along besides its dialect. */
export interface SqlSource {
  readonly reading: Kysely<Database>
  readonly writing: Kysely<Database>
  /** For readers that share one connection. */
  readonly inTurn?: Turns
  /** The first thing in each transaction that writes: waits until no other process does. */
  lock?(transaction: Transaction<Database>): Promise<void>
  /** The last thing in a transaction that ended access: lets other processes know, if and when it is kept. */
  announce?(transaction: Transaction<Database>): Promise<void>
  follow: Store['follow']
  close: Store['close']
  troubleOf: Store['troubleOf'] & {}
}

const atOnce: Turns = work => work()

export function createSqlStore(source: SqlSource): Store {
  const { reading, writing, inTurn = atOnce, lock, announce, follow, close, troubleOf } = source
  return {
    read(work) {
      // One look: what is kept meanwhile is not seen.
      const look = reading.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
      return inTurn(() => within(look, transaction => work(tablesIn(transaction))))
    },
    write(work) {
      // A stricter level would see the rows from before the wait, not those of the writer it waited for.
      const change = writing.transaction().setIsolationLevel('read committed')
      return within(change, async transaction => {
        await lock?.(transaction)
        const doors = watchDoors(tablesIn(transaction))
        const result = await work(doors.tables)
        if (doors.closed) await announce?.(transaction)
        return { result, closed: doors.closed }
      })
    },
    follow,
    close,
    troubleOf,
  }
}

/** Does work in a transaction; rejects with the work's own error when it fails. */
async function within<T>(
  transaction: TransactionBuilder<Database>,
  work: (transaction: Transaction<Database>) => Promise<T>,
): Promise<T> {
  let failure: { readonly error: unknown } | undefined
  const whole = transaction.execute(transaction =>
    work(transaction).catch(error => {
      failure = { error }
      throw error
    }),
  )
  // Where the connection is lost, undoing fails as well, and that would be the error.
  return whole.catch(error => Promise.reject(failure ? failure.error : error))
}

const tablesIn = (db: Kysely<Database>) => tablesOf(name => tableIn(db, name, shapeOf(name)))

function tableIn(db: Kysely<Database>, name: string, shape: AnyShape): AnyTable {
  const { key: keyColumn } = shape
  return {
    get: key => rowOf(db, name, shape, key),
    find: async (where, page) => (isImpossible(where) ? [] : rowsOf(db, name, shape, where, page)),
    async count(where) {
      if (isImpossible(where)) return 0
      const rows = db.selectFrom(name).select(eb => eb.fn.countAll().as('rows'))
      return Number((await rows.where(matching(where)).executeTakeFirstOrThrow()).rows)
    },
    async insert(row) {
      const insertion = db.insertInto(name).values(encoded(shape, row))
      // An error would end PostgreSQL's transaction; work that expects a TakenError goes on.
      const done = await insertion.onConflict(conflict => conflict.doNothing()).executeTakeFirst()
      if (done.numInsertedOrUpdatedRows === 0n) throw taken()
    },
    async update(key, changes) {
      const columns = encoded(shape, changes)
      if (Object.keys(columns).length === 0 || !isWhole(key)) return
      if (await isTaken(db, name, shape, columns, key)) throw taken()
      await db.updateTable(name).set(columns).where(keyColumn, '=', key).execute()
    },
    async remove(where) {
      if (isImpossible(where)) return 0
      const { numDeletedRows } = await db.deleteFrom(name).where(matching(where)).executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}

async function rowsOf(
  db: Kysely<Database>,
  name: string,
  shape: AnyShape,
  where: Parameters<AnyTable['find']>[0],
  { limit, offset }: Parameters<AnyTable['find']>[1] = {},
): Promise<readonly AnyRow[]> {
  const rows = db
    .selectFrom(name)
    .selectAll()
    .where(matching(where))
    .orderBy('created_at', 'desc')
    .orderBy(shape.key, 'asc')
    // SQLite has no offset without a limit.
    .$if(limit !== undefined || offset !== undefined, query => query.limit(limit ?? Number.MAX_SAFE_INTEGER))
    .$if(offset !== undefined, query => query.offset(offset ?? 0))
  return (await rows.execute()).map(row => decoded(shape, row))
}

async function rowOf(db: Kysely<Database>, name: string, shape: AnyShape, key: string): Promise<AnyRow | undefined> {
  if (!isWhole(key)) return undefined
  const row = await db.selectFrom(name).selectAll().where(shape.key, '=', key).executeTakeFirst()
  return row && decoded(shape, row)
}

/** Whether the row `own` cannot say this because another one does. There is one writer at a time, so the answer holds until it is written. */
async function isTaken(
  db: Kysely<Database>,
  name: string,
  shape: AnyShape,
  columns: Record<string, Cell>,
  own: string,
): Promise<boolean> {
  const claimed = [shape.key, ...shape.unique].filter(column => typeof columns[column] === 'string')
  if (claimed.length === 0 || !(await rowOf(db, name, shape, own))) return false
  const other = db
    .selectFrom(name)
    .select(shape.key)
    .where(shape.key, '!=', own)
    .where(eb => eb.or(claimed.map(column => eb(column, '=', columns[column] as string))))
  return (await other.executeTakeFirst()) !== undefined
}

/** Half a character would be sent as another one, and PostgreSQL refuses to look for NUL. */
const isImpossible = (where: AnyRow) => conditions(where).some(([, value]) => !isWhole(value))

const matching = (where: AnyRow) => (eb: ExpressionBuilder<Database, string>) =>
  eb.and(conditions(where).map(([column, value]) => eb(column, value === null ? 'is' : '=', cell(value))))

const cell = (value: ColumnValue): Cell => (typeof value === 'boolean' ? Number(value) : value)

const encoded = (shape: AnyShape, row: AnyRow) => kept<Cell>(shape, row, { json: text => text, value: cell })

function decoded({ json, booleans }: AnyShape, row: Record<string, Cell>): AnyRow {
  const decoded: Record<string, unknown> = { ...row }
  for (const column of json) decoded[column] = JSON.parse(row[column] as string)
  for (const column of booleans) decoded[column] = row[column] === 1
  return decoded
}
