/** The engine of the tables, PGlite or a PostgreSQL server, behind one small interface: statements in transactions. */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { PoolClient } from 'pg'
import { StartError } from '../check/problem.js'
import { createSerialQueue, memoized } from '../core/work.js'
import type { Answered, Asked, CompiledModule, PgliteOptions, SqlFault, SqlResult, Statement } from './pglite-worker.js'

export type { SqlResult, Statement } from './pglite-worker.js'

/** Runs statements one after another, and returns the result of each. Rejects with a SqlError. */
export type RunSql = (...statements: readonly Statement[]) => Promise<readonly SqlResult[]>

export interface Engine {
  /** Runs work as one transaction, which is undone if it rejects. If it `isLimited`, it is cut off when it takes too long. */
  transaction<T>(work: (run: RunSql) => Promise<T>, isLimited?: boolean): Promise<T>
  /** Runs work alone on one connection, without a transaction. */
  session<T>(work: (run: RunSql) => Promise<T>): Promise<T>
  ended?(): string | undefined
  close(): Promise<void>
}

export class SqlError extends Error {
  override readonly name = 'SqlError'
  readonly code: string
  constructor(readonly fault: SqlFault) {
    super(fault.message)
    this.code = fault.code ?? 'XX000'
  }
}

/** The engine itself has ended, so that it has to be opened again. */
export class EngineEnded extends Error {
  override readonly name = 'EngineEnded'
}

/** As long as Supabase lets a signed-in user wait for a statement. */
const SERVER_MS = 8000
/** PGlite cannot be interrupted: its thread ends, with all that it has in memory. */
const PGLITE_MS = 30_000

const tookTooLong = () =>
  new SqlError({ code: '57014', message: 'canceling statement due to statement timeout', index: 0 } as SqlFault)

/** Begins a transaction together with its first statements, which saves a turn. */
async function inTransaction<T>(send: RunSql, work: (run: RunSql) => Promise<T>): Promise<T> {
  let hasBegun = false
  const run: RunSql = async (...statements) => {
    if (hasBegun) return send(...statements)
    hasBegun = true
    return (await send({ sql: 'begin' }, ...statements)).slice(1)
  }
  try {
    const result = await work(run)
    if (hasBegun) await send({ sql: 'commit' })
    return result
  } catch (error) {
    if (hasBegun) await send({ sql: 'rollback' }).catch(() => {})
    throw error
  }
}

const PGLITE = '@electric-sql/pglite'

/** Finds a file of a package: as the project in `dir` has it, or else as installed beside Standin. */
function resolved(name: string, dir: string): string | undefined {
  for (const from of [path.join(dir, 'package.json'), import.meta.url])
    try {
      return createRequire(from).resolve(name)
    } catch {
      // Not there.
    }
  return undefined
}

/** Whether PGlite is installed. */
export const pgliteIn = (dir: string): { readonly entry: string; readonly version: string } | undefined => {
  const entry = resolved(PGLITE, dir)
  if (entry === undefined) return undefined
  const { version } = createRequire(entry)(path.join(path.dirname(entry), '../package.json')) as { version: string }
  return { entry, version }
}

/** The file of an extension for PGlite: of PGlite's own package, or of one named after it, such as `@electric-sql/pglite-pgvector`. */
export function extensionFile(name: string, dir: string): string | undefined {
  const further = `${PGLITE}-${name === 'vector' ? 'pgvector' : name}`
  return resolved(`${PGLITE}/contrib/${name.replaceAll('-', '_')}`, dir) ?? resolved(further, dir)
}

export interface Pglite extends Engine {
  /** All files of the database, compressed. */
  dump(): Promise<Uint8Array>
}

// The thread starts with a file that is built, also where the rest of the source is not.
const workerFile = fileURLToPath(new URL('../../dist/pglite-worker.js', import.meta.url))

// Node's types have no value of it.
const { WebAssembly: wasm } = globalThis as unknown as {
  readonly WebAssembly: { compile(bytes: Uint8Array): Promise<CompiledModule> }
}

/** Compiling takes most of a start. */
const compiled = memoized(async (entry: string) =>
  wasm.compile(await readFile(createRequire(entry).resolve(`${PGLITE}/pglite.wasm`))),
)

