import { expect, test } from 'vitest'
import { liveWith, saying, tape } from '../recordings/live.js'

test('an answer is judged when it is recorded, and again whenever it is replayed', async () => {
  const live = await liveWith(saying({ status: 'up' }))
  const { recording, replaying } = tape(live.url)
  const recorder = await recording()
  await (await recorder.ask('/health')).text()
  await expect.poll(() => recorder.violations()).toHaveLength(1)
  await expect.poll(async () => (await recorder.receipt())?.recorded).toBe(1)
  expect((await recorder.receipt())?.violations).toEqual({ documented: 2, decided: 0, unjudged: 0 })
  await recorder.stop()

  const player = await replaying()
  const response = await player.ask('/health')
  expect(await response.json()).toEqual({ status: 'up' })
  await expect.poll(() => player.violations()).toMatchObject([{ endpoint: 'GET /health', mode: 'replay' }])
  const again = await player.ask('/health')
  expect(again.headers.get('x-standin-violations')).toBe('2')
})
