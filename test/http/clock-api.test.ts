import { expect, test } from 'vitest'
import { platformWith, type Scene } from '../scene.js'
import { isUnknown, mustBe } from '../sentences.js'

const setClock = async ({ ask }: Scene, body: unknown) => {
  const response = await ask('/__standin/clock', {
    method: 'PUT',
    bearer: null,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, body: await response.json() }
}

const getClock = async ({ ask }: Scene) => (await ask('/__standin/clock', { bearer: null })).json()

test.each([
  ['a time', '2031-02-03T04:05:06Z'],
  ['milliseconds', Date.UTC(2031, 1, 3, 4, 5, 6)],
])('the clock freezes at exactly the given time: %s', async (_what, now) => {
  const platform = await platformWith()
  const { status, body } = await setClock(platform, { now, frozen: true })
  expect({ status, body }).toEqual({
    status: 200,
    body: { now: '2031-02-03T04:05:06.000Z', frozen: true, offsetMs: expect.any(Number) },
  })
  expect(await getClock(platform)).toMatchObject({ now: '2031-02-03T04:05:06.000Z', frozen: true })
})

const aMoment = 'a time from 1970 to 9000, such as 2030-01-31T12:00:00Z, or milliseconds since 1970'

test.each([
  [{ now: 'tomorrow' }, mustBe('now', aMoment, 'tomorrow')],
  [{ now: -1 }, mustBe('now', aMoment, -1)],
  [{ advanceMs: '1h' }, mustBe('advanceMs', 'a whole number of milliseconds', '1h')],
  [{ advanceMs: -9e15 }, 'advanceMs must lead to a time from 1970 to 9000; -9000000000000000 does not.'],
  [{ advancems: 1 }, `advancems ${isUnknown('advanceMs')}`],
])('%j is refused with an error that names the field', async (body, error) => {
  const platform = await platformWith()
  expect(await setClock(platform, body)).toEqual({ status: 400, body: { error } })
})

test('a refused call changes nothing, even if some of its fields are valid', async () => {
  const platform = await platformWith()
  await setClock(platform, { now: '2031-02-03', frozen: true })
  await setClock(platform, { now: '1970-01-01', advanceMs: -1, frozen: false })
  expect(await getClock(platform)).toMatchObject({ now: '2031-02-03T00:00:00.000Z', frozen: true })
})
