/** Opens a state: in memory, in an SQLite file or in PostgreSQL. */
import path from 'node:path'
import { StartError } from '../check/problem.js'
import type { State } from '../core/state.js'
import type { Database } from './database.js'
import { openFile, openMemory } from './sqlite.js'
import { createState } from './state.js'

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

export { restoreRows, type Snapshot, snapshotOf } from './snapshot.js'

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
