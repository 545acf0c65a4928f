import { expect, test } from 'vitest'
import { inWorker, TimeLimitError } from '../../src/core/work.js'
import { startReady } from '../command.js'

/** Each schema refers to the next one twice: 2^40 paths. */
const defs = Array.from({ length: 40 }, (_, i) => {
  const next = { $ref: `#/$defs/s${i + 1}` }
  return [`s${i}`, { anyOf: [next, next] }]
})
const endless = { $defs: { ...Object.fromEntries(defs), s40: { type: 'string' } }, $ref: '#/$defs/s0' }
const sample = (schema: unknown, mostMs = 20_000) => inWorker('sample', { schema, seeds: [1] }, mostMs)

test('a job that takes too long is ended, and the next ones still run', async () => {
  const jobs = [sample(endless, 10), sample({ const: 1 }), sample({ const: 2 })]
  expect(await Promise.allSettled(jobs)).toEqual([
    { status: 'rejected', reason: expect.any(TimeLimitError) },
    { status: 'fulfilled', value: { values: [1] } },
    { status: 'fulfilled', value: { values: [2] } },
  ])
})

test('the built command uses workers too, and they do not keep it from ending', async () => {
  const { chat, send, ended } = await startReady()
  const response = await chat({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'hello' }],
    response_format: { type: 'json_schema', json_schema: { name: 'endless', schema: endless } },
  })
  expect(response.status).toBe(400)
  expect(await response.json()).toMatchObject({ error: expect.stringMatching(/was found in time/) })
  send('SIGTERM')
  expect(await ended).toMatchObject({ code: 0 })
})
