import { expect, test } from 'vitest'
import { hello, platformWith, type Scene } from '../scene.js'
import { didYouMean, isUnknown, mustBe, range } from '../sentences.js'
import { control } from './controlled.js'

const rules = [{ reply: { text: 'one two three four' } }]

/** A pace too slow for any test: a stream that ends did not follow it. */
const forever = { firstTokenMs: 600_000 }

/** Reads a stream to its end; returns how long it took to begin. */
async function firstMsOf({ chat }: Scene, body: object = {}): Promise<number> {
  const beganMs = performance.now()
  const response = await chat({ ...hello, stream: true, ...body })
  const reader = response.body?.getReader()
  await reader?.read()
  const firstMs = performance.now() - beganMs
  while (!(await reader?.read())?.done);
  return firstMs
}

test('a pace set at run time applies from the next stream until it is deleted', async () => {
  const platform = await platformWith({ rules })
  const { body } = await control(platform, 'PUT /pace', { firstTokenMs: 300 })
  expect(body).toMatchObject({ inForce: { firstTokenMs: 300 }, configured: { firstTokenMs: 0 }, isChanged: true })
  expect(await firstMsOf(platform)).toBeGreaterThan(290)
  await control(platform, 'PUT /pace', forever)
  expect((await control(platform, 'DELETE /pace')).body).toMatchObject({
    inForce: { firstTokenMs: 0 },
    isChanged: false,
  })
  await firstMsOf(platform)
})

test('a model can be given a pace of its own, or lose it', async () => {
  const platform = await platformWith({
    rules,
    models: [{ id: 'gpt-4o-mini' }, { id: 'other', pace: { firstTokenMs: 300 } }],
  })
  expect(await firstMsOf(platform, { model: 'other' })).toBeGreaterThan(290)
  await control(platform, 'PUT /pace', { models: { other: forever } })
  await control(platform, 'PUT /pace', { models: { other: {}, 'gpt-4o-mini': { firstTokenMs: 300 } } })
  await firstMsOf(platform, { model: 'other' })
  expect(await firstMsOf(platform)).toBeGreaterThan(290)
  const { inForce } = (await control(platform, 'GET /pace')).body
  expect((await control(platform, 'PUT /pace', inForce)).body.inForce).toEqual(inForce)
  // Models are listed as before: their pace is not shown.
  const { data } = (await (await platform.ask('/v1/models')).json()) as { data: readonly object[] }
  expect(data.map(model => 'pace' in model)).toEqual([false, false])
})

test('a stream that has begun keeps its pace', async () => {
  const platform = await platformWith({ rules, pace: { firstTokenMs: 200 } })
  const begun = firstMsOf(platform)
  await control(platform, 'PUT /pace', forever)
  await begun
})

test.each([
  [{ firstTokenMs: -1 }, mustBe('firstTokenMs', range('milliseconds', 0, 600000), -1)],
  [{ tokenPerSecond: 3 }, `tokenPerSecond ${isUnknown('tokensPerSecond')}`],
  [{ models: { 'gpt-4': {} } }, `models["gpt-4"] is no model here.${didYouMean('gpt-4o')}`],
])('%j is refused, and nothing changes', async (wrong, error) => {
  const platform = await platformWith()
  expect(await control(platform, 'PUT /pace', wrong)).toEqual({ status: 400, body: { error } })
  expect((await control(platform, 'GET /pace')).body.isChanged).toBe(false)
})
