/** Opens a state (in memory, in an SQLite file or in PostgreSQL), and copies and restores all of its rows. */
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { StartError } from '../check/problem.js'
import type { Database } from './database.js'
import type { Rows, State, TableName, Tables } from './rows.js'
import { openFile, openMemory } from './sqlite.js'
import { createState } from './state.js'
import { type AnyTable, tableNames } from './tables.js'

type StateKind = 'memory' | 'file' | 'postgres'

/** Which kind of state a setting means; undefined if it is invalid. */
export function stateKindOf(setting: string): StateKind | undefined {
  if (setting === 'memory') return 'memory'
  if (/^file:./.test(setting)) return 'file'
  if (/^postgres(ql)?:\/\/./.test(setting)) return 'postgres'
  return undefined
}

export interface StateDependencies {
  /** The folder for relative paths. */
  readonly dir: string
  /** Called with a sentence when the state becomes unusable, and when it is usable again. */
  readonly warn?: ((sentence: string) => void) | undefined
}

/** Opens `memory`, `file:PATH` or `postgres://…`. If that fails, rejects with a StartError that says what to do. */
export async function openState(setting: string, { dir, warn = () => {} }: StateDependencies): Promise<State> {
  return createState(await openDatabase(setting, dir), warn)
}

async function openDatabase(setting: string, dir: string): Promise<Database> {
  switch (stateKindOf(setting)) {
    case 'memory':
      return openMemory()
    case 'file':
      return openFile(path.resolve(dir, setting.slice('file:'.length)))
    case 'postgres': {
      // Loaded on demand, since most platforms do not use it.
      const { openPostgres } = await import('./postgres.js')
      return openPostgres(setting)
    }
    case undefined:
      throw new StartError('The state is kept in "memory", "file:PATH" or "postgres://user:password@host/database".')
  }
}

/** The rows of all tables, newest first. */
export type Snapshot = { readonly [N in TableName]: readonly Rows[N][] }

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
