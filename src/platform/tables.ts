/** The tables below /rest/v1, across reloads. Their code is loaded on demand. */
import { noTables } from '../core/errors.js'
import type { Part, ResetOptions } from '../core/part.js'
import type { TablesParts, tablesSurface } from '../http/tables.js'
import type { State } from '../state/rows.js'
import { databaseError } from '../supabase/errors.js'
import type { OpenTables, TableRows } from '../tables/index.js'
import type { PreparedTables } from '../tables/read.js'
import type { PreparedConfig } from './prepare.js'

interface Dependencies {
  readonly first: PreparedTables | undefined
  readonly state: State
  readonly warn: (sentence: string) => void
  readonly renew: () => void
}

export function createTablesPart({ first, state, warn, renew }: Dependencies) {
  let tables: OpenTables | undefined
  let createSurface: typeof tablesSurface | undefined
  let source = first
  const isRestored = first?.isOwn ?? false

  async function open(next: PreparedTables): Promise<OpenTables> {
    const { openTables } = await import('../tables/index.js')
    const { tablesSurface } = await import('../http/tables.js')
    createSurface = tablesSurface
    return openTables(next, { state, warn, refuseUser: databaseError, isRestored: next.isOwn })
  }

  const required = () => {
    if (!tables) throw noTables()
    return tables
  }

  return {
    /** How the line serves them; undefined if there are none. */
    surface: (parts: Omit<TablesParts, 'answer'>) =>
      createSurface?.({ ...parts, answer: exchange => required().answer(exchange) }),
    /** For tests and the control API. */
    rows: {
      rows: async name => required().rows(name),
      sql: async (text, values) => required().sql(text, values),
    } satisfies TableRows,
    async open() {
      if (!source) return
      tables = await open(source)
      renew()
    },
    async prepare({ tables: next }: PreparedConfig) {
      const before = tables
      if (next && before) {
        if (next.database !== source?.database) warn('Another tables.database is used after a restart.')
        await before.renew({ ...next, database: source?.database ?? next.database })
        return () => {
          source = next
        }
      }
      const opened = next && (await open(next))
      return () => {
        tables = opened
        if (!opened) createSurface = undefined
        source = next
        void before?.close()
      }
    },
    async reset({ scope, state: isIncluded = true }: ResetOptions) {
      if (scope === undefined && isIncluded && isRestored) await tables?.reset()
    },
    close: () => tables?.close(),
  } satisfies Part<PreparedConfig> & Record<string, unknown>
}
