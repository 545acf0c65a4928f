/** The kinds of state with a place for each, and states that are closed when the test is over. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import { openState } from '../../src/state/index.js'
import type { State } from '../../src/state/rows.js'
import type { Until } from '../command.js'
import { type Postgres, postgres } from '../postgres.js'

export interface Place {
  readonly where: string
  readonly dir: string
}

export interface Kind {
  readonly kind: string
  /** A place where nothing is stored yet; removed at the end of the test, or as `until` says. */
  freshPlace(until?: Until): Promise<Place>
  /** A place without rows, whose tables may come from earlier tests. */
  emptyPlace(): Promise<Place>
}

/** One server for all tests of a worker; undefined where PostgreSQL is not available. */
export const server = postgres()

const placeInMemory = async () => ({ where: 'memory', dir: '/' })
const memory: Kind = { kind: 'memory', freshPlace: placeInMemory, emptyPlace: placeInMemory }

const file: Kind = {
  kind: 'a file',
  freshPlace: async until => filePlace(until),
  emptyPlace: async () => filePlace(),
}

const postgresKind = (server: Postgres): Kind => ({
  kind: 'PostgreSQL',
  freshPlace: async () => ({ where: await server.freshDatabase(), dir: '/' }),
  emptyPlace: async () => ({ where: await emptyDatabase(server), dir: '/' }),
})

/** The kinds whose state is persistent and can be opened more than once. */
export const lasting: readonly Kind[] = server ? [file, postgresKind(server)] : [file]

/** All kinds, for `describe.each`. */
export const kinds: readonly Kind[] = [memory, ...lasting]

export const filePlace = (until?: Until): Place => ({ where: 'file:state.db', dir: freshFolder(until) })

/** Databases that no test uses any more. */
const spare: string[] = []

/** A database from an earlier test, without its rows: creating one with its tables takes ten times as long. */
async function emptyDatabase(server: Postgres): Promise<string> {
  const url = spare.pop() ?? (await server.freshDatabase())
  await server.run(url, withoutRows)
  onTestFinished(() => void spare.push(url))
  return url
}

const withoutRows = `do $$ declare name text; begin
  for name in select tablename from pg_tables where schemaname = 'standin' and tablename not like 'standin_migrations%' loop
    execute format('delete from standin.%I', name);
  end loop;
end $$`

/** An empty folder; removed at the end of the test. */
export function freshFolder(until: Until = onTestFinished): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'standin-state-')))
  until(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Opens a state; it is closed at the end of the test at the latest. */
export async function opened({ where, dir }: Place): Promise<State> {
  const state = await openState(where, { dir })
  onTestFinished(() => state.close())
  return state
}

/** Opens a state without rows. */
export const fresh = async (kind: Kind): Promise<State> => opened(await kind.emptyPlace())
