import { expect, test } from 'vitest'
import { version } from '../../src/version.js'
import { eventsOf, hello, platformWith } from '../scene.js'

/** A platform, and its metrics by their full names. */
async function measured(options: Parameters<typeof platformWith>[0] = {}) {
  const platform = await platformWith(options)
  const read = () => fetch(`${platform.url}/__standin/metrics`)
  const metrics = async () => {
    const text = await (await read()).text()
    const lines = text.split('\n').filter(line => line !== '' && !line.startsWith('#'))
    return Object.fromEntries(lines.map(line => [line.replace(/ \S+$/, ''), Number(line.split(' ').at(-1))]))
  }
  return { ...platform, read, metrics }
}

const chatPlace = 'method="POST",path="/v1/chat/completions",mode="emulate"'

test('Prometheus can read the number of requests by endpoint, mode and status', async () => {
  const { ask, chat, read, metrics } = await measured({ limits: { requestsPerMinute: 1000 } })
  for (let i = 0; i < 3; i++) await (await chat(hello)).json()
  await (await chat({ ...hello, model: 'gone' })).json()
  await (await ask('/v1/models', { bearer: 'sk-wrong' })).json()
  const response = await read()
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  expect(await metrics()).toMatchObject({
    [`standin_requests_total{${chatPlace},status="200"}`]: 3,
    [`standin_requests_total{${chatPlace},status="400"}`]: 1,
    'standin_requests_total{method="GET",path="/v1/models",mode="none",status="401"}': 1,
    [`standin_tokens_total{${chatPlace},kind="prompt"}`]: expect.any(Number),
    [`standin_info{version="${version}",mode="emulate"}`]: 1,
    process_resident_memory_bytes: expect.any(Number),
  })
})

test('times are a histogram: each bucket includes the ones before it, and the last includes all', async () => {
  const { chat, metrics } = await measured({
    rules: [{ reply: { text: 'one two three' }, pace: { firstTokenMs: 60 } }],
  })
  expect(eventsOf(await (await chat({ ...hello, stream: true })).text()).done).toBe(true)
  await (await chat(hello)).json()
  const found = await metrics()
  const bucket = (le: string) => found[`standin_request_duration_seconds_bucket{le="${le}",${chatPlace}}`]
  expect([bucket('0.05'), bucket('60'), bucket('+Inf')]).toEqual([1, 2, 2])
  expect(found[`standin_request_duration_seconds_count{${chatPlace}}`]).toBe(2)
  expect(found[`standin_request_duration_seconds_sum{${chatPlace}}`]).toBeGreaterThan(0.06)
  // The head of the stream is sent immediately.
  expect(found[`standin_first_byte_seconds_count{${chatPlace}}`]).toBe(2)
})

test('an answer that was cut is counted as broken', async () => {
  const { chat, failNext, metrics } = await measured()
  await failNext({ cut: 1 })
  const response = await chat({ ...hello, stream: true })
  await expect(response.text()).rejects.toThrow()
  expect(await metrics()).toMatchObject({ [`standin_answers_broken_total{${chatPlace}}`]: 1 })
})
