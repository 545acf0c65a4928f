/** The tables: opens the database, keeps its users as Standin's are, answers requests, and gives tests their rows. */
import { invalidRequest, PlatformError, unavailableTables } from '../core/errors.js'
import type { Caller, Exchange } from '../core/exchange.js'
import type { Reply } from '../core/reply.js'
import type { State, UserChange } from '../state/rows.js'
import { answerTo } from './answer.js'
import { type Catalogue, keyOf, readCatalogue } from './catalogue.js'
import { applyNew, openDatabase, rememberRows, type TablesSource } from './cluster.js'
import { type Engine, EngineEnded, SqlError, type SqlResult, type Statement } from './engine.js'
import { arrayOf, identifier } from './sql.js'
import { followUsers, type RefuseUser } from './users.js'

export type { TablesSource } from './cluster.js'

interface Options {
  readonly state: State
  readonly warn: (sentence: string) => void
  readonly refuseUser: RefuseUser
  /** Whether a reset restores the rows of the start. */
  readonly isRestored: boolean
}

interface Opened {
  readonly engine: Engine
  readonly restore: (() => Promise<void>) | undefined
  catalogue: Catalogue
}

export type Row = Readonly<Record<string, unknown>>

/** What tests and the control API can do with the tables. */
export interface TableRows {
  /** All rows of a table, as the service role sees them; `name` may have a schema. */
  rows(name: string): Promise<readonly Row[]>
  /** Runs a statement with parameters as the owner of the database, and returns its rows. */
  sql(text: string, values: readonly unknown[]): Promise<readonly Row[]>
}

/** Opens the tables. Rejects with a ProblemsError for a migration that fails, and with a StartError if the engine does not start. */
export async function openTables(source: TablesSource, options: Options): Promise<OpenTables> {
  const tables = new OpenTables(source, options)
  await tables.opened()
  options.state.followUsers(changes => tables.followUsers(changes))
  return tables
}

export class OpenTables implements TableRows {
  private readonly known = new Set<string>()
  private current: Promise<Opened>

  constructor(
    private source: TablesSource,
    private readonly options: Options,
  ) {
    this.current = this.open()
  }

  opened = () => this.current

  answer(exchange: Exchange): Promise<Reply> {
    return this.use(async ({ engine, catalogue }) => {
      await this.meet(engine, exchange.caller)
      const { schemas } = this.source
      return answerTo(exchange, roleAndClaimsOf(exchange), { engine, catalogue, schemas })
    })
  }

  rows(name: string): Promise<readonly Row[]> {
    return this.use(async ({ engine, catalogue }) => {
      const [schema = '', table = ''] = name.includes('.') ? name.split('.', 2) : [this.source.schemas[0], name]
      const relation = catalogue.relations.get(keyOf(schema, table))
      if (!relation) throw invalidRequest(`There is no table ${name}.`)
      const order = relation.key.length > 0 ? ` order by ${relation.key.map(identifier).join(', ')}` : ''
      const from = `${identifier(relation.schema)}.${identifier(relation.name)}${order}`
      const sql = `select json_agg(t) as rows from (select * from ${from}) as t`
      const [found] = await engine.transaction(run => run({ sql }))
      return JSON.parse(found?.rows[0]?.rows ?? '[]')
    })
  }

  sql(text: string, values: readonly unknown[]): Promise<readonly Row[]> {
    return this.use(async opened => {
      const { engine } = opened
      const result = await runAsOwner(engine, { sql: text, values: values.map(textOf) })
      const isOfRows = /^\s*(select|insert|update|delete|with|values)\b/i.test(text)
      if (!isOfRows) opened.catalogue = await engine.transaction(readCatalogue)
      return result ? rowsOf(result) : []
    })
  }

  /** Puts the migrations of another reading of the configuration to use. Rejects with a ProblemsError for one that fails. */
  async renew(next: TablesSource): Promise<void> {
    const { warn, isRestored } = this.options
    const before = this.source
    const opened = await this.current
    this.source = next
    try {
      const { changed, added } = await applyNew(opened.engine, next.app, warn)
      if (added > 0) opened.catalogue = await opened.engine.transaction(readCatalogue)
      if (changed.length === 0) return
      const names = changed.join(', ')
      if (!isRestored) return warn(`${names} changed after it was applied. To start anew, remove the database.`)
      warn(`The tables start anew, because ${names} changed.`)
      const opening = this.open()
      await opening
      this.current = opening
      await opened.engine.close()
    } catch (error) {
      this.source = before
      throw error
    }
  }

  reset(): Promise<void> {
    return this.use(async ({ restore }) => restore?.())
  }

