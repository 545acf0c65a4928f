/** The real command is killed again and again with its state in a file: nothing that it acknowledged is lost, and nothing is half-written. */
import { once } from 'node:events'
import { watch } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { developmentUser } from '../../src/core/secrets.js'
import { type RunningPlatform, start, startReady } from '../command.js'
import { answerOf, signIn } from '../keys/people.js'
import { chanceFrom, seedOfRun } from './chance.js'
import { createCrowd } from './crowd.js'
import { freshFolder, opened, type Place } from './kinds.js'

const seed = `CHANCE_SEED=${seedOfRun}`
console.info(`Killed at moments of ${seed}`)

/** The command hashes passwords at the real cost, which takes most of the time of these tests. */
const { KILLS, FIRST_STARTS, CLIENTS, STEPS } =
  process.env.FC_RUNS === 'all'
    ? { KILLS: 30, FIRST_STARTS: 20, CLIENTS: 8, STEPS: 50 }
    : { KILLS: 2, FIRST_STARTS: 2, CLIENTS: 4, STEPS: 25 }

const newFilePlace = (): Place => ({ where: `file:${freshFolder()}/state.db`, dir: '/' })

/** Starts the command on this file; also returns how long that took. */
async function startedOn({ where }: Place): Promise<{ platform: RunningPlatform; startMs: number }> {
  const beganMs = performance.now()
  const platform = await startReady({ flags: ['--state', where] })
  return { platform, startMs: performance.now() - beganMs }
}

const killed = { code: null, signal: 'SIGKILL', stderr: '' }

test('acknowledged steps survive kill -9, and steps in flight take effect completely or not at all', async () => {
  const chance = chanceFrom(seedOfRun)
  const place = newFilePlace()
  const crowd = createCrowd('user', CLIENTS, chance.branch())
  const starts: number[] = []
  let { platform } = await startedOn(place)
  for (let round = 0; round < KILLS; round++) {
    const busy = crowd.run(platform.ready)
    await Promise.race([crowd.acknowledged(1 + chance.below(STEPS)), busy])
    // At once, before the platform can finish anything, or a few milliseconds later.
    if (chance.below(2)) await pause(chance.below(8))
    platform.send('SIGKILL')
    await busy
    expect(await platform.ended, seed).toMatchObject(killed)

    const next = await startedOn(place)
    platform = next.platform
    starts.push(next.startMs)
    const state = await opened(place)
    expect(await crowd.discrepancies(platform.ready, state), seed).toEqual([])
    await state.close()
  }
  expect(await crowd.discrepancies(platform.ready, await opened(place), 'all'), seed).toEqual([])
  expect(platform.stderr.text).toBe('')
  const { acknowledged, inFlight, done } = crowd.counts
  console.info(
    `Killed ${starts.length} times: ${acknowledged} steps acknowledged, ${inFlight} in flight, of which ${done} were done; starts of ${summary(starts)}`,
  )
})

test('a process that is killed during its very first start does not prevent the next start', async () => {
  const chance = chanceFrom(seedOfRun)
  for (let round = 0; round < FIRST_STARTS; round++) {
    const dir = freshFolder()
    const place = { where: `file:${dir}/state.db`, dir: '/' }
    const watcher = watch(dir)
    const appeared = once(watcher, 'change')
    const first = start(['dev', '--port', '0', '--json', '--state', place.where])
    await appeared
    watcher.close()
    await pause(chance.below(80))
    first.send('SIGKILL')
    expect(await first.ended, seed).toMatchObject({ signal: 'SIGKILL', stderr: '' })

    const { platform } = await startedOn(place)
    const { token } = await signIn(platform.ready, developmentUser)
    const { apiKey } = platform.ready
    expect(await Promise.all([token, apiKey].map(one => answerOf(platform.ready, one)))).toEqual(['open', 'open'])
    expect(platform.stderr.text, seed).toBe('')
    platform.send('SIGKILL')
    await platform.ended
  }
})

const summary = (ms: readonly number[]) => `${Math.round(Math.min(...ms))} to ${Math.round(Math.max(...ms))} ms`
