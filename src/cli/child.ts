/** Runs a command as a child that has the terminal to itself. */
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'

export interface Child {
  /** The exit code, as a shell would say it. */
  readonly ended: Promise<number>
  send(signal: NodeJS.Signals): void
}

// The codes of shells.
const NOT_FOUND = 127
const NOT_RUNNABLE = 126
const KILLED_BY = 128

const codeOfSignal = (signal: NodeJS.Signals) => KILLED_BY + constants.signals[signal]

const endedWith = (code: number): Child => ({ ended: Promise.resolve(code), send() {} })

/** A child that a signal was faster than. */
export const neverStarted = (signal: NodeJS.Signals): Child => endedWith(codeOfSignal(signal))

/** A signal to the whole process group comes twice: by itself, and handed on. That is not impatience. */
const ECHO_MS = 200

/** A command that cannot be started is an end, too; the sentence about it goes to standard error. */
export function startChild([command = '', ...args]: readonly string[], env: NodeJS.ProcessEnv): Child {
  const refused = (error: unknown) => notStarted(command, error as NodeJS.ErrnoException)
  let child: ChildProcess
  try {
    child = spawn(command, args, { stdio: 'inherit', env })
  } catch (error) {
    // Some reasons are thrown and others told.
    return endedWith(refused(error))
  }
  const ended = new Promise<number>(resolve => {
    child.once('exit', (code, signal) => resolve(signal ? codeOfSignal(signal) : (code ?? 1)))
    child.on('error', error => {
      // A child that did start can only have refused a signal, and goes on.
      if (child.pid === undefined) resolve(refused(error))
      else console.error(error.message)
    })
  })
  return { ended, send: sendingTo(child) }
}

function sendingTo(child: ChildProcess): Child['send'] {
  let firstTermMs: number | undefined
  return signal => {
    // Ctrl-C goes to all who share the terminal.
    if (signal === 'SIGINT' && process.stdin.isTTY) return
    const nowMs = performance.now()
    if (signal === 'SIGTERM') firstTermMs ??= nowMs
    const isImpatient = firstTermMs !== undefined && nowMs - firstTermMs > ECHO_MS
    child.kill(isImpatient ? 'SIGKILL' : signal)
  }
}

function notStarted(command: string, { code, message }: NodeJS.ErrnoException): number {
  if (code !== 'ENOENT') {
    console.error(`standin exec: ${command} cannot be run (${code ?? message}).`)
    return NOT_RUNNABLE
  }
  // npm, npx and what npm installs are scripts there, which only its shell can run.
  const hint = process.platform === 'win32' ? ` A script is run by its shell: standin exec -- cmd /c ${command} …` : ''
  console.error(`standin exec: ${command} was not found.${hint}`)
  return NOT_FOUND
}
