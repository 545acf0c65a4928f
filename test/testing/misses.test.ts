import { expect, test, vi } from 'vitest'
import { liveWith, saying, tape } from '../recordings/live.js'
import { hello, platformWith } from '../scene.js'
import { NEAREST } from '../sentences.js'

const asking = (content: string) => ({ ...hello, messages: [{ role: 'user', content }] })

async function taped() {
  const live = await liveWith(saying({ id: 'live' }))
  const scene = tape(live.url)
  const { chat, stop } = await scene.recording()
  await (await chat(asking('capital of France'))).text()
  await stop()
  return scene
}

test('a miss shows the nearest recording beside the request, in its scope, until a reset', async () => {
  const { replaying, files } = await taped()
  const platform = await replaying()
  const [one, other] = [platform.scope('one'), platform.scope('other')]
  await platform.chat(asking('capital of France'))
  platform.expectNoMisses()
  await platform.chat(asking('capital of Spain'), { headers: one.headers })
  await platform.ask('/v1/models', { headers: one.headers })
  const said = [
    '2 requests had no prepared answer.',
    '',
    `No recording matches POST /v1/chat/completions. ${NEAREST} ${files()[0]}:`,
    `  field                ${'recorded'.padEnd(50)}  asked`,
    `  messages[0].content  ${'"capital of France"'.padEnd(50)}  "capital of Spain"`,
    '',
    'No recording matches GET /v1/models. Nothing is recorded for it.',
  ].join('\n')
  expect(() => one.expectNoMisses()).toThrow(said)
  expect(() => platform.expectNoMisses()).toThrow(said)
  other.expectNoMisses()
  expect([one.misses().length, other.misses().length]).toEqual([2, 0])
  await one.reset()
  platform.expectNoMisses()
  expect(platform.misses()).toEqual([])
})

test('a request that was open during a reset is not a miss afterwards', async () => {
  const { replaying } = await taped()
  for (const platform of [await replaying(), await platformWith({ strict: true })]) {
    let finish = () => {}
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(JSON.stringify(asking('capital of Spain')).slice(0, -1)))
        finish = () => {
          controller.enqueue(new TextEncoder().encode('}'))
          controller.close()
        }
      },
    })
    const asked = platform.ask('/v1/chat/completions', { method: 'POST', body, ...{ duplex: 'half' } })
    await vi.waitFor(() => expect(platform.journal.underWay).toBe(1), { timeout: 20_000 })
    await platform.reset()
    finish()
    expect((await asked).ok).toBe(false)
    await platform.idle()
    platform.expectNoMisses()
    expect(platform.misses()).toEqual([])
    expect(platform.journal.count()).toBe(0)
  }
})

test('expectNoMisses ignores misses that were emulated', async () => {
  const { replaying } = await taped()
  const platform = await replaying({ recordings: { onMiss: 'emulate' } })
  expect((await platform.chat(asking('capital of Spain'))).status).toBe(200)
  platform.expectNoMisses()
  expect(platform.misses()).toHaveLength(1)
})
