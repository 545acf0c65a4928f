/** Processes of their own share one state, are killed, and leave nothing half done. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { rmSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { build } from 'rolldown'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { kinds, lasting, opened, type Place } from './kinds.js'
import { ownTimeMs } from './own-time.js'
import { user } from './rows.js'

describe.each(kinds)('in $kind', kind => {
  test('a process that has closed its state ends by itself', async () => {
    const { lines, ended } = start(await kind.freshPlace(), 'look')
    expect(await ended).toBe(0)
    expect(lines).toEqual(['closed'])
  })
})

describe.each(lasting)('in $kind', kind => {
  test('processes that start at the same moment where nothing is yet count together', async () => {
    const place = await kind.freshPlace()
    const counters = Array.from({ length: 4 }, () => start(place, 'count'))
    await Promise.all(counters.map(({ said }) => said(lines => lines.includes('ready'))))
    for (const { child } of counters) child.stdin?.write('go')
    expect(await Promise.all(counters.map(({ ended }) => ended))).toEqual([0, 0, 0, 0])
    const state = await opened(place)
    expect(await state.read(({ users }) => users.get('ada'))).toMatchObject({ user_metadata: { count: 80 } })
  })

  test('what a process said was kept is there after kill -9, and nothing is there by half', async () => {
    const place = await kind.freshPlace()
    for (let round = 0; round < 2; round++) {
      const writer = start(place, 'write')
      const last = randomInt(1, 120)
      await writer.said(({ length }) => length >= last)
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

  test('a writer that is killed at work lets the others go on', async () => {
    const place = await kind.emptyPlace()
    const state = await opened(place)
    const holder = start(place, 'hold')
    await holder.said(lines => lines.includes('holding'))
    const waiting = state.write(({ users }) => users.insert(user()))
    holder.child.kill('SIGKILL')
    await waiting
    expect(await state.read(({ users }) => users.find({}))).toEqual([user()])
  })

  test('a ban in one process is told in the other within a second', async () => {
    const place = await kind.emptyPlace()
    const state = await opened(place)
    await state.write(({ users }) => users.insert(user()))
    const told = new Promise<number>(resolve => state.onRevoked(() => resolve(ownTimeMs())))
    const { ended } = start(place, 'ban')
    const kept = await ended.then(() => ownTimeMs())
    expect((await told) - kept).toBeLessThan(1000)
  })
})

interface Process {
  readonly child: ChildProcess
  readonly lines: readonly string[]
  /** Its exit code, when all of its output is there. */
  readonly ended: Promise<number | null>
  /** Resolves when its lines are enough. */
  said(enough: (lines: readonly string[]) => boolean): Promise<void>
}

const source = fileURLToPath(new URL('process.ts', import.meta.url))

/** Beside the packages, which it finds from there. */
const program = fileURLToPath(new URL(`../../node_modules/.cache/standin/state-${process.pid}.mjs`, import.meta.url))

beforeAll(async () => {
  // To put it together once takes far less than for each process to do so.
  await build({
    input: source,
    platform: 'node',
    external: /^(libsql|pg)$/,
    output: { file: program, format: 'esm', codeSplitting: false },
  })
})
afterAll(() => rmSync(program))

/** Starts process.ts; it is killed with the test at the latest. */
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
    said: enough =>
      new Promise((resolve, reject) => {
        const look = () => enough(lines) && resolve()
        output.on('line', look)
        void ended.then(code => reject(new Error(`It ended with ${code} before it said that.`)))
        look()
      }),
  }
}
