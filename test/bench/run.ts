/**
 * `npm run bench [rounds]`: Standin beside bare node:http, interleaved in one run, as ratios of the medians. The figure to look at
 * is processor time a request, which a slow load generator does not blur; it is read from /proc, so this runs on Linux.
 */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import path from 'node:path'
import autocannon from 'autocannon'
import { developmentApiKey } from '../../src/core/secrets.js'

const rounds = Number(process.argv[2] ?? 3)
const SECONDS = 3
const CONNECTIONS = 32

const here = import.meta.dirname
const cli = path.join(here, '../../dist/cli.js')
const config = path.join(here, 'platform.config.yaml')
const contenders = {
  'node:http': (port: number) => [path.join(here, 'ceiling.mjs'), String(port)],
  Standin: (port: number) => [cli, 'dev', '--port', String(port), '--quiet', '--config', config],
}
type Name = keyof typeof contenders
const names = Object.keys(contenders) as Name[]

const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What is your refund policy, please?' }] }
const headers = { authorization: `Bearer ${developmentApiKey}`, 'content-type': 'application/json' }
const loads = {
  'GET /v1/models': { path: '/v1/models', method: 'GET', body: undefined },
  'POST chat, whole': { path: '/v1/chat/completions', method: 'POST', body: JSON.stringify(chat) },
  'POST chat, streamed': {
    path: '/v1/chat/completions',
    method: 'POST',
    body: JSON.stringify({ ...chat, stream: true }),
  },
} as const

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
async function start(name: Name) {
  const port = await freePort()
  const startedMs = performance.now()
  const child = spawn(process.execPath, contenders[name](port), { stdio: ['ignore', 'ignore', 'inherit'] })
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

for (let round = 1; round <= rounds; round++) {
  for (const name of names) {
    process.stderr.write(`round ${round} of ${rounds}: ${name}\n`)
    const { child, url, startMs } = await start(name)
    note('start to first 200, time', name, startMs)
    for (const [row, { path, method, body }] of Object.entries(loads)) {
      const load = { url: url + path, method, headers, connections: CONNECTIONS, ...(body && { body }) }
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

const median = (values: number[]) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN
const rows = [...new Set([...samples.keys()].map(key => key.split('|')[0] ?? ''))]
console.log(`\nStandin over bare node:http, medians of ${rounds} rounds\n`)
for (const row of rows) {
  const [ceiling, own] = names.map(name => median(samples.get(`${row}|${name}`) ?? []))
  console.log(`${row.padEnd(42)} ${((own ?? 0) / (ceiling ?? 1)).toFixed(2)}`)
}
