/** A stand-in in a process of its own, until it is stopped. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { Ready } from '../command.js'

const cli = fileURLToPath(new URL('../../dist/cli.js', import.meta.url))

/** Starts the process, and returns its facts and a function that stops it. */
export async function otherProcess() {
  const dir = mkdtempSync(path.join(tmpdir(), 'standin-'))
  const child = spawn(process.execPath, [cli, 'dev', '--port', '0', '--json', '--state', 'memory'], {
    cwd: dir,
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(createInterface({ input: child.stdout }), 'line')
  const ready: Ready = JSON.parse(line)
  return {
    ...ready,
    async stop() {
      child.kill()
      await once(child, 'close')
      rmSync(dir, { recursive: true, force: true })
    },
  }
}
