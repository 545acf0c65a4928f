/**
 * `npm run bench [row …] [--rounds 1] [--profile]`: compares Standin with other servers, interleaved in one run, as ratios of the medians.
 * CPU time per request is the steadiest figure, because a slow load generator does not blur it; it is read from /proc, so this needs Linux.
 * With --profile it prints the ten functions of Standin that took the most time instead.
 */
import { parseArgs } from 'node:util'
import { isInstalled, memoryKb, servers, withServer } from './contenders.js'
import {
  get,
  latencyOf,
  newEachTime,
  PIECES_PER_SECOND,
  pacedStreams,
  quantile,
  STREAMS,
  stream,
  throughputOf,
  whole,
} from './loads.js'
import { type ProfiledRow, profile } from './profile.js'

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '1' }, profile: { type: 'boolean', default: false } },
})
const rounds = Number(flags.rounds)

/** Figures by row; each row compares its columns with `over`. */
const table = new Map<string, { readonly over: string; readonly samples: Map<string, number[]> }>()

function note(row: string, over: string, column: string, value: number): void {
  const { samples } = table.get(row) ?? { samples: new Map<string, number[]>() }
  table.set(row, { over, samples: samples.set(column, [...(samples.get(column) ?? []), value]) })
}

/** Whole answers and unpaced streams, over bare Node. */
async function answers(loads: Readonly<Record<string, typeof get>>): Promise<void> {
  const over = 'bare node:http'
  const contenders = {
    [over]: servers.bare,
    Standin: servers.standin(),
    ...(isInstalled('fastify') && { fastify: servers.fastify }),
    ...(isInstalled('@copilotkit/aimock') && { aimock: servers.aimock() }),
  }
  for (const [name, command] of Object.entries(contenders)) {
    await withServer(command, async server => {
      note('start to the first 200', over, name, server.startMs)
      note('memory before the load', over, name, memoryKb(server))
      for (const [row, load] of Object.entries(loads)) {
        noteThroughput(row, over, name, await throughputOf(server, load))
      }
      note('memory after the load', over, name, memoryKb(server))
    })
  }
}

async function paced(): Promise<void> {
  const over = 'one timer on bare node:http'
  const contenders = {
    [over]: servers.pacedBare(PIECES_PER_SECOND),
    Standin: servers.standin({ pace: PIECES_PER_SECOND }),
  }
  for (const [name, command] of Object.entries(contenders)) {
    await withServer(command, async server => {
      const idleKb = memoryKb(server)
      await pacedStreams(server)
      const { lateMs, openKb } = await pacedStreams(server)
      note('1,000 paced streams: delay of the last piece, p99', over, name, lateMs)
      note('1,000 paced streams: memory per stream', over, name, (openKb - idleKb) / STREAMS)
    })
  }
}

/** Mode proxy, over the shortest proxy with keep-alive. */
const proxy = () =>
  withServer(servers.bare, async upstream => {
    const over = 'http.request and pipe'
    const direct = await latencyOf(upstream, whole)
    for (const [name, command] of [
      [over, servers.pipe(upstream)],
      ['Standin', servers.inFront(upstream, 'proxy')],
    ] as const) {
      await withServer(command, async server => {
        note('mode proxy: time added to a request', over, name, (await latencyOf(server, whole)) - direct)
        noteThroughput('mode proxy', over, name, await throughputOf(server, whole))
      })
    }
  })

/** Mode record, over mode proxy. */
const record = () =>
  withServer(servers.bare, async upstream => {
    const over = 'mode proxy'
    for (const [name, mode] of [
      [over, 'proxy'],
      ['Standin', 'record'],
    ] as const) {
      await withServer(servers.inFront(upstream, mode), async server => {
        noteThroughput('mode record', over, name, await throughputOf(server, whole))
        noteThroughput('mode record, each request new', over, name, await throughputOf(server, newEachTime))
      })
    }
  })

async function rules(): Promise<void> {
  const over = '10 rules'
  for (const [name, count] of [
    [over, 10],
    ['Standin', 10_000],
  ] as const) {
    await withServer(servers.standin({ rules: count }), async server => {
      // Rules are loaded on the first answer.
      await latencyOf(server, whole)
      noteThroughput('10,000 rules', over, name, await throughputOf(server, whole))
    })
  }
}

function noteThroughput(row: string, over: string, name: string, measured: Awaited<ReturnType<typeof throughputOf>>) {
  note(`${row}: CPU time per request`, over, name, measured.cpuMicroseconds)
  note(`${row}: requests per second`, over, name, measured.requestsPerSecond)
}

const loads = { get, post: whole, stream }
const others = { paced, proxy, record, rules }
const names = [...Object.keys(loads), ...Object.keys(others)]
const unknown = positionals.find(row => !names.includes(row))
if (unknown !== undefined) throw new Error(`There is no row ${unknown}: say ${names.join(', ')}.`)
const isWanted = ([row]: readonly [string, unknown]) => positionals.length === 0 || positionals.includes(row)
const wantedLoads = Object.fromEntries(Object.entries(loads).filter(isWanted))

async function measure(): Promise<void> {
  // Loads fetch, which would otherwise count towards the first start.
  await fetch('http://127.0.0.1:9').catch(() => {})
  for (let round = 1; round <= rounds; round++) {
    process.stderr.write(`round ${round} of ${rounds}\n`)
    if (Object.keys(wantedLoads).length > 0) await answers(wantedLoads)
    for (const [, run] of Object.entries(others).filter(isWanted)) await run()
  }
  let last = ''
  for (const [row, { over, samples }] of table) {
    const [base, ...columns] = [...samples].map(([name, values]) => ({ name, median: quantile(values, 0.5) }))
    const heads = columns.map(({ name }) => name.padStart(8)).join(' ')
    if (over !== last) console.log(`\n${`Over ${over}, medians of ${rounds}`.padEnd(52)} ${heads}`)
    const ratios = columns.map(({ median }) => (median / (base?.median ?? Number.NaN)).toFixed(2).padStart(8))
    console.log(`${row.padEnd(52)} ${ratios.join(' ')}`)
    last = over
  }
}

/** The rows that keep Standin fully busy. */
const busy: Readonly<Record<string, ProfiledRow>> = {
  ...Object.fromEntries(Object.entries(loads).map(([row, load]) => [row, { load, command: () => servers.standin() }])),
  proxy: { load: whole, command: upstream => servers.inFront(upstream, 'proxy') },
  record: { load: newEachTime, command: upstream => servers.inFront(upstream, 'record') },
  rules: { load: whole, command: () => servers.standin({ rules: 10_000 }) },
}

if (!flags.profile) await measure()
else if (positionals.includes('paced'))
  throw new Error('The row paced is not profiled: its server waits most of the time.')
else await profile(Object.fromEntries(Object.entries(busy).filter(isWanted)))
