/** Stores rows in a database, with the same queries for SQLite and PostgreSQL. */
import type { ExpressionBuilder, Kysely, Transaction, TransactionBuilder } from 'kysely'
import type { SerialQueue } from '../core/work.js'
import {
  type AnyRow,
  type AnyShape,
  type AnyTable,
  type ColumnValue,
  conditions,
  isStorable,
  shapeOf,
  storedForm,
  tablesOf,
  takenError,
  watchAccess,
} from './shapes.js'
import type { Store } from './store.js'

/** The column types of databases: no booleans (stored as 0 or 1), and JSON as text, which preserves it exactly. */
type Cell = string | number | null
export type Database = Record<string, Record<string, Cell>>

/** The parts of a database that differ, apart from its dialect. */
interface SqlSource {
  readonly readDb: Kysely<Database>
  readonly writeDb: Kysely<Database>
  /** For readers that share one connection. */
  readonly inTurn?: SerialQueue
  /** Called first in each transaction that writes. Waits until no other process is writing. */
  lock?(transaction: Transaction<Database>): Promise<void>
  /** Called last in a transaction that ended access. Notifies other processes if the transaction is committed. */
  announce?(transaction: Transaction<Database>): Promise<void>
  follow: Store['follow']
  close: Store['close']
  troubleOf: Store['troubleOf'] & {}
}

const atOnce: SerialQueue = work => work()

export function createSqlStore(source: SqlSource): Store {
  const { readDb, writeDb, inTurn = atOnce, lock, announce, follow, close, troubleOf } = source
  return {
    read(work) {
      // A snapshot: changes committed in the meantime are not visible.
      const snapshot = readDb.transaction().setIsolationLevel('repeatable read').setAccessMode('read only')
      return inTurn(() => inTransaction(snapshot, transaction => work(tablesIn(transaction))))
    },
    write(work) {
      // A stricter level would see the rows from before the wait, and not those of the writer that it waited for.
      const writeTransaction = writeDb.transaction().setIsolationLevel('read committed')
      return inTransaction(writeTransaction, async transaction => {
        await lock?.(transaction)
        const watched = watchAccess(tablesIn(transaction))
        const result = await work(watched.tables)
        if (watched.endedAccess) await announce?.(transaction)
        return { result, endedAccess: watched.endedAccess }
      })
    },
    follow,
    close,
    troubleOf,
  }
}

/** Runs work in a transaction. If the work fails, rejects with its error. */
async function inTransaction<T>(
  transaction: TransactionBuilder<Database>,
  work: (transaction: Transaction<Database>) => Promise<T>,
): Promise<T> {
  let failure: { readonly error: unknown } | undefined
  const execution = transaction.execute(transaction =>
    work(transaction).catch(error => {
      failure = { error }
      throw error
    }),
  )
  // If the connection is lost, the rollback fails as well and would hide the real error.
  return execution.catch(error => Promise.reject(failure ? failure.error : error))
}

const tablesIn = (db: Kysely<Database>) => tablesOf(name => tableIn(db, name, shapeOf(name)))

function tableIn(db: Kysely<Database>, name: string, shape: AnyShape): AnyTable {
  const { key: keyColumn } = shape
  return {
    get: key => rowOf(db, name, shape, key),
    find: async (where, page) => (cannotMatch(where) ? [] : rowsOf(db, name, shape, where, page)),
    async count(where) {
      if (cannotMatch(where)) return 0
      const rows = db.selectFrom(name).select(eb => eb.fn.countAll().as('rows'))
      return Number((await rows.where(whereClause(where)).executeTakeFirstOrThrow()).rows)
    },
    async insert(row) {
      const insertion = db.insertInto(name).values(encoded(shape, row))
      // An error would end PostgreSQL's transaction, but work that expects a TakenError continues.
      const result = await insertion.onConflict(conflict => conflict.doNothing()).executeTakeFirst()
      if (result.numInsertedOrUpdatedRows === 0n) throw takenError()
    },
    async update(key, changes) {
      const columns = encoded(shape, changes)
      if (Object.keys(columns).length === 0 || !isStorable(key)) return
      if (await isTaken(db, name, shape, columns, key)) throw takenError()
      await db.updateTable(name).set(columns).where(keyColumn, '=', key).execute()
    },
    async remove(where) {
      if (cannotMatch(where)) return 0
      const { numDeletedRows } = await db.deleteFrom(name).where(whereClause(where)).executeTakeFirst()
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
    .where(whereClause(where))
    .orderBy(shape.order ?? 'created_at', shape.order === undefined ? 'desc' : 'asc')
    .orderBy(shape.key, 'asc')
    // SQLite has no offset without a limit.
    .$if(limit !== undefined || offset !== undefined, query => query.limit(limit ?? Number.MAX_SAFE_INTEGER))
    .$if(offset !== undefined, query => query.offset(offset ?? 0))
  return (await rows.execute()).map(row => decoded(shape, row))
}

async function rowOf(db: Kysely<Database>, name: string, shape: AnyShape, key: string): Promise<AnyRow | undefined> {
  if (!isStorable(key)) return undefined
  const row = await db.selectFrom(name).selectAll().where(shape.key, '=', key).executeTakeFirst()
  return row && decoded(shape, row)
}

/**
 * Whether a row other than `ownKey` already has one of the new unique values. There is only one writer, so the answer
 * stays valid until it has written.
 */
async function isTaken(
  db: Kysely<Database>,
  name: string,
  shape: AnyShape,
  columns: Record<string, Cell>,
  ownKey: string,
): Promise<boolean> {
  const uniqueColumns = [shape.key, ...shape.unique].filter(column => typeof columns[column] === 'string')
  if (uniqueColumns.length === 0 || !(await rowOf(db, name, shape, ownKey))) return false
  const other = db
    .selectFrom(name)
    .select(shape.key)
    .where(shape.key, '!=', ownKey)
    .where(eb => eb.or(uniqueColumns.map(column => eb(column, '=', columns[column] as string))))
  return (await other.executeTakeFirst()) !== undefined
}

/**
 * Whether no row can match, because a value cannot be stored. The query must not be sent: a lone surrogate would become
 * another character, and PostgreSQL refuses NUL.
 */
const cannotMatch = (where: AnyRow) => conditions(where).some(([, value]) => !isStorable(value))

const whereClause = (where: AnyRow) => (eb: ExpressionBuilder<Database, string>) =>
  eb.and(conditions(where).map(([column, value]) => eb(column, value === null ? 'is' : '=', cellOf(value))))

const cellOf = (value: ColumnValue): Cell => (typeof value === 'boolean' ? Number(value) : value)

const encoded = (shape: AnyShape, row: AnyRow) => storedForm<Cell>(shape, row, { json: text => text, value: cellOf })

function decoded({ json, booleans }: AnyShape, row: Record<string, Cell>): AnyRow {
  const decoded: Record<string, unknown> = { ...row }
  for (const column of json) decoded[column] = JSON.parse(row[column] as string)
  for (const column of booleans) decoded[column] = row[column] === 1
  return decoded
}
