/** Starts the real command on a terminal, to type into. */
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type Files, folderWith } from './command.js'

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url))

/** Whether `script` of util-linux, which provides terminals, is installed. */
export const hasTerminals = /util-linux/.test(String(spawnSync('script', ['--version']).stdout))

export interface Terminal {
  /** Everything on the screen so far, echoed input included. */
  readonly screen: string
  /** Resolves when `text` is on the screen. */
  shows(text: string): Promise<void>
  type(keys: string): void
  /** The exit code. */
  readonly ended: Promise<number | null>
}

interface Scene {
  readonly files?: Files
  readonly env?: Readonly<Record<string, string>>
}

/** The arguments must not need shell quoting. */
export function startOnTerminal(args: readonly string[], { files = {}, env = {} }: Scene = {}): Terminal {
  // `exec` replaces the shell, which would handle Ctrl-C itself.
  const command = ['exec', process.execPath, cli, ...args].join(' ')
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    cwd: folderWith(files),
    env: { PATH: process.env.PATH, SHELL: '/bin/sh', ...env },
    // On standard error, `script` only says that the test has ended it.
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  onTestFinished(async () => {
    child.kill()
    await ended
  })
  let screen = ''
  child.stdout.setEncoding('utf8').on('data', text => {
    screen += text
  })
  return {
    get screen() {
      return screen
    },
    shows: text =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (screen.includes(text)) resolve()
        }
        child.stdout.on('data', look)
        child.once('close', () => reject(new Error(`${text} was never on the screen:\n${screen}`)))
        look()
      }),
    type: keys => void child.stdin.write(keys),
    ended,
  }
}
