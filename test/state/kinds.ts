/** The kinds of state with a place for each, and states that are closed when the test is over. */
import { mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { onTestFinished } from 'vitest'
import type { State } from '../../src/core/state.js'
import { openState } from '../../src/state/index.js'
import type { Until } from '../command.js'
import { postgres } from '../postgres.js'

export interface Place {
  readonly where: string
  readonly dir: string
}

export interface Kind {
  readonly kind: string
  /** A place where nothing is kept yet; gone when the test is over unless something else is said. */
  freshPlace(until?: Until): Promise<Place>
}

/** One for all tests of a worker; undefined where there is none. */
export const server = postgres()

const memory: Kind = { kind: 'memory', freshPlace: async () => ({ where: 'memory', dir: '/' }) }
const file: Kind = { kind: 'a file', freshPlace: async until => filePlace(until) }

/** The kinds whose state outlives those who opened it, and can be opened more than once. */
export const lasting: readonly Kind[] = server
  ? [file, { kind: 'PostgreSQL', freshPlace: async () => ({ where: await server.freshDatabase(), dir: '/' }) }]
  : [file]

/** All kinds, for `describe.each`. */
export const kinds: readonly Kind[] = [memory, ...lasting]

export const filePlace = (until?: Until): Place => ({ where: 'file:state.db', dir: freshFolder(until) })

/** An empty folder; gone when the test is over. */
export function freshFolder(until: Until = onTestFinished): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'standin-state-')))
  until(() => rmSync(dir, { recursive: true, force: true }))
  return dir
}

/** Opens a state; it is closed with the test at the latest. */
export async function opened({ where, dir }: Place): Promise<State> {
  const state = await openState(where, { dir })
  onTestFinished(() => state.close())
  return state
}

/** Opens a state where nothing is kept yet. */
export const fresh = async (kind: Kind): Promise<State> => opened(await kind.freshPlace())
