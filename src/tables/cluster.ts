/** Opens the database of the tables: prepared once for each set of migrations and kept below `.standin/`, in memory, in a folder, or on a server. */
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { makeFolder, StartError } from '../check/problem.js'
import { createSerialQueue } from '../core/work.js'
import { isLiving, processName } from '../recordings/process.js'
import {
  type Engine,
  extensionFile,
  openPglite,
  openServer,
  type Pglite,
  pgliteIn,
  type RunSql,
  SqlError,
} from './engine.js'
import { type AppSql, applyFile, extensionsIn, isOwnExtension } from './migrations.js'
import { supabaseStatements } from './supabase.js'

export interface TablesSource {
  readonly dir: string
  readonly app: AppSql
  /** `memory`, `file:PATH` or the URL of a server. */
  readonly database: string
  /** Whether a database on a server is only for this process. */
  readonly isOwn: boolean
  /** The schemas that clients may use, the default one first. */
  readonly schemas: readonly string[]
}

type Warn = (sentence: string) => void

/** Opens the database with all migrations. Rejects with a ProblemsError for one that fails, and with a StartError if the engine does not start. */
export async function openDatabase(source: TablesSource, warn: Warn): Promise<Engine> {
  if (/^postgres(ql)?:/.test(source.database)) return openOnServer(source, warn)
  const pglite = pgliteIn(source.dir)
  if (!pglite) throw new StartError('PGlite is not installed.')
  const { entry, version } = pglite
  const extensions = extensionsIn(source.app).flatMap(name => extensionFile(name, source.dir) ?? [])
  if (source.database === 'memory') return fromCluster({ ...source, entry, version, extensions }, warn)
  const folder = path.resolve(source.dir, source.database.slice('file:'.length))
  return openInFolder(folder, { ...source, entry, version, extensions }, warn)
}

interface PgliteSource extends TablesSource {
  readonly entry: string
  readonly version: string
  readonly extensions: readonly string[]
}

// The prepared cluster.

const digestOf = (...texts: readonly string[]) =>
  createHash('sha256').update(JSON.stringify(texts)).digest('hex').slice(0, 16)

const appDigest = ({ migrations, seeds }: AppSql) =>
  digestOf(...[...migrations, ...seeds].flatMap(({ name, text }) => [name, text]))

const inTurn = createSerialQueue()
const WAIT_MS = 50
/** For a minute: a process of the same number may be another one. To prepare a cluster twice is only slow. */
const MOST_WAITS = 1200

/** The database in memory, from the prepared cluster if there is one. One process prepares it while others wait, as test files that start at once. */
async function fromCluster(source: PgliteSource, warn: Warn): Promise<Pglite> {
  const { dir, app, entry, version, extensions } = source
  const base = digestOf(version, ...supabaseStatements)
  const ready = digestOf(base, appDigest(app))
  const opened = () => {
    const cluster = kept(dir, ready)
    return cluster && openPglite({ entry, extensions, cluster })
  }
  const prepared = async () => {
    const file = path.join(clusterFolder(dir), 'preparing.pid')
    for (let waits = 0; holderOf(file) !== undefined && waits < MOST_WAITS; waits++) await setTimeout(WAIT_MS)
    try {
      return await (opened() ?? prepareCluster(source, { base, ready }, warn))
    } finally {
      // Not removed, since another process may be reading it.
      writeFileSync(file, '')
    }
  }
  return opened() ?? inTurn(prepared)
}

async function prepareCluster(
  { dir, app, entry, extensions }: PgliteSource,
  { base, ready }: { readonly base: string; readonly ready: string },
  warn: Warn,
): Promise<Pglite> {
  warn(`Preparing the tables from ${app.migrations.length} migrations. This takes some seconds, once.`)
  const empty = kept(dir, base)
  const engine = await openPglite({ entry, extensions, cluster: empty })
  try {
    if (!empty) {
      await prepare(engine)
      keep(dir, base, await dumpOf(engine))
    }
    await applyAll(engine, app, warn)
    keep(dir, ready, await dumpOf(engine))
    return engine
  } catch (error) {
    await engine.close()
    throw error
  }
}

/** After a checkpoint: sequences would otherwise go on from a later number, as after a crash. */
async function dumpOf(engine: Pglite): Promise<Uint8Array> {
  await engine.session(run => run({ sql: 'checkpoint' }))
  return engine.dump()
}

