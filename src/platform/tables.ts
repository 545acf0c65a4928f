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

interface Opened {
  /** What they were opened with. */
  readonly source: PreparedTables
  readonly tables: OpenTables
  readonly createSurface: typeof tablesSurface
}

export class TablesPart implements Part<PreparedConfig> {
  #opened: Opened | undefined

  constructor(private readonly parts: Dependencies) {}

  /** For tests and the control API. */
  readonly rows: TableRows = {
    rows: async name => this.#tables().rows(name),
    sql: async (text, values) => this.#tables().sql(text, values),
  }

  /** How the line serves them; undefined if there are none. */
  surface(parts: Omit<TablesParts, 'answer'>) {
    return this.#opened?.createSurface({ ...parts, answer: exchange => this.#tables().answer(exchange) })
  }

  async open() {
    const { first, renew } = this.parts
    if (!first) return
    this.#opened = await this.#load(first)
    renew()
  }

  async prepare({ tables: next }: PreparedConfig) {
    const before = this.#opened
    if (next && before) {
      const { database } = before.source
      if (next.database !== database) this.parts.warn('Another tables.database is used after a restart.')
      await before.tables.renew({ ...next, database })
      return () => {}
    }
    const opened = next && (await this.#load(next))
    return () => {
      this.#opened = opened
      void before?.tables.close()
    }
  }

  async reset({ scope, state: isIncluded = true }: ResetOptions) {
    const { tables, source } = this.#opened ?? {}
    if (scope === undefined && isIncluded && source?.isOwn) await tables?.reset()
  }

  close = () => this.#opened?.tables.close()

  async #load(source: PreparedTables): Promise<Opened> {
    const { openTables } = await import('../tables/index.js')
    const { tablesSurface: createSurface } = await import('../http/tables.js')
    const options = { ...this.parts, refuseUser: databaseError, isRestored: source.isOwn }
    return { source, tables: await openTables(source, options), createSurface }
  }

  #tables(): OpenTables {
    if (!this.#opened) throw noTables()
    return this.#opened.tables
  }
}
