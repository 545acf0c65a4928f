/** Starts a real PostgreSQL from Debian's package, shared by all tests of a worker. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chownSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { freePort } from './free-port.js'

export interface Postgres {
  /** Creates an empty database and returns its URL. */
  freshDatabase(): Promise<string>
  /** Runs statements in the database at this URL; restarts the server if a test has left it stopped. */
  run(url: string, statements: string): Promise<void>
  /** Stops the server as an administrator would, disconnecting its clients. */
  stop(): Promise<void>
  /** Starts it again on the same port. */
  start(): Promise<void>
}

/** Called while tests are collected: starts nothing before a test asks for a database. The server ends with the worker. */
export function postgres(): Postgres | undefined {
  const installation = findInstallation()
  if (!installation) {
    console.warn('The tests on PostgreSQL are skipped: apt-get install -y postgresql')
    return
  }
  let cluster: Promise<Postgres> | undefined
  const started = () => {
    cluster ??= createCluster(installation)
    return cluster
  }
  return {
    freshDatabase: async () => (await started()).freshDatabase(),
    run: async (url, statements) => (await started()).run(url, statements),
    stop: async () => (await started()).stop(),
    start: async () => (await started()).start(),
  }
}

const installations = '/usr/lib/postgresql'

interface Installation {
  readonly version: number
  /** Where its programs are. */
  readonly bin: string
}

function findInstallation(): Installation | undefined {
  const versions = existsSync(installations) ? readdirSync(installations).map(Number) : []
  return versions
    .sort((a, b) => b - a)
    .map(version => ({ version, bin: path.join(installations, String(version), 'bin') }))
    .find(({ bin }) => ['initdb', 'postgres'].every(program => existsSync(path.join(bin, program))))
}

const user = 'ada'
const password = 'correct-horse'

/** A locale with its own sort order, which must not become ours. */
const english = ['--locale-provider=icu', '--icu-locale=en-US']

async function createCluster({ version, bin }: Installation): Promise<Postgres> {
  const identity = serverIdentity()
  const home = mkdtempSync(path.join(tmpdir(), 'standin-postgres-'))
  const data = path.join(home, 'data')
  if (identity) chownSync(home, identity.uid, identity.gid)
  makeCluster(data, version, options => {
    const passwordFile = path.join(home, 'password')
    writeFileSync(passwordFile, password)
    if (identity) chownSync(passwordFile, identity.uid, identity.gid)
    const args = ['-D', data, '--pwfile', passwordFile, ...options]
    execFileSync(path.join(bin, 'initdb'), args, { ...identity, stdio: 'pipe', cwd: home })
  })
  const port = await freePort()
  let server = await startServer()
  let databases = 0

  function startServer() {
    const options = {
      listen_addresses: '127.0.0.1',
      port,
      unix_socket_directories: home,
      fsync: 'off',
      max_connections: 200,
    }
    const settings = Object.entries(options).flatMap(([name, value]) => ['-c', `${name}=${value}`])
    // The server ends with the worker, even if the worker is killed.
    const child = spawn('setpriv', ['--pdeathsig', 'INT', path.join(bin, 'postgres'), '-D', data, ...settings], {
      ...identity,
      cwd: home,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    return ready(child)
  }

  const urlOf = (database: string) => `postgres://${user}:${password}@127.0.0.1:${port}/${database}`

  const isStopped = () => server.exitCode !== null || server.signalCode !== null

  async function stop() {
    if (isStopped()) return
    const ended = new Promise(resolve => server.once('close', resolve))
    server.kill('SIGINT')
    await ended
  }

  async function run(url: string, statements: string) {
    // A failed test may have left it stopped.
    if (isStopped()) server = await startServer()
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    await client.query(statements)
    await client.end()
  }

  return {
    async freshDatabase() {
      databases += 1
      const name = `test_${databases}`
      await run(urlOf('postgres'), `create database ${name}`)
      return urlOf(name)
    },
    run,
    stop,
    async start() {
      server = await startServer()
    },
  }
}

const clusters = path.join(import.meta.dirname, '../node_modules/.cache/standin')

/** Creates the files of an empty server, from the copy of an earlier run if there is one: `initdb` takes ten times as long. */
function makeCluster(data: string, version: number, initdb: (options: readonly string[]) => void): void {
  const options = [
    ...['-U', user, '--auth=scram-sha-256', '--no-sync', '--encoding=UTF8'],
    ...['--locale=C.UTF-8', ...(version >= 15 ? english : [])],
  ]
  const kind = createHash('sha1')
    .update([...options, password].join())
    .digest('hex')
    .slice(0, 8)
  const kept = path.join(clusters, `postgres-${version}-${kind}`)
  // With owner and permissions, or the server refuses the files.
  const copy = (from: string, to: string) => execFileSync('cp', ['-a', from, to])
  if (existsSync(kept)) return void copy(kept, data)
  initdb(options)
  mkdirSync(clusters, { recursive: true })
  const copied = `${kept}-${process.pid}`
  copy(data, copied)
  try {
    renameSync(copied, kept)
  } catch {
    // Another worker was faster.
    rmSync(copied, { recursive: true })
  }
}

/** PostgreSQL refuses to run as root. */
function serverIdentity(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return
  const idOf = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }))
  return { uid: idOf('-u'), gid: idOf('-g') }
}

/** Resolves when the server accepts connections; rejects with its output if it ends instead. */
function ready(server: ChildProcess): Promise<ChildProcess> {
  return new Promise((resolve, reject) => {
    let said = ''
    server.once('error', reject)
    server.once('close', () => reject(new Error(`PostgreSQL did not start:\n${said}`)))
    createInterface(server.stderr as NodeJS.ReadableStream).on('line', line => {
      said += `${line}\n`
      if (line.includes('ready to accept connections')) resolve(server)
    })
  })
}