const prepare = (engine: Engine) => engine.transaction(run => run(...supabaseStatements.map(sql => ({ sql }))))

function clusterFolder(dir: string): string {
  const folder = path.join(dir, '.standin', 'clusters')
  const newFolder = makeFolder(folder)
  if (newFolder !== undefined) writeFileSync(path.join(newFolder, '.gitignore'), '*\n')
  return folder
}

function kept(dir: string, name: string): Uint8Array | undefined {
  const file = path.join(clusterFolder(dir), `${name}.tar.zst`)
  if (!existsSync(file)) return undefined
  // By this, those that are in use are known.
  utimesSync(file, new Date(), new Date())
  return readFileSync(file)
}

const MOST_KEPT = 12

/** Keeps a cluster, under its name only when it is complete, and removes those that were not used for the longest time. */
function keep(dir: string, name: string, cluster: Uint8Array): void {
  const folder = clusterFolder(dir)
  const unfinished = path.join(folder, `${randomUUID()}.tmp`)
  writeFileSync(unfinished, cluster)
  renameSync(unfinished, path.join(folder, `${name}.tar.zst`))
  const all = readdirSync(folder).filter(file => file.endsWith('.tar.zst'))
  const used = (file: string) => statSync(path.join(folder, file), { throwIfNoEntry: false })?.mtimeMs ?? 0
  for (const file of all.sort((a, b) => used(b) - used(a)).slice(MOST_KEPT))
    rmSync(path.join(folder, file), { force: true })
}

/** Applies all migrations and the seed to a database that has none. */
async function applyAll(engine: Engine, app: AppSql, warn: Warn): Promise<void> {
  for (const name of extensionsIn(app).filter(isOwnExtension)) {
    const sql = `create extension if not exists "${name}" with schema extensions`
    await engine
      .transaction(run => run({ sql }))
      .catch((error: Error) => warn(`The extension ${name} is not there: ${error.message}.`))
  }
  const missing = new Set<string>()
  await applyNew(engine, app, warn, missing)
  for (const seed of app.seeds) await engine.transaction(run => applyFile(run, seed, { warn, missing }))
}

/** What is there to do for migrations, if some have been applied before. */
export async function applyNew(
  engine: Engine,
  { migrations }: AppSql,
  warn: Warn,
  missing = new Set<string>(),
): Promise<{ readonly changed: readonly string[]; readonly added: number }> {
  const applied = await engine.transaction(async run => {
    const [done] = await run({
      sql: 'select version, statements[1] as text from supabase_migrations.schema_migrations',
    })
    return new Map(done?.rows.map(({ version, text }) => [version, text]))
  })
  const changed = [...applied].flatMap(([version, text]) => {
    const now = migrations.find(one => one.version === version)
    return now?.text === text ? [] : [now?.name ?? `${version} (removed)`]
  })
  if (changed.length > 0) return { changed, added: 0 }
  const added = migrations.filter(({ version }) => !applied.has(version))
  for (const migration of added)
    await engine.transaction(async run => {
      await applyFile(run, migration, { warn, missing })
      const { version, name, text } = migration
      const values = [version, text, path.basename(name, '.sql').slice(version.length + 1)]
      await run({ sql: 'insert into supabase_migrations.schema_migrations values ($1, array[$2::text], $3)', values })
    })
  return { changed, added: added.length }
}

async function applyOrWarn(engine: Engine, app: AppSql, place: string, warn: Warn): Promise<void> {
  const { changed } = await applyNew(engine, app, warn)
  if (changed.length > 0)
    warn(`${changed.join(', ')} changed after it was applied to ${place}. To start anew, remove that database.`)
}

// In a folder.

async function openInFolder(folder: string, source: PgliteSource, warn: Warn): Promise<Engine> {
  const unlock = lock(folder)
  const { entry, extensions, app } = source
  try {
    if (existsSync(path.join(folder, 'PG_VERSION'))) {
      const engine = await openPglite({ entry, extensions, folder })
      await applyOrWarn(engine, app, folder, warn)
      return closingWith(engine, unlock)
    }
    const prepared = await fromCluster(source, warn)
    const cluster = await dumpOf(prepared)
    await prepared.close()
    makeFolder(folder)
    const engine = await openPglite({ entry, extensions, folder, cluster })
    return closingWith(engine, unlock)
  } catch (error) {
    unlock()
    throw error
  }
}

