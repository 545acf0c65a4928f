/** The requests that servers get, and what is measured. */
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import autocannon from 'autocannon'
import { developmentApiKey } from '../../src/core/secrets.js'
import { cpuMicroseconds, memoryKb, type Server } from './contenders.js'

const WARM_UP_SECONDS = 1
const SECONDS = 2
const CONNECTIONS = 32

const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'What is your refund policy, please?' }] }
const headers = { authorization: `Bearer ${developmentApiKey}`, 'content-type': 'application/json' }

export interface Load {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  /** Changes the body of each request. */
  readonly vary?: (body: string, nth: number) => string
}

const post = (body: object): Load => ({ method: 'POST', path: '/v1/chat/completions', body: JSON.stringify(body) })

export const get: Load = { method: 'GET', path: '/v1/models' }
export const whole = post(chat)
export const stream = post({ ...chat, stream: true })
/** Every request is different. */
export const newEachTime: Load = { ...whole, vary: (body, nth) => body.replace('What', `Ticket ${nth}: what`) }

interface Throughput {
  readonly requestsPerSecond: number
  readonly cpuMicroseconds: number
}

/** Sends requests on 32 connections, after a warm-up. Throws on any answer other than a 2xx. */
export async function throughputOf(server: Server, load: Load): Promise<Throughput> {
  await ask(server, load, WARM_UP_SECONDS)
  const beforeMicroseconds = cpuMicroseconds(server)
  const { answered, requestsPerSecond } = await ask(server, load, SECONDS)
  return { requestsPerSecond, cpuMicroseconds: (cpuMicroseconds(server) - beforeMicroseconds) / answered }
}

let asked = 0

/** Sends requests for some seconds, as fast as they are answered. */
export async function ask({ url }: Server, { method, path, body = '', vary }: Load, seconds: number) {
  const renew = vary && { requests: [{ setupRequest: (one: object) => ({ ...one, body: vary(body, ++asked) }) }] }
  const load = { url: url + path, method, headers, connections: CONNECTIONS, duration: seconds, ...renew }
  const result = await autocannon(body === '' ? load : { ...load, body })
  if (result.non2xx > 0 || result.errors > 0) throw new Error(`${url} answered ${path} with errors.`)
  return { answered: result['2xx'], requestsPerSecond: result.requests.average }
}

const LATENCIES = 3000

/** The median time of sequential requests on one connection, in microseconds. */
export async function latencyOf({ port }: Server, { method, path, body }: Load): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const times: number[] = []
  for (let i = 0; i < LATENCIES; i++) {
    const startMs = performance.now()
    await new Promise<void>((resolve, reject) => {
      const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, answer => {
        answer.resume()
        answer.on('end', resolve)
      })
      sent.on('error', reject)
      sent.end(body)
    })
    times.push(performance.now() - startMs)
  }
  agent.destroy()
  // The first half is for warming up.
  return 1000 * quantile(times.slice(LATENCIES / 2), 0.5)
}

export const quantile = (values: readonly number[], part: number): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length * part)] ?? Number.NaN

export const STREAMS = 1000
const SPREAD_MS = 1000
export const PIECES_PER_SECOND = 20

/**
 * Opens a thousand paced streams within a second. Returns the 99th percentile of the delay of last pieces, in milliseconds, and the memory of
 * the server while all streams were open, in kB.
 */
export async function pacedStreams(server: Server): Promise<{ readonly lateMs: number; readonly openKb: number }> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY })
  const open = Array.from({ length: STREAMS }, async (_, i) => {
    await delay((i * SPREAD_MS) / STREAMS)
    return latenessOf(server, agent)
  })
  await delay(SPREAD_MS + 200)
  const openKb = memoryKb(server)
  const lateness = await Promise.all(open)
  return { lateMs: quantile(lateness, 0.99), openKb }
}

/** The delay of the last piece of a stream, in milliseconds. */
function latenessOf({ port }: Server, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    const { method, path, body } = stream
    const startMs = performance.now()
    let pieces = 0
    let lastMs = 0
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent }, answer => {
      answer.on('data', (data: Buffer) => {
        const arrived = data.toString('latin1').match(/"content":"[^"]/g)?.length ?? 0
        pieces += arrived
        if (arrived > 0) lastMs = performance.now()
      })
      answer.on('end', () => resolve(lastMs - startMs - ((pieces - 1) * 1000) / PIECES_PER_SECOND))
    })
    sent.on('error', reject)
    sent.end(body)
  })
}
