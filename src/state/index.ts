/** Opens a state: in memory, in an SQLite file or in PostgreSQL. */
import path from 'node:path'
import { StartError } from '../check/problem.js'
import type { State } from '../core/state.js'
import { createMemoryStore } from './memory.js'
import { createState, type Store } from './store.js'

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
  /**
   * Called with a sentence when the state becomes unusable, when it is usable again, and when part of it is damaged.
   */
  readonly warn?: ((sentence: string) => void) | undefined
}

/** Opens `memory`, `file:PATH` or `postgres://…`. If that fails, rejects with a StartError that says what to do. */
export async function openState(setting: string, { dir, warn = () => {} }: StateDependencies): Promise<State> {
  return createState(await openStore(setting, dir, warn), warn)
}

export { restoreRows, type Snapshot, snapshotOf } from './snapshot.js'

// Database libraries are loaded on demand, since most platforms do not use one.
async function openStore(setting: string, dir: string, warn: (sentence: string) => void): Promise<Store> {
  switch (stateKindOf(setting)) {
    case 'memory':
      return createMemoryStore()
    case 'file': {
      const { openSqlite } = await import('./sqlite.js').catch(unloadable)
      return openSqlite(path.resolve(dir, setting.slice('file:'.length)), warn)
    }
    case 'postgres': {
      const { openPostgres } = await import('./postgres.js')
      return openPostgres(setting)
    }
    case undefined:
      throw new StartError('The state is kept in "memory", "file:PATH" or "postgres://user:password@host/database".')
  }
}

// libsql is a native library, which is not available on every system.
function unloadable(error: Error): never {
  const reason = error.message.split('\n', 1)[0]
  throw new StartError(
    `SQLite cannot be loaded on this system (${reason}). Keep the state in "memory" or in PostgreSQL.`,
  )
}
