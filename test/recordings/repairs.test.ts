/** Repairs of misses: each works from the next request on, until a reset. */
import { expect, test } from 'vitest'
import { hello } from '../scene.js'
import { liveWith, saying, tape } from './live.js'

/** A platform that replays one recording of a request with this temperature, and the live platform behind it. */
async function replaying({ isLiveThere = true } = {}) {
  let count = 0
  const live = await liveWith((request, response) => saying({ count: ++count })(request, response))
  const scene = tape(live.url)
  const recording = await scene.recording()
  await (await recording.chat({ ...hello, temperature: 0.2 })).text()
  await recording.stop()
  const platform = await scene.replaying(isLiveThere ? {} : { upstream: { baseUrl: '' } })
  const repair = (body: object) =>
    platform.ask('/__standin/repairs', {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'content-type': 'application/json' },
    })
  const chat = (body: object) => platform.chat({ ...hello, ...body })
  return { ...scene, platform, repair, chat, live: () => count }
}

test('a miss that is recorded now is answered by the live platform once, and from then on by its recording', async () => {
  const { chat, repair, live, files } = await replaying()
  expect((await chat({ temperature: 0.7 })).status).toBe(424)
  const repaired = await repair({ exchange: '1', by: 'record' })
  expect(await repaired.json()).toEqual({ ids: [], exchange: '2' })
  expect(await (await chat({ temperature: 0.7 })).json()).toMatchObject({ count: 2 })
  expect(live()).toBe(2)
  expect(files()).toHaveLength(2)
})

test('without a live platform, recording says what to configure', async () => {
  const { chat, repair } = await replaying({ isLiveThere: false })
  await chat({ temperature: 0.7 })
  const refused = await repair({ exchange: '1', by: 'record' })
  expect([refused.status, await refused.json()]).toEqual([409, { error: expect.stringContaining('upstream.baseUrl') }])
})

test('the nearest recording answers this request from now on, and no other, until a reset', async () => {
  const { chat, repair, platform } = await replaying()
  await chat({ temperature: 0.7 })
  expect((await repair({ exchange: '1', by: 'nearest' })).status).toBe(201)
  expect(await (await chat({ temperature: 0.7 })).json()).toMatchObject({ count: 1 })
  expect((await chat({ temperature: 0.8 })).status).toBe(424)
  await platform.reset()
  expect((await chat({ temperature: 0.7 })).status).toBe(424)
})

test('a part that is ignored no longer matters for any request, until the repair is removed', async () => {
  const { chat, repair, platform } = await replaying()
  await chat({ temperature: 0.7 })
  expect(await (await repair({ exchange: '1', by: 'ignore', ignore: ['temperature'] })).json()).toMatchObject({
    ids: ['repair-1'],
  })
  expect((await chat({ temperature: 0.9 })).status).toBe(200)
  const listed = (await (await platform.ask('/__standin/repairs')).json()) as object
  expect(listed).toEqual({ data: [{ id: 'repair-1', says: 'ignores temperature' }] })
  await platform.ask('/__standin/repairs/repair-1', { method: 'DELETE' })
  expect((await chat({ temperature: 0.9 })).status).toBe(424)
})

test('a rule that is added while recordings are replayed is tried before them', async () => {
  const { chat, platform } = await replaying()
  await platform.reply({ when: { user: 'hello' }, reply: { text: 'From the rule.' } })
  expect(await (await chat({ temperature: 0.2 })).text()).toContain('From the rule.')
  await platform.reset()
  expect(await (await chat({ temperature: 0.2 })).json()).toMatchObject({ count: 1 })
})