  async close(): Promise<void> {
    this.options.state.followUsers(undefined)
    await (await this.current).engine.close()
  }

  followUsers(changes: readonly UserChange[]): Promise<void> {
    return this.use(({ engine }) => this.follow(engine, changes))
  }

  private async open(): Promise<Opened> {
    const { state, warn, isRestored } = this.options
    const engine = await openDatabase(this.source, warn)
    this.known.clear()
    const users = await state.read(({ users }) => users.find({}))
    for (const row of users.toReversed())
      await this.follow(engine, [{ id: row.id, row }]).catch(error => {
        if (!(error instanceof PlatformError)) throw error
        warn(`${row.email ?? row.id} is not in auth.users: ${error.message}. ${error.more.hint ?? ''}`)
      })
    const catalogue = await engine.transaction(readCatalogue)
    const closed = await closedTables(engine, this.source.schemas)
    if (closed.length > 0)
      warn(`Row level security is on without a policy for ${closed.join(', ')}: only the service role sees rows there.`)
    return { engine, catalogue, restore: isRestored ? await rememberRows(engine) : undefined }
  }

  private async follow(engine: Engine, changes: readonly UserChange[]): Promise<void> {
    await followUsers(engine, changes, this.options.refuseUser)
    for (const { id, row } of changes) if (row) this.known.add(id)
  }

  /** Adds a user whom another process with the same state has signed up. */
  private async meet(engine: Engine, caller: Caller): Promise<void> {
    if (caller.kind !== 'user' || this.known.has(caller.id)) return
    const row = await this.options.state.read(({ users }) => users.get(caller.id))
    if (row) await this.follow(engine, [{ id: caller.id, row }])
  }

  /** Opens the engine again if it has ended in the meantime, for example because a statement took too long. */
  private async use<T>(work: (opened: Opened) => Promise<T>): Promise<T> {
    const using = this.current
    const opened = await using
    try {
      return await work(opened)
    } catch (error) {
      const ended = opened.engine.ended?.()
      if (ended !== undefined && this.current === using) {
        this.options.warn(`The tables start anew, because their engine has ended: ${ended}`)
        this.current = this.open()
      }
      throw error instanceof EngineEnded ? unavailableTables() : error
    }
  }
}

const runAsOwner = (engine: Engine, statement: Statement): Promise<SqlResult | undefined> =>
  engine
    .transaction(async run =>
      (await run({ sql: 'set local search_path = "$user", public, extensions' }, statement)).at(-1),
    )
    .catch(error => {
      throw error instanceof SqlError ? invalidRequest(`The database says: ${error.message}.`) : error
    })

/** The claims of the token, which has been verified, and the role that it names. */
function roleAndClaimsOf({ caller, authorization = '' }: Exchange) {
  const [, payload = ''] = authorization.split('.')
  const claims = Buffer.from(payload, 'base64url').toString()
  const role = caller.kind === 'service' ? 'service_role' : caller.kind === 'user' ? 'authenticated' : 'anon'
  return { role, claims: claims === '' ? JSON.stringify({ role }) : claims }
}

async function closedTables(engine: Engine, schemas: readonly string[]): Promise<readonly string[]> {
  const sql = `select c.relname as name from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p') and c.relrowsecurity and n.nspname = any($1) and not exists (select from pg_policy where polrelid = c.oid)
    order by 1`
  const [found] = await engine.transaction(run =>
    run({ sql, values: [`{${schemas.map(one => JSON.stringify(one)).join(',')}}`] }),
  )
  return found?.rows.flatMap(({ name }) => name ?? []) ?? []
}

/** A value of a test as a text for the database: arrays as PostgreSQL writes them, other objects as JSON. */
function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value)) return arrayOf(value.map(textOf))
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Texts of the database as the values that the API sends, by the number of their type. */
const readers: Readonly<Record<number, (text: string) => unknown>> = {
  16: text => text === 't',
  ...Object.fromEntries([20, 21, 23, 26, 700, 701, 1700].map(type => [type, Number])),
  ...Object.fromEntries([114, 3802].map(type => [type, JSON.parse])),
  ...Object.fromEntries(
    [1114, 1184].map(type => [type, (text: string) => text.replace(' ', 'T').replace(/([+-]\d\d)$/, '$1:00')]),
  ),
}

const rowsOf = ({ rows, types }: SqlResult): readonly Row[] =>
  rows.map(row =>
    Object.fromEntries(
      Object.entries(row).map(([name, text]) => [
        name,
        text === null ? null : (readers[types[name] ?? 0]?.(text) ?? text),
      ]),
    ),
  )