/** Opens PGlite. Rejects with a StartError if it does not start. */
export async function openPglite(given: Omit<PgliteOptions, 'module'>): Promise<Pglite> {
  const workerData: PgliteOptions = { ...given, module: await compiled(given.entry) }
  const worker = new Worker(workerFile, { workerData, execArgv: [] })
  const first = await new Promise<Answered>((resolve, reject) => {
    worker.once('message', resolve)
    worker.once('error', reject)
  })
  if (first.broken === undefined) return new PgliteThread(worker)
  await worker.terminate()
  throw new StartError(`PGlite does not start: ${first.broken}`)
}

interface Waiting {
  readonly resolve: (answer: Answered) => void
  readonly reject: (error: Error) => void
}

/** PGlite on its thread, which does one thing at a time. */
class PgliteThread implements Pglite {
  private readonly inTurn = createSerialQueue()
  private readonly waiting = new Map<number, Waiting>()
  private count = 0
  private why: string | undefined

  constructor(private readonly worker: Worker) {
    worker.on('error', ({ message }) => this.end(message))
    worker.on('exit', () => this.end('PGlite has ended.'))
    worker.on('message', (answered: Answered) => {
      const { id = 0 } = answered
      this.waiting.get(id)?.resolve(answered)
      this.waiting.delete(id)
      if (this.waiting.size === 0) worker.unref()
    })
    worker.unref()
  }

  transaction<T>(work: (run: RunSql) => Promise<T>, isLimited = false): Promise<T> {
    const run = () => inTransaction(this.send, work)
    return this.inTurn(isLimited ? () => this.inTime(run()) : run)
  }

  session<T>(work: (run: RunSql) => Promise<T>): Promise<T> {
    return this.inTurn(() => work(this.send))
  }

  dump(): Promise<Uint8Array> {
    return this.inTurn(async () => {
      const { dump, broken } = await this.ask({ dump: true })
      if (dump === undefined) throw new EngineEnded(broken ?? 'PGlite has ended.')
      return dump
    })
  }

  ended(): string | undefined {
    return this.why
  }

  close(): Promise<void> {
    return this.inTurn(async () => {
      this.why ??= 'The platform has stopped.'
      await this.worker.terminate()
    })
  }

  private end(why: string): void {
    this.why ??= why
    for (const { reject } of this.waiting.values()) reject(new EngineEnded(this.why))
    this.waiting.clear()
    void this.worker.terminate()
  }

  private ask(asked: { readonly run: readonly Statement[] } | { readonly dump: true }): Promise<Answered> {
    if (this.why !== undefined) return Promise.reject(new EngineEnded(this.why))
    const id = ++this.count
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject })
      // Only a question keeps the process alive.
      this.worker.ref()
      this.worker.postMessage({ id, ...asked } satisfies Asked)
    })
  }

  private readonly send: RunSql = async (...statements) => {
    const { results = [], fault, broken } = await this.ask({ run: statements })
    if (fault) throw new SqlError(fault)
    if (broken === undefined) return results
    this.end(broken)
    throw new EngineEnded(broken)
  }

  private async inTime<T>(work: Promise<T>): Promise<T> {
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      this.end('A statement took too long.')
    }, PGLITE_MS)
    try {
      return await work
    } catch (error) {
      throw isLate ? tookTooLong() : error
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Connects to a PostgreSQL server. */
export async function openServer(connectionString: string): Promise<Engine> {
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({
    connectionString,
    application_name: 'standin tables',
    connectionTimeoutMillis: 10_000,
    types: { getTypeParser: () => (text: string) => text } as never,
  })
  pool.on('error', () => {})

  async function use<T>(work: (send: RunSql) => Promise<T>): Promise<T> {
    const client = await pool.connect()
    try {
      const result = await work((...statements) => runOn(client, statements))
      client.release()
      return result
    } catch (error) {
      client.release(!(error instanceof SqlError))
      throw error
    }
  }

  return {
    transaction: (work, isLimited) =>
      use(send =>
        inTransaction(send, async run => {
          if (isLimited) await run({ sql: `set local statement_timeout = ${SERVER_MS}` })
          return work(run)
        }),
      ),
    session: use,
    close: () => pool.end(),
  }
}

async function runOn(client: PoolClient, statements: readonly Statement[]): Promise<readonly SqlResult[]> {
  const results: SqlResult[] = []
  for (const { sql, values = [] } of statements) {
    const { rows, fields = [] } = await client.query(sql, [...values]).catch((error: SqlFault) => {
      const { code, message, detail, hint, where, position } = error
      const fault = { code, message, detail, hint, where, position, index: results.length }
      throw code === undefined ? error : new SqlError(fault)
    })
    results.push({ rows, types: Object.fromEntries(fields.map(({ name, dataTypeID }) => [name, dataTypeID])) })
  }
  return results
}
