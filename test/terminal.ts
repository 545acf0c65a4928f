/** Starts the real command on a terminal, for a person who types. */
import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { type Files, folderWith } from './command.js'

const cli = fileURLToPath(new URL('../dist/cli.js', import.meta.url))

/** Whether there is what makes terminals here: the `script` of util-linux. */
export const hasTerminals = /util-linux/.test(String(spawnSync('script', ['--version']).stdout))

export interface Terminal {
  /** Everything on the screen so far, what was typed included where it is shown. */
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

/** None of the arguments may need to be quoted in a shell. */
export function startOnTerminal(args: readonly string[], { files = {}, env = {} }: Scene = {}): Terminal {
  // In the place of the shell, which would answer Ctrl-C itself.
  const command = ['exec', process.execPath, cli, ...args].join(' ')
  const child = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    cwd: folderWith(files),
    env: { PATH: process.env.PATH, SHELL: '/bin/sh', ...env },
    // On its standard error, `script` only says that the test has ended it.
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
