/** One run of a command: starts it, ends it with all that it has started, and says how it ended. */
import { type ChildProcess, spawn } from 'node:child_process'
import { UsageError } from '../check/problem.js'
import { fixedPortsOf, processesOf } from './processes.js'

export interface CommandRun {
  readonly program: readonly string[]
  readonly env: NodeJS.ProcessEnv
  /** A variable of `env`, such as `NAME=value`, that no other run has: its processes are found by it. */
  readonly mark: string
  /** Where its output goes: nowhere, or to standard error. */
  readonly output: 'ignore' | 2
  readonly limitMs?: number
  /** Whether to look at the ports on which it listens. */
  readonly looksAtPorts?: true
  readonly signal: AbortSignal
}

export interface CommandEnd {
  /** Null if it was ended, because it took too long. */
  readonly code: number | null
  readonly durationMs: number
}

export interface RunningCommand {
  /** Resolves when it has ended, with all that it has started. Rejects with a UsageError if it cannot be run. */
  readonly ended: Promise<CommandEnd>
  /** Ends it at once, with all that it has started, as a crash of its machine would. */
  kill(): Promise<void>
  /** The ports that it has listened on so far and that another run could not have at the same time. */
  fixedPorts(): ReadonlySet<number>
}

/** How long a command has to end by itself. */
const GRACE_MS = 1000
/** A server of a test listens longer than this. */
const LOOK_AT_PORTS_MS = 200
/** Processes that start others while they are ended are found at the next look. */
const MOST_LOOKS = 20

export function startCommand({
  program,
  env,
  mark,
  output,
  limitMs,
  looksAtPorts,
  signal,
}: CommandRun): RunningCommand {
  const [command = '', ...args] = program
  const ports = new Set<number>()
  // A group of its own, so that Ctrl-C on the terminal reaches only Standin, which then ends the run.
  const child = spawn(command, args, { stdio: ['ignore', output, output], env, detached: !isWindows })
  const started: Started = { pid: child.pid, mark }

  const lookAtPorts = async () => {
    for (const port of await fixedPortsOf(await processesOf(child.pid ?? 0, mark))) ports.add(port)
  }

  const looking = looksAtPorts && setInterval(() => void lookAtPorts().catch(() => {}), LOOK_AT_PORTS_MS)
  const ended = endOf(child, started, limitMs, signal).finally(() => clearInterval(looking))
  return { ended, kill: () => killAll(started), fixedPorts: () => ports }
}

/** Resolves when all of its processes have ended: by themselves, or because the time is over or the signal aborts. */
function endOf(child: ChildProcess, started: Started, limitMs: number | undefined, signal: AbortSignal) {
  const startedMs = performance.now()
  return new Promise<CommandEnd>((resolve, reject) => {
    let lastResort: NodeJS.Timeout | undefined
    const end = () => {
      lastResort ??= setTimeout(killAll, GRACE_MS, started)
      void sendAll(started, 'SIGTERM')
    }
    const timer = limitMs === undefined ? undefined : setTimeout(end, limitMs)
    signal.addEventListener('abort', end)
    const settle = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
    }
    child.once('exit', code => {
      settle()
      const durationMs = performance.now() - startedMs
      void killAll(started).then(() => {
        clearTimeout(lastResort)
        resolve({ code: lastResort ? null : (code ?? 1), durationMs })
      })
    })
    child.once('error', ({ message }) => {
      settle()
      reject(new UsageError(`standin exec --adversary: ${child.spawnfile} cannot be run (${message}).`))
    })
  })
}

const isWindows = process.platform === 'win32'

interface Started {
  /** Of the command itself, which may have ended. */
  readonly pid: number | undefined
  readonly mark: string
}

/** Returns whether there was a process. */
async function sendAll({ pid, mark }: Started, how: NodeJS.Signals): Promise<boolean> {
  if (pid === undefined) return false
  if (isWindows) {
    spawn('taskkill', ['/pid', String(pid), '/t', '/f'], { stdio: 'ignore' }).on('error', () => {})
    return false
  }
  const pids = await processesOf(pid, mark)
  for (const one of pids) sendTo(one, how)
  return pids.length > 0
}

async function killAll(started: Started): Promise<void> {
  for (let looks = 0; looks < MOST_LOOKS && (await sendAll(started, 'SIGKILL')); looks++);
}

function sendTo(pid: number, how: NodeJS.Signals): void {
  try {
    process.kill(pid, how)
  } catch {
    // It has ended already.
  }
}
