/** Runs PGlite on a thread of its own, so that a query never holds up a stream: a separate file, because it is what the thread starts with. */
import { createRequire } from 'node:module'
import { parentPort, workerData } from 'node:worker_threads'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { PGlite } from '@electric-sql/pglite'

/** A statement whose values are texts, as in SQL: the database knows their types. */
export interface Statement {
  readonly sql: string
  readonly values?: readonly (string | null)[] | undefined
}

export interface SqlResult {
  /** Texts, as the database writes them. */
  readonly rows: readonly Readonly<Record<string, string | null>>[]
  /** The type of each column, by its number in `pg_type`. */
  readonly types: Readonly<Record<string, number>>
}

export interface SqlFault {
  readonly code: string | undefined
  readonly message: string
  readonly detail?: string | undefined
  readonly hint?: string | undefined
  /** The context, such as the function that was running. */
  readonly where?: string | undefined
  /** Where in the statement, counted in characters from 1. */
  readonly position?: string | undefined
  /** Which of the statements, from 0. */
  readonly index: number
}

/** What the thread is asked for. */
export type Asked = { readonly id: number } & ({ readonly run: readonly Statement[] } | { readonly dump: true })

/** What it answers. An answer without an id is about its start. */
export interface Answered {
  readonly id?: number
  readonly results?: readonly SqlResult[]
  readonly dump?: Uint8Array
  readonly fault?: SqlFault
  /** The engine itself has failed. */
  readonly broken?: string
}

/** A `WebAssembly.Module`, which Node's types do not have. */
export type CompiledModule = object

export interface PgliteOptions {
  readonly entry: string
  /** Its code, compiled: threads of one process share it. */
  readonly module: CompiledModule
  readonly extensions: readonly string[]
  /** The folder to keep the database in; in memory without one. */
  readonly folder?: string | undefined
  /** The cluster to start from, as `dump` returned it. */
  readonly cluster?: Uint8Array | undefined
}

const require = createRequire(import.meta.url)

async function open({ entry, module, extensions, folder, cluster }: PgliteOptions): Promise<PGlite> {
  const engine: typeof import('@electric-sql/pglite') = require(entry)
  const loaded = extensions.flatMap(file => Object.values(require(file) as object))
  return engine.PGlite.create({
    pgliteWasmModule: module,
    ...(folder !== undefined && { dataDir: folder }),
    ...(cluster && { loadDataDir: new Blob([new Uint8Array(zstdDecompressSync(cluster))]) }),
    extensions: Object.fromEntries(loaded.map(extension => [extension.name, extension])),
  })
}

async function run(database: PGlite, statements: readonly Statement[]): Promise<readonly SqlResult[]> {
  // Texts stay texts in both directions.
  const asIs = (types: object) => Object.fromEntries(Object.keys(types).map(type => [type, String]))
  const options = { serializers: asIs(database.serializers), parsers: asIs(database.parsers) }
  const results: SqlResult[] = []
  for (const { sql, values = [] } of statements) {
    try {
      const { rows, fields } = await database.query<SqlResult['rows'][number]>(sql, [...values], options)
      results.push({ rows, types: Object.fromEntries(fields.map(({ name, dataTypeID }) => [name, dataTypeID])) })
    } catch (error) {
      throw Object.assign(error as Error, { index: results.length })
    }
  }
  return results
}

async function answer(database: PGlite, asked: Asked): Promise<Answered> {
  const { id } = asked
  try {
    if ('run' in asked) return { id, results: await run(database, asked.run) }
    const dump = await database.dumpDataDir('none')
    return { id, dump: zstdCompressSync(await dump.bytes()) }
  } catch (error) {
    const { code, message, detail, hint, where, position, index } = error as SqlFault
    if (code === undefined) return { id, broken: message }
    return { id, fault: { code, message, detail, hint, where, position, index } }
  }
}

const port = parentPort
if (port)
  open(workerData).then(
    database => {
      port.on('message', async (asked: Asked) => port.postMessage(await answer(database, asked)))
      port.postMessage({})
    },
    (error: Error) => port.postMessage({ broken: error.message }),
  )