/** The engine, with something to do after it is closed. */
const closingWith = (engine: Engine, after: () => unknown): Engine => ({
  transaction: (work, isLimited) => engine.transaction(work, isLimited),
  session: work => engine.session(work),
  ended: () => engine.ended?.(),
  close: () => engine.close().finally(after),
})

/** PGlite does not notice that another process has the same folder open, and would destroy it. */
function lock(folder: string): () => void {
  const file = `${folder}.pid`
  makeFolder(path.dirname(file))
  const holder = holderOf(file)
  if (holder !== undefined)
    throw new StartError(
      `The tables in ${folder} are open in another process (${holder}). Stop it, or keep the tables in memory with tables.database: memory.`,
    )
  return () => rmSync(file, { force: true })
}

/** Takes a lock for this process, and returns nothing; or returns the number of another process that has it and lives. */
function holderOf(file: string): string | undefined {
  const holder = existsSync(file) ? readFileSync(file, 'utf8') : ''
  if (holder !== processName() && isLiving(holder)) return holder.split('.', 1)[0]
  writeFileSync(file, processName())
  return undefined
}

// On a server.

/** A database of its own, copied from a prepared one, or the one in the URL. */
async function openOnServer({ database: url, app, isOwn }: TablesSource, warn: Warn): Promise<Engine> {
  const admin = await openServer(url)
  try {
    if (!isOwn) return await openNamed(admin, url, app, warn)
    const { engine, name } = await admin.session(run => copied(run, url, app, warn))
    return closingWith(engine, async () => {
      await admin.session(run => run({ sql: `drop database if exists ${name}` })).catch(() => {})
      await admin.close()
    })
  } catch (error) {
    await admin.close()
    if (error instanceof SqlError || (error as NodeJS.ErrnoException).code !== undefined)
      throw new StartError(`The PostgreSQL server of tables.database cannot be used: ${(error as Error).message}.`)
    throw error
  }
}

/** The database in the URL. It is prepared if it has nothing of Supabase, and nothing in it is ever dropped. */
async function openNamed(engine: Engine, url: string, app: AppSql, warn: Warn): Promise<Engine> {
  const { pathname } = new URL(url)
  const state = await engine.transaction(async run => {
    const [found] = await run({
      sql: "select to_regnamespace('auth') is not null as auth, obj_description(to_regnamespace('auth'), 'pg_namespace') as mark",
    })
    return found?.rows[0]
  })
  if (state?.auth === 't' && state.mark !== MARK)
    throw new StartError(
      `The database ${pathname.slice(1)} has a schema auth that Standin did not make. Name an empty database in tables.database.`,
    )
  if (state?.auth !== 't') {
    await engine.transaction(run =>
      run(...[...supabaseStatements, `comment on schema auth is '${MARK}'`].map(sql => ({ sql }))),
    )
    await applyAll(engine, app, warn)
  } else await applyOrWarn(engine, app, pathname.slice(1), warn)
  return engine
}

const MARK = 'Prepared by Standin'

/** An arbitrary number that is not locked elsewhere. */
const COPY_LOCK = '7820436160'

async function copied(run: RunSql, url: string, app: AppSql, warn: Warn) {
  const template = `standin_${digestOf(...supabaseStatements, appDigest(app))}`
  const name = `${template}_${process.pid}_${randomUUID().slice(0, 8)}`
  const urlOf = (database: string) => Object.assign(new URL(url), { pathname: `/${database}` }).href
  await run({ sql: `select pg_advisory_lock(${COPY_LOCK})` })
  try {
    const [databases] = await run({
      sql: 'select datname as name, not exists (select from pg_stat_activity a where a.datname = d.datname) as free from pg_database d where starts_with(datname, $1)',
      values: [template],
    })
    const all = databases?.rows ?? []
    if (!all.some(one => one.name === template)) await makeTemplate(run, template, urlOf, app, warn)
    // Those that a killed process has left.
    for (const one of all)
      if (one.name !== template && one.free === 't') await run({ sql: `drop database if exists ${one.name}` })
    await run({ sql: `create database ${name} template ${template}` })
    const engine = await openServer(urlOf(name))
    await engine.session(first => first({ sql: 'select 1' }))
    return { engine, name }
  } finally {
    await run({ sql: `select pg_advisory_unlock(${COPY_LOCK})` })
  }
}

