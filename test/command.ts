/** Starts the real command in a temporary folder and reads its output. */

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { afterAll, onTestFinished } from 'vitest'
import type { Platform } from '../src/index.js'
import { runHere } from './run-here.js'

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url))

/** File contents by name. */
export type Files = Readonly<Record<string, string>>

/** Registers a function that ends something later. */
export type Until = (end: () => void | Promise<void>) => void

/** Shares one thing among the tests of a file or a `describe`: the first test that needs it starts it, and it ends after the last. */
export function forAll<T>(start: (until: Until) => Promise<T>): () => Promise<T> {
  const ends: Parameters<Until>[0][] = []
  let started: Promise<T> | undefined
  afterAll(async () => {
    for (const end of ends.toReversed()) await end()
  })
  return () => {
    started ??= start(end => void ends.push(end))
    return started
  }
}

/** Creates a folder with these files; it is removed after the test. */
export function folderWith(files: Files = {}, until: Until = onTestFinished): string {
  const dir = realpathSync(mkdtempSync(path.join(tmpdir(), 'standin-')))
  until(() => rmSync(dir, { recursive: true, force: true }))
  writeInto(dir, files)
  return dir
}

/** Writes files, and creates the folders that they need. */
export function writeInto(dir: string, files: Files): void {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(dir, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

interface Scene {
  readonly files?: Files
  /** Besides PATH, nothing of the tests' own environment is passed on. */
  readonly env?: Readonly<Record<string, string>>
  /** Its standard input. */
  readonly input?: string
  /** When to end it: after the test by default. */
  readonly until?: Until
}

/** How a command ended. */
export interface End {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  readonly stdout: string
  readonly stderr: string
}

/** A running command. */
export interface Command {
  readonly dir: string
  /** Standard output, line by line. */
  readonly stdout: Lines
  /** Standard error, line by line. */
  readonly stderr: Lines
  /** Resolves when it has ended and all of its output has arrived. */
  readonly ended: Promise<End>
  send(signal: NodeJS.Signals): void
  /** Stops reading its standard output, as `| head -1` does. */
  closeOutput(): void
}

/** Starts `standin` with these arguments in a folder with these files; it is killed at the latest when the test ends. */
export function start(args: readonly string[], scene: Scene = {}): Command {
  return startIn(folderWith(scene.files, scene.until), args, scene)
}

/** The same in a folder that is there. */
export function startIn(dir: string, args: readonly string[], scene: Scene): Command {
  const { env = {}, input, until = onTestFinished } = scene
  const child = spawn(process.execPath, [cli, ...args], {
    cwd: dir,
    env: { PATH: process.env.PATH, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  // The command may end without reading its input.
  child.stdin.on('error', () => {}).end(input)
  const stdout = createLines(child.stdout)
  const stderr = createLines(child.stderr)
  const ended = new Promise<End>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal, stdout: stdout.text, stderr: stderr.text }))
  })
  until(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return {
    dir,
    stdout,
    stderr,
    ended,
    send: signal => void child.kill(signal),
    closeOutput: () => void child.stdout.destroy(),
  }
}

/** Commands that start a platform or a child process: they keep running, listen to signals or change their environment. */
const withProcess = new Set(['dev', 'record', 'replay', 'exec'])

/** Whether a command needs its own process. Help, or the refusal of a command line, is printed before anything starts. */
async function needsProcess(args: readonly string[]): Promise<boolean> {
  const { readCommandLine } = await import('../src/cli/arguments.js')
  const wish = await readCommandLine(args).catch(() => undefined)
  return wish?.kind === 'run' && withProcess.has(wish.line.name)
}

/** Runs a command to its end in a folder with these files, in a separate process only if it needs one. */
export function runIn(args: readonly string[], scene: Scene = {}): Pick<Command, 'dir' | 'ended'> {
  const { files, env = {}, input } = scene
  const dir = folderWith(files)
  const here = () => runHere(args, { dir, env: { PATH: process.env.PATH, ...env }, input })
  const ended = needsProcess(args).then(needed => (needed ? startIn(dir, args, scene).ended : here()))
  return { dir, ended }
}

/** Runs a command to its end in this process, even if `run` would start another one: for commands that are refused or leave nothing behind. */
export const runInProcess = (args: readonly string[], { files, env = {}, input }: Scene = {}): Promise<End> =>
  runHere(args, { dir: folderWith(files), env: { PATH: process.env.PATH, ...env }, input })

/** Runs a command to its end. */
export const run = (args: readonly string[], scene?: Scene): Promise<End> => runIn(args, scene).ended

/** The first line of `--json`. */
export interface Ready extends Omit<Platform, 'stop'> {
  readonly pid: number
}

/** A platform in its own process. */
export interface RunningPlatform extends Command {
  readonly ready: Ready
  /** The next event of this name. */
  event(name: string): Promise<Record<string, unknown>>
  /** Requests a chat completion with the API key. */
  chat(body: object): Promise<Response>
}

/** Starts a platform with `--json` on any free port, and waits until it is ready. */
export async function startReady({ flags = [], ...scene }: Scene & { readonly flags?: readonly string[] } = {}) {
  const command = start(['dev', '--port', '0', '--json', ...flags], scene)
  const event = async (name: string) => JSON.parse(await command.stdout.next(`{"event":"${name}",`))
  const ready: Ready = await event('ready')
  const platform: RunningPlatform = { ...command, ready, event, chat: body => askChat(ready, body) }
  return platform
}

/** Requests a chat completion from a platform. */
export const askChat = ({ url, apiKey }: Pick<Ready, 'url' | 'apiKey'>, body: object): Promise<Response> =>
  fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

/** The output of a process, line by line. */
interface Lines {
  /** Everything so far. */
  readonly text: string
  /** Resolves with the next line that contains `part`, skipping others; rejects if none comes. One call at a time. */
  next(part: string): Promise<string>
}

/** How long to wait for a line; far longer than any of them takes. */
const PATIENCE_MS = 60_000

function createLines(stream: Readable): Lines {
  let text = ''
  let over = false
  let seen = 0
  let look = () => {}
  stream.setEncoding('utf8')
  stream.on('data', piece => {
    text += piece
    look()
  })
  stream.once('close', () => {
    over = true
    look()
  })
  return {
    get text() {
      return text
    },
    next: part =>
      new Promise((resolve, reject) => {
        const giveUp = () => {
          look = () => {}
          reject(new Error(`No line with ${JSON.stringify(part)} came. The whole output:\n${text}`))
        }
        const patience = setTimeout(giveUp, PATIENCE_MS)
        look = () => {
          for (let end = text.indexOf('\n', seen); end >= 0; end = text.indexOf('\n', seen)) {
            const line = text.slice(seen, end)
            seen = end + 1
            if (!line.includes(part)) continue
            clearTimeout(patience)
            look = () => {}
            return resolve(line)
          }
          if (!over) return
          clearTimeout(patience)
          giveUp()
        }
        look()
      }),
  }
}
