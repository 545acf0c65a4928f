/** Separate processes share one state, are killed, and leave nothing half-written. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { kinds, lasting, opened, type Place } from './kinds.js'
import { user } from './rows.js'

describe.each(kinds)('in $kind', kind => {
  test('a process exits by itself after it has closed its state', async () => {
    const { lines, ended } = start(await kind.freshPlace(), 'look')
    expect(await ended).toBe(0)
    expect(lines).toEqual(['closed'])
  })
})

describe.each(lasting)('in $kind', kind => {
  test('writes that a process reported survive kill -9, and nothing is half-written', async () => {
    const place = await kind.freshPlace()
    for (let round = 0; round < 2; round++) {
      const writer = start(place, 'write')
      const last = randomInt(1, 120)
      await writer.printed(({ length }) => length >= last)
      writer.child.kill('SIGKILL')
      await writer.ended
      const state = await opened(place)
      const { messages, sessions } = await state.read(async ({ messages, sessions }) => ({
        messages: new Set((await messages.find({})).map(({ id }) => id)),
        sessions: new Set((await sessions.find({})).map(({ id }) => id)),
      }))
      expect(writer.lines.filter(id => !messages.has(id))).toEqual([])
      expect(messages).toEqual(sessions)
      await state.close()
    }
  })

  test('a writer that is killed in a transaction does not block the others', async () => {
    const place = await kind.emptyPlace()
    const state = await opened(place)
    const holder = start(place, 'hold')
    await holder.printed(lines => lines.includes('holding'))
    const waiting = state.write(({ users }) => users.insert(user()))
    holder.child.kill('SIGKILL')
    await waiting
    expect(await state.read(({ users }) => users.find({}))).toEqual([user()])
  })
})

interface Process {
  readonly child: ChildProcess
  readonly lines: readonly string[]
  /** The exit code, once all output has arrived. */
  readonly ended: Promise<number | null>
  /** Resolves when its lines satisfy the condition. */
  printed(enough: (lines: readonly string[]) => boolean): Promise<void>
}

const source = fileURLToPath(new URL('process.ts', import.meta.url))

/** In node_modules, so that it finds the packages. */
const program = fileURLToPath(new URL(`../../node_modules/.cache/standin/state-${process.pid}.mjs`, import.meta.url))

beforeAll(async () => {
  // Bundling it once takes far less time than bundling it for each process.
  await build({
    input: source,
    platform: 'node',
    external: 'pg',
    output: { file: program, format: 'esm', codeSplitting: false },
  })
})
afterAll(() => rmSync(program))

/** Starts process.ts; it is killed at the end of the test at the latest. */
function start({ where, dir }: Place, work: string): Process {
  const child = spawn(process.execPath, [program, where, dir, work], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  const lines: string[] = []
  const output = createInterface(child.stdout).on('line', line => lines.push(line))
  const ended = new Promise<number | null>(resolve => child.once('close', resolve))
  return {
    child,
    lines,
    ended,
    printed: enough =>
      new Promise((resolve, reject) => {
        const look = () => enough(lines) && resolve()
        output.on('line', look)
        void ended.then(code => reject(new Error(`The process exited with ${code} before it printed that.`)))
        look()
      }),
  }
}