async function makeTemplate(
  run: RunSql,
  template: string,
  urlOf: (database: string) => string,
  app: AppSql,
  warn: Warn,
): Promise<void> {
  warn(`Preparing the tables from ${app.migrations.length} migrations. This is done once.`)
  const unfinished = `${template}_unfinished`
  await run(
    { sql: `drop database if exists ${unfinished}` },
    { sql: `create database ${unfinished} template template0` },
  )
  const engine = await openServer(urlOf(unfinished))
  try {
    await prepare(engine)
    await applyAll(engine, app, warn)
  } finally {
    await engine.close()
  }
  await run({ sql: `alter database ${unfinished} rename to ${template}` })
}

// The rows at the start.

/** Copies all rows, and returns a function that restores them. */
export async function rememberRows(engine: Engine): Promise<() => Promise<void>> {
  const copies = await engine.transaction(copyRows)
  return () => engine.transaction(run => putBack(run, copies))
}

interface Found {
  readonly tables: readonly { readonly name: string; readonly columns: string }[]
  readonly sequences: readonly string[]
  readonly views: readonly string[]
}

const copyOf = (i: number) => `standin.rows_${i}`

/** Copies each table. Returns which have rows, and the values of the sequences. */
async function copyRows(run: RunSql) {
  const [, list] = await run({ sql: "set local search_path = ''" }, { sql: rowsSql })
  const found: Found = JSON.parse(list?.rows[0]?.found ?? '{}')
  const { tables, sequences } = found
  await run(
    { sql: 'drop schema if exists standin cascade' },
    { sql: 'create schema standin' },
    ...tables.map(({ name, columns }, i) => ({
      sql: `create unlogged table ${copyOf(i)} as select ${columns} from ${name}`,
    })),
  )
  const counts = await run(...tables.map((_, i) => ({ sql: `select exists (select from ${copyOf(i)}) as found` })))
  const values = await run(...sequences.map(name => ({ sql: `select last_value, is_called from ${name}` })))
  return {
    ...found,
    filled: counts.map(({ rows }) => rows[0]?.found === 't'),
    values: values.map(({ rows }) => rows[0]),
  }
}

async function putBack(run: RunSql, copies: Awaited<ReturnType<typeof copyRows>>): Promise<void> {
  const { tables, sequences, views, filled, values } = copies
  const copied = tables.flatMap(({ name, columns }, i) => (filled[i] ? [{ name, columns, from: copyOf(i) }] : []))
  await run(
    // Triggers and foreign keys have done their work when the rows were made.
    { sql: 'set local session_replication_role = replica' },
    ...(tables.length > 0 ? [{ sql: `truncate ${tables.map(({ name }) => name).join(', ')}` }] : []),
    ...copied.map(({ name, columns, from }) => ({
      sql: `insert into ${name} (${columns}) overriding system value select ${columns} from ${from}`,
    })),
    ...sequences.map((name, i) => ({
      sql: `select setval($1::regclass, $2::bigint, $3::boolean)`,
      values: [name, values[i]?.last_value ?? '1', values[i]?.is_called ?? 'f'],
    })),
    ...views.map(name => ({ sql: `refresh materialized view ${name}` })),
  )
}

const rowsSql = `
with own as (select oid from pg_namespace where nspname !~ '^pg_' and nspname not in ('information_schema', 'standin', 'supabase_migrations'))
select json_build_object(
  'tables', (select coalesce(json_agg(json_build_object('name', c.oid::regclass::text, 'columns',
      (select string_agg(quote_ident(a.attname), ', ') from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''))), '[]')
    from pg_class c where c.relkind in ('r', 'p') and not c.relispartition and c.relnamespace in (select oid from own)),
  'sequences', (select coalesce(json_agg(c.oid::regclass::text), '[]') from pg_class c where c.relkind = 'S' and c.relnamespace in (select oid from own)),
  'views', (select coalesce(json_agg(c.oid::regclass::text), '[]') from pg_class c where c.relkind = 'm' and c.relnamespace in (select oid from own))) as found`
