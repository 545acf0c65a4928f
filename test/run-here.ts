/** Runs a command inside the test process, with its own input, output, environment and folder: starting a process takes longer than most commands. */
import { Console } from 'node:console'
import { Readable, Writable } from 'node:stream'
import type { End } from './command.js'

interface Surroundings {
  readonly dir: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly input: string | undefined
}

let last: Promise<unknown> = Promise.resolve()

/** Folder and environment belong to the whole process, so commands run one at a time. */
export function runHere(args: readonly string[], surroundings: Surroundings): Promise<End> {
  const end = last.then(() => runAlone(args, surroundings))
  last = end.catch(() => {})
  return end
}

async function runAlone(args: readonly string[], surroundings: Surroundings): Promise<End> {
  // Loaded only by the tests that need it.
  const { run } = await import('../src/cli/main.js')
  const outcome = { isOver: false, code: 0 }
  const [stdout, stderr] = [collector(outcome), collector(outcome)]
  const exit = (code: number | string | null = process.exitCode ?? 0): never => {
    if (!outcome.isOver) outcome.code = Number(code)
    outcome.isOver = true
    throw new Error('The command has ended.')
  }
  const restore = enter(surroundings, { stdout: stdout.stream, stderr: stderr.stream, exit })
  try {
    await run(args)
    // Output is flushed on the next turn of the event loop.
    await new Promise(setImmediate)
    if (!outcome.isOver) outcome.code = Number(process.exitCode ?? 0)
  } catch (error) {
    if (!outcome.isOver) throw error
  } finally {
    outcome.isOver = true
    restore()
  }
  return { code: outcome.code, signal: null, stdout: stdout.text(), stderr: stderr.text() }
}

interface Streams {
  readonly stdout: Writable
  readonly stderr: Writable
  exit(code?: number): never
}

/** Puts the process into these surroundings; returns a function that restores the old ones. */
function enter({ dir, env, input = '' }: Surroundings, { stdout, stderr, exit }: Streams): () => void {
  const cwd = process.cwd()
  const { exitCode } = process
  const listeners = new Map(process.eventNames().map(name => [name, process.rawListeners(name)]))
  const undo = [
    replaced(process, { stdout, stderr, stdin: Readable.from([Buffer.from(input)]), env: { ...env }, exit }),
    replaced(globalThis, { console: new Console(stdout, stderr) }),
  ]
  process.exitCode = undefined
  process.chdir(dir)
  return () => {
    process.chdir(cwd)
    process.exitCode = exitCode
    for (const one of undo) one()
    // For signals, the exit and errors that nobody has caught.
    for (const name of process.eventNames()) {
      for (const listener of process.rawListeners(name)) {
        if (!listeners.get(name)?.includes(listener)) process.off(name, listener as () => void)
      }
    }
  }
}

/** Replaces properties; returns a function that restores them. */
function replaced(object: object, values: Readonly<Record<string, unknown>>): () => void {
  const before: Record<string, PropertyDescriptor> = Object.getOwnPropertyDescriptors(object)
  for (const [name, value] of Object.entries(values)) {
    Object.defineProperty(object, name, { value, configurable: true, writable: true, enumerable: true })
  }
  return () => {
    for (const name of Object.keys(values)) Object.defineProperty(object, name, before[name] ?? {})
  }
}

/** Collects output until the command has ended. */
function collector(outcome: { readonly isOver: boolean }) {
  const pieces: Buffer[] = []
  const stream = new Writable({
    write(piece: Buffer, _encoding, written) {
      if (!outcome.isOver) pieces.push(piece)
      written()
    },
  })
  return { stream, text: () => Buffer.concat(pieces).toString() }
}
