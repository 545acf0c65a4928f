import { expect, test } from 'vitest'
import { liveWith, saying, tape } from '../recordings/live.js'
import { platformFor } from './builder.js'
import '../../src/vitest.js'

const projects = '/builder/projects'

test('an operation fails on failNext, with a fault header and by random faults', async () => {
  const platform = await platformFor(undefined, {
    faults: { random: [{ chance: 1, status: 529, path: '/builder/status' }] },
  })
  await platform.failNext({ status: 503 }, { path: projects })
  expect((await platform.ask(projects)).status).toBe(503)
  expect((await platform.ask(projects)).status).toBe(200)
  expect((await platform.ask(projects, { headers: { 'x-standin-fault': 'status=500' } })).status).toBe(500)
  expect((await platform.ask('/builder/status')).status).toBe(529)
})

test('operations are recorded and replayed, and answers to misses are not generated', async () => {
  const live = await liveWith(saying([{ id: 'live' }]))
  const { dir } = tape(live.url)
  const options = { upstream: { baseUrl: live.url, apiKey: 'sk-live' }, recordings: { dir } }
  const recorder = await platformFor(undefined, { mode: 'record', ...options })
  expect(await (await recorder.ask(projects)).json()).toEqual([{ id: 'live' }])
  expect((await recorder.ask(`${projects}?limit=x`)).status).toBe(200)
  await recorder.stop()
  const player = await platformFor(undefined, { mode: 'replay', ...options })
  expect(await (await player.ask(projects)).json()).toEqual([{ id: 'live' }])
  expect((await player.ask(`${projects}/mine`)).status).toBe(424)
  expect((await player.ask(projects, { bearer: null })).status).toBe(401)
})
