/**
 * `npm run bench [post|get|stream] [--rounds 2] [--profile]`: Standin beside bare node:http, and fastify where it is installed, interleaved in one run,
 * as ratios of the medians. The figure to look at is processor time a request, which a slow load generator does not blur; it is read from
 * /proc, so this runs on Linux. With --profile it prints the ten functions of Standin that took the most time instead.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { parseArgs } from 'node:util'
import autocannon from 'autocannon'
import { developmentApiKey } from '../../src/core/secrets.js'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '2' }, profile: { type: 'boolean', default: false } },
})
const rounds = Number(flags.rounds)
const SECONDS = 2
const CONNECTIONS = 32

const here = import.meta.dirname
const cli = path.join(here, '../../dist/cli.js')
const config = path.join(here, 'platform.config.yaml')
const contenders = {
  'node:http': (port: number) => [path.join(here, 'ceiling.mjs'), String(port)],
  Standin: (port: number) => [cli, 'dev', '--port', String(port), '--quiet', '--state', 'memory', '--config', config],
  fastify: (port: number) => [path.join(here, 'fastify.mjs'), String(port)],
}
type Name = keyof typeof contenders
const names: readonly Name[] = isInstalled('fastify') ? ['node:http', 'Standin', 'fastify'] : ['node:http', 'Standin']

function isInstalled(name: string): boolean {
  try {
    return createRequire(import.meta.url).resolve(name) !== ''
  } catch {
    return false
  }
}

const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What is your refund policy, please?' }] }
const headers = { authorization: `Bearer ${developmentApiKey}`, 'content-type': 'application/json' }
const allLoads: Readonly<Record<string, { path: string; method: 'GET' | 'POST'; body: string | undefined }>> = {
  get: { path: '/v1/models', method: 'GET', body: undefined },
  post: { path: '/v1/chat/completions', method: 'POST', body: JSON.stringify(chat) },
  stream: {
    path: '/v1/chat/completions',
    method: 'POST',
    body: JSON.stringify({ ...chat, stream: true }),
  },
}
const loads = Object.entries(allLoads).filter(([row]) => positionals.length === 0 || positionals.includes(row))
if (loads.length === 0) throw new Error(`There is no row ${positionals.join(', ')}: say get, post or stream.`)

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']).toString())

/** Processor time that a process has used, in microseconds. */
function cpuMicroseconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}

/** Starts a contender; gives it back with the milliseconds until its first 200. */
async function start(name: Name, nodeFlags: readonly string[] = []) {
  const port = await freePort()
  const startedMs = performance.now()
  const child = spawn(process.execPath, [...nodeFlags, ...contenders[name](port)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const url = `http://127.0.0.1:${port}`
  for (;;) {
    const answered = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (answered) return { child, url, startMs: performance.now() - startedMs }
    if (child.exitCode !== null) throw new Error(`${name} ended before it was ready.`)
  }
}

const samples = new Map<string, number[]>()
const note = (row: string, name: Name, value: number) => {
  const key = `${row}|${name}`
  samples.set(key, [...(samples.get(key) ?? []), value])
}

async function measure(): Promise<void> {
  for (let round = 1; round <= rounds; round++) {
    for (const name of names) {
      process.stderr.write(`round ${round} of ${rounds}: ${name}\n`)
      const { child, url, startMs } = await start(name)
      note('start to first 200, time', name, startMs)
      for (const [row, { path, ...request }] of loads) {
        const load = { url: url + path, headers, connections: CONNECTIONS, ...withBody(request) }
        await autocannon({ ...load, duration: 1 })
        const before = cpuMicroseconds(child)
        const result = await autocannon({ ...load, duration: SECONDS })
        if (result.non2xx > 0 || result.errors > 0) throw new Error(`${name} answered ${row} with errors.`)
        note(`${row}, CPU a request`, name, (cpuMicroseconds(child) - before) / result['2xx'])
        note(`${row}, requests a second`, name, result.requests.average)
      }
      child.kill()
    }
  }
  const others = names.filter(name => name !== 'node:http')
  console.log(`\nOver bare node:http, medians of ${rounds} rounds`.padEnd(43), ...others.map(name => name.padStart(8)))
  for (const row of new Set([...samples.keys()].map(key => key.split('|')[0] ?? ''))) {
    const medianOf = (name: Name) => median(samples.get(`${row}|${name}`) ?? [])
    const ratios = others.map(name => (medianOf(name) / medianOf('node:http')).toFixed(2).padStart(8))
    console.log(row.padEnd(42), ...ratios)
  }
}

const withBody = ({ method, body }: { method: 'GET' | 'POST'; body: string | undefined }) =>
  body === undefined ? { method } : { method, body }

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

interface Profile {
  readonly nodes: readonly {
    readonly id: number
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number }
  }[]
  readonly samples: readonly number[]
  readonly timeDeltas: readonly number[]
}

/** Profiles one row after another, each in a process of its own. */
async function profile(): Promise<void> {
  for (const [row, { path: at, ...request }] of loads) {
    const folder = mkdtempSync(path.join(tmpdir(), 'standin-profile-'))
    const { child, url } = await start('Standin', ['--cpu-prof', `--cpu-prof-dir=${folder}`])
    await autocannon({ url: url + at, headers, connections: CONNECTIONS, ...withBody(request), duration: 2 * SECONDS })
    child.kill()
    await once(child, 'exit')
    const file = readdirSync(folder)[0] ?? ''
    console.log(`\n${row}: the functions that took the most time themselves, in % of the time in use`)
    for (const line of heaviest(JSON.parse(readFileSync(path.join(folder, file), 'utf8')))) console.log(line)
    rmSync(folder, { recursive: true })
  }
}

function heaviest({ nodes, samples, timeDeltas }: Profile): readonly string[] {
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]))
  const times = new Map<string, number>()
  let total = 0
  for (const [i, id] of samples.entries()) {
    // The first half is the start, and code that is not compiled yet.
    if (i < samples.length / 2) continue
    const { functionName = '', url = '', lineNumber = 0 } = frames.get(id) ?? {}
    if (functionName === '(idle)') continue
    const name = `${functionName || '(anonymous)'} ${url === '' ? '' : `${path.basename(url)}:${lineNumber + 1}`}`
    times.set(name, (times.get(name) ?? 0) + (timeDeltas[i] ?? 0))
    total += timeDeltas[i] ?? 0
  }
  const first = [...times].toSorted(([, a], [, b]) => b - a).slice(0, 10)
  return first.map(([name, time]) => `${((100 * time) / total).toFixed(1).padStart(6)} ${name}`)
}

await (flags.profile ? profile() : measure())
