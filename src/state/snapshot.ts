/** All rows of a state, to restore them later. A separate file: it serves every kind of state, through its tables alone. */
import { isDeepStrictEqual } from 'node:util'
import type { Rows, State, TableName, Tables } from '../core/state.js'
import { type AnyTable, forEachTable } from './shapes.js'

/** The rows of all tables, newest first. */
export type Snapshot = { readonly [N in TableName]: readonly Rows[N][] }

const tableNames = Object.keys(forEachTable(() => undefined)) as TableName[]

const anyTable = (tables: Tables, name: TableName) => tables[name] as unknown as AnyTable

/** Returns all rows as of one moment. */
export const snapshotOf = (state: State): Promise<Snapshot> =>
  state.read(async tables => {
    const rows = await Promise.all(tableNames.map(async name => [name, await anyTable(tables, name).find({})] as const))
    return Object.fromEntries(rows) as unknown as Snapshot
  })

/** Replaces the rows of each table. Returns whether anything changed. */
export async function restoreRows(tables: Tables, snapshot: Snapshot): Promise<boolean> {
  let isChanged = false
  for (const name of tableNames) {
    const table = anyTable(tables, name)
    if (isDeepStrictEqual(await table.find({}), snapshot[name])) continue
    isChanged = true
    await table.remove({})
    // Oldest first, in the order in which they were created.
    for (const row of snapshot[name].toReversed()) await table.insert({ ...row })
  }
  return isChanged
}
