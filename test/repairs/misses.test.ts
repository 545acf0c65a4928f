/** Repairs of misses: each works from the next request on, until a reset. */
import { expect, test } from 'vitest'
import type { PlatformOptions } from '../../src/index.js'
import { liveWith, saying, tape } from '../recordings/live.js'
import { hello } from '../scene.js'

const wish = (body: object) => ({
  method: 'POST',
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
})

/** A platform that replays one recording of a request with this temperature, and the live platform behind it. */
async function replaying(more: PlatformOptions = {}) {
  let count = 0
  const live = await liveWith((request, response) => saying({ count: ++count })(request, response))
  const scene = tape(live.url)
  const recording = await scene.recording()
  await (await recording.chat({ ...hello, temperature: 0.2 })).text()
  await recording.stop()
  const platform = await scene.replaying(more)
  const read = async <T>(answer: Promise<Response>) => (await (await answer).json()) as T
  return {
    ...scene,
    platform,
    chat: (body: object) => platform.chat({ ...hello, ...body }),
    offers: async (id: string) =>
      (await read<{ data: { id: string; applies: string }[] }>(platform.ask(`/__standin/journal/${id}/repairs`))).data,
    repair: (id: string, kind: string) =>
      read<object>(platform.ask(`/__standin/journal/${id}/repairs`, wish({ id: kind }))),
    undo: (repaired: object) =>
      platform.ask(`/__standin/situation/${(repaired as { undo: string }).undo}`, { method: 'DELETE' }),
    live: () => count,
  }
}

test('a miss that is recorded now is answered by the live platform once, and from then on by its recording', async () => {
  const { chat, repair, live, files } = await replaying()
  expect((await chat({ temperature: 0.7 })).status).toBe(424)
  expect(await repair('1', 'record')).toMatchObject({
    did: expect.stringContaining('Recorded. From now on'),
    exchange: '2',
  })
  expect(await (await chat({ temperature: 0.7 })).json()).toMatchObject({ count: 2 })
  expect(live()).toBe(2)
  expect(files()).toHaveLength(2)
})

test('recording says what really came back: what to configure, what failed, what was refused', async () => {
  const without = await replaying({ upstream: { baseUrl: '' } })
  await without.chat({ temperature: 0.7 })
  expect(await without.repair('1', 'record')).toMatchObject({ failed: expect.stringContaining('upstream.baseUrl') })
  const unreachable = await replaying({ upstream: { baseUrl: 'http://127.0.0.1:9', apiKey: 'a-live-key-of-somebody' } })
  await unreachable.chat({ temperature: 0.7 })
  expect(await unreachable.repair('1', 'record')).toMatchObject({
    failed: expect.stringContaining('Nothing was recorded'),
  })
  expect((await unreachable.chat({ temperature: 0.7 })).status).toBe(424)
})

test('the nearest recording answers this request from now on, and no other, until it is taken back', async () => {
  const { chat, repair, undo } = await replaying()
  await chat({ temperature: 0.7 })
  const repaired = await repair('1', 'nearest')
  expect(await (await chat({ temperature: 0.7 })).json()).toMatchObject({ count: 1 })
  expect((await chat({ temperature: 0.8 })).status).toBe(424)
  await undo(repaired)
  expect((await chat({ temperature: 0.7 })).status).toBe(424)
})

test('a part can be ignored, and it says which requests that confuses; what was said never can', async () => {
  const { chat, repair, undo, platform, offers } = await replaying()
  await chat({ temperature: 0.7 })
  await chat({ temperature: 0.8 })
  await chat({ messages: [{ role: 'user', content: 'Delete everything' }], temperature: 0.2 })
  expect(await offers('2')).toContainEqual(
    expect.objectContaining({ id: 'ignore', applies: expect.stringMatching(/^2 different ones of the last 3 /) }),
  )
  expect((await offers('3')).map(({ id }) => id)).toEqual(['record', 'nearest', 'answer'])
  expect((await platform.ask('/__standin/journal/3/repairs', wish({ id: 'ignore' }))).status).toBe(409)
  const repaired = await repair('2', 'ignore')
  expect(repaired).toMatchObject({ yaml: 'recordings:\n  ignore:\n    - temperature\n' })
  expect((await chat({ temperature: 0.9 })).status).toBe(200)
  const { data } = (await (await platform.ask('/__standin/situation')).json()) as { data: object[] }
  expect(data).toContainEqual(expect.objectContaining({ what: 'repair', says: 'temperature is ignored' }))
  await undo(repaired)
  expect((await chat({ temperature: 0.9 })).status).toBe(424)
})

test('a rule that is added while recordings are replayed is tried before them', async () => {
  const { chat, platform } = await replaying()
  await platform.reply({ when: { user: 'hello' }, reply: { text: 'From the rule.' } })
  expect(await (await chat({ temperature: 0.2 })).text()).toContain('From the rule.')
  await platform.reset()
  expect(await (await chat({ temperature: 0.2 })).json()).toMatchObject({ count: 1 })
})
