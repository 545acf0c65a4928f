/** The compared servers, each in its own process. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'

export interface Server {
  readonly url: string
  readonly port: number
  readonly child: ChildProcess
  /** From the start of the process to its first 200. */
  readonly startMs: number
}

const here = import.meta.dirname
const packages = path.join(here, '../../node_modules')
const scratch = mkdtempSync(path.join(tmpdir(), 'standin-bench-'))
process.on('exit', () => rmSync(scratch, { recursive: true, force: true }))

/** The reply that the other servers have in their code. */
const text = 'You can return any unused item within thirty days of delivery for a full refund.'

export type Command = (port: number) => readonly string[]

const script =
  (name: string, ...more: readonly (number | string)[]): Command =>
  port => [path.join(here, 'servers', name), String(port), ...more.map(String)]

/** Standin with this number of rules, of which the last one answers. */
function standin({ rules = 1, pace = 0, flags = [] as readonly string[] } = {}): Command {
  const folder = path.join(scratch, `${rules}-${pace}`)
  mkdirSync(folder, { recursive: true })
  const others = Array.from({ length: rules - 1 }, (_, i) => ({
    when: { user: `question number ${i} about order ${(i * 7919) % 10_007}` },
    reply: { text: `Answer ${i}.` },
  }))
  const reply = pace > 0 ? `${text} ${text}` : text
  const last = { name: 'refund policy', when: { user: 'refund policy' }, reply: { text: reply } }
  // JSON is YAML, too.
  writeFileSync(
    path.join(folder, 'replies.yaml'),
    [...others, last].map(rule => `- ${JSON.stringify(rule)}\n`).join(''),
  )
  const config = { replies: 'replies.yaml', state: 'memory', pace: { tokensPerSecond: pace } }
  writeFileSync(path.join(folder, 'platform.config.yaml'), JSON.stringify(config))
  const from = ['--config', path.join(folder, 'platform.config.yaml'), '--quiet', ...flags]
  return port => [path.join(here, '../../dist/cli.js'), 'dev', '--port', String(port), ...from]
}

/** Standin in front of a live platform. Recordings go to a new folder each time. */
function inFront(upstream: Server, mode: 'proxy' | 'record'): Command {
  const recordings = mkdtempSync(path.join(scratch, 'recordings-'))
  const flags = ['--mode', mode, '--upstream', upstream.url, '--recordings', recordings]
  return standin({ flags })
}

function aimock(): Command {
  const fixture = path.join(scratch, 'aimock.json')
  const fixtures = [{ match: { userMessage: 'refund policy' }, response: { content: text } }]
  writeFileSync(fixture, JSON.stringify({ fixtures }))
  const cli = path.join(packages, '@copilotkit/aimock/dist/cli.js')
  return port => [cli, '-p', String(port), '-h', '127.0.0.1', '-f', fixture, '--log-level', 'silent']
}

export const servers = {
  bare: script('bare.mjs'),
  pacedBare: (piecesPerSecond: number) => script('bare.mjs', piecesPerSecond),
  pipe: (upstream: Server) => script('pipe.mjs', upstream.port),
  fastify: script('fastify.mjs'),
  aimock,
  standin,
  inFront,
}

/** Whether an optional package is installed. */
export const isInstalled = (name: string): boolean => existsSync(path.join(packages, name))

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

/** Starts a server, waits for its first 200, and stops it after `use`. */
export async function withServer<T>(
  command: Command,
  use: (server: Server) => Promise<T>,
  nodeFlags: readonly string[] = [],
): Promise<T> {
  const port = await freePort()
  const startedMs = performance.now()
  const child = spawn(process.execPath, [...nodeFlags, ...command(port)], { stdio: ['ignore', 'ignore', 'inherit'] })
  try {
    const url = `http://127.0.0.1:${port}`
    await untilHealthy(url, child)
    return await use({ child, url, port, startMs: performance.now() - startedMs })
  } finally {
    child.kill()
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
}

/** Polling without a pause would take time from the starting server. */
const POLL_MS = 2

async function untilHealthy(url: string, child: ChildProcess): Promise<void> {
  for (;;) {
    const isHealthy = await fetch(`${url}/health`).then(
      ({ ok }) => ok,
      () => false,
    )
    if (isHealthy) return
    if (child.exitCode !== null) throw new Error(`${child.spawnargs.join(' ')} ended before it was ready.`)
    await delay(POLL_MS)
  }
}

const ticksPerSecond = Number(execFileSync('getconf', ['CLK_TCK']).toString())

/** CPU time that a server has used, in microseconds. */
export function cpuMicroseconds({ child: { pid } }: Server): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) / ticksPerSecond) * 1e6
}

/** Resident memory of a server, in kB. */
export const memoryKb = ({ child: { pid } }: Server): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
